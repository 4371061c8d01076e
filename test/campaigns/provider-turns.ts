// Turns that go wrong, drawn at random from a table: a number of answers of the model, one of them with a fault, and
// what must be true of the turn whatever Crab makes of it.

import type { Fault, Reply, ScriptedCall } from '../../src/dev/scenario.ts';
import { GARBLES } from '../../src/dev/scenario.ts';
import { ENDPOINTS, type EndpointName } from './provider-endpoints.ts';

export interface DrawnTurn {
  /** What is drawn, for people. */
  readonly what: string;
  /** In this order; behind the last the model says that it is done. */
  readonly replies: readonly Reply[];
  /** Where the requests of this turn go. */
  readonly endpoint: EndpointName;
  /** Milliseconds after which the person cancels. */
  readonly cancelMs?: number;
  /** How it must end; undefined for whatever is honest. */
  readonly outcome?: 'done' | 'failed';
  /** A status that is final: it must not be tried again. */
  readonly lasting?: number;
  /** Words of calls that never arrive whole, so that they must never run. */
  readonly forbidden: readonly string[];
  /** The fault itself says the text more than once. */
  readonly repeatsText: boolean;
}

interface Row {
  readonly weight: number;
  draw(d: Draw): Partial<DrawnTurn> & { readonly what: string; readonly reply: Reply };
}

export interface Draw {
  /** A whole number below. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

export function drawing(random: () => number): Draw {
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    below,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
    chance: (share) => random() < share,
  };
}

/** `mark` is a word that is in no other turn. */
export function drawTurn(d: Draw, mark: string): DrawnTurn {
  const total = ROWS.reduce((sum, { weight }) => sum + weight, 0);
  let left = d.below(total);
  const row = ROWS.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  if (row === undefined) throw new Error('the table of faults is empty');
  const { reply, ...drawn } = row.draw(d);
  const before = Array.from({ length: d.below(3) }, (): Reply => ({ text: TEXT, calls: calls(d) }));
  const forbids = drawn.forbidden !== undefined;
  const replies = [...before, reply].map((one, step) => marked(one, `${mark}s${step}`));
  const cancels = drawn.cancelMs === undefined && d.chance(0.12) ? { cancelMs: d.below(40) } : {};
  const last = replies.at(-1);
  return {
    endpoint: 'plain',
    repeatsText: false,
    ...drawn,
    ...cancels,
    replies,
    forbidden: forbids ? (last?.calls ?? []).map(({ input }) => String(input['word'])) : [],
  };
}

const TEXT = 'MARK Ich schaue nach: 🦀 größer als sonst.';

/** Each text and each call says where it belongs. */
function marked(reply: Reply, mark: string): Reply {
  const { text, calls: asked } = reply;
  return {
    ...reply,
    ...(typeof text === 'string' && { text: text.replace('MARK', `<${mark}>`) }),
    ...(asked !== undefined && {
      calls: asked.map((call, index) => ({
        ...call,
        input: { word: `${mark}c${index}`, ...call.input },
        id: call.id ?? `call_${mark}_${index}`,
      })),
    }),
  };
}

function calls(d: Draw): readonly ScriptedCall[] {
  const input = { why: 'to see what is there, and to have some text that can be cut' };
  return Array.from({ length: 1 + d.below(3) }, () => ({ name: d.pick(['note', 'look']), input }));
}

function said(d: Draw, fault: Fault, more: Partial<Reply> = {}): Reply {
  return { text: TEXT, ...(d.chance(0.6) && { calls: calls(d) }), chunk: 7, ...more, fault };
}

const RETRY_AFTER = ['0', '1', '0.5', 'soon', '-5', '', '{{date+1}}', 'Mon, 99 Foo'];
const PASSING = [429, 500, 502, 503, 529, 408];
const LASTING = [400, 401, 403, 404, 422];

const ROWS: readonly Row[] = [
  {
    weight: 14,
    draw(d) {
      const status = d.pick(PASSING);
      const headers = d.chance(0.6) ? { 'retry-after': d.pick(RETRY_AFTER) } : undefined;
      const body = d.chance(0.2) ? d.pick(['', '<html>Bad Gateway</html>', '{', '[]', 'null']) : undefined;
      const times = 1 + d.below(3);
      const fault = { status, ...(headers && { headers }), ...(body !== undefined && { body }) };
      return { what: `${status} ${times} times`, reply: said(d, fault, { times }), outcome: 'done' };
    },
  },
  {
    weight: 4,
    draw(d) {
      const status = d.pick(PASSING);
      return { what: `${status} for good`, reply: said(d, { status }), outcome: 'failed' };
    },
  },
  {
    weight: 3,
    draw(d) {
      const headers = { 'retry-after': '3600' };
      const reply = said(d, { status: 429, headers });
      return { what: '429, come back in an hour', reply, cancelMs: 20 + d.below(40) };
    },
  },
  {
    weight: 5,
    draw(d) {
      const status = d.pick(LASTING);
      return { what: `${status}`, reply: said(d, { status }), outcome: 'failed', lasting: status };
    },
  },
  {
    weight: 2,
    draw: (d) => ({ what: '413', reply: said(d, { status: 413 }), outcome: 'failed' }),
  },
  {
    weight: 2,
    draw: (d) => ({ what: 'overflow', reply: said(d, { overflow: true }), outcome: 'failed' }),
  },
  {
    weight: 3,
    draw(d) {
      const html = d.pick([true, 502, 404] as const);
      return { what: `a page with ${html}`, reply: said(d, { html }), outcome: 'failed' };
    },
  },
  {
    weight: 4,
    draw(d) {
      const times = 1 + d.below(3);
      return { what: `reset ${times} times`, reply: said(d, { reset: true }, { times }), outcome: 'done' };
    },
  },
  {
    weight: 8,
    draw(d) {
      const at = d.below(1200);
      return { what: `cut after ${at}`, reply: said(d, { cutAfter: at }, d.chance(0.5) ? { times: 1 } : {}) };
    },
  },
  {
    weight: 4,
    draw(d) {
      const at = d.below(1200);
      return { what: `reset after ${at}`, reply: said(d, { resetAfter: at }, { times: 1 }) };
    },
  },
  {
    weight: 6,
    draw(d) {
      const cutAfter = d.pick(['event', 'character', 'end'] as const);
      return { what: `cut: ${cutAfter}`, reply: said(d, { cutAfter }, { times: 1 }) };
    },
  },
  {
    weight: 6,
    draw(d) {
      const fault: Fault = d.chance(0.6) ? { cutAfter: 'call' } : { badJson: true };
      const broken = [{ name: 'note', input: { why: 'because '.repeat(10) } }];
      return {
        what: `incomplete call: ${Object.keys(fault)}`,
        reply: { text: TEXT, calls: broken, fault },
        forbidden: [],
      };
    },
  },
  {
    weight: 3,
    draw: (d) => ({ what: 'no stop', reply: said(d, { noStop: true }) }),
  },
  {
    weight: 4,
    draw(d) {
      const type = d.pick(['overloaded_error', 'api_error', 'rate_limit_error', 'UNAVAILABLE', '']);
      return { what: `error event ${type}`, reply: said(d, { errorEvent: { type, message: 'too busy' } }) };
    },
  },
  {
    weight: 3,
    draw(d) {
      const at = d.pick([0, 0, 1, d.below(800)]);
      return {
        what: `stall after ${at}`,
        reply: said(d, { stallAfter: at }, d.chance(0.9) ? { times: 1 } : {}),
      };
    },
  },
  {
    weight: 2,
    draw(d) {
      const fault = { pingEveryMs: 10 };
      if (d.chance(0.5)) return { what: 'pings only', reply: said(d, fault), cancelMs: 30 + d.below(60) };
      return { what: 'pings only, once', reply: said(d, fault, { times: 1 }), outcome: 'done' };
    },
  },
  {
    weight: 5,
    draw(d) {
      const drip = 8 + d.below(60);
      return { what: `drip of ${drip}`, reply: { text: TEXT, calls: calls(d), drip }, outcome: 'done' };
    },
  },
  {
    weight: 10,
    draw(d) {
      const garble = d.pick(GARBLES);
      return { what: garble, reply: said(d, { garble }), repeatsText: garble === 'duplicates' };
    },
  },
  {
    weight: 3,
    draw: () => ({ what: 'an empty message', reply: { text: '' } }),
  },
  {
    weight: 3,
    draw(d) {
      const input = { why: 'twice' };
      const twice = [
        { name: 'note', input, id: 'call_twice' },
        { name: d.pick(['note', 'look']), input, id: 'call_twice' },
      ];
      return { what: 'a call id twice', reply: { text: TEXT, calls: twice }, outcome: 'done' };
    },
  },
  {
    weight: 4,
    draw(d) {
      const name = d.pick([
        'constructor',
        '__proto__',
        'toString',
        'nobody',
        'no tte',
        'x'.repeat(300),
        '',
        'Nøte',
      ]);
      const calls = [
        { name, input: {} },
        { name: 'note', input: {} },
      ];
      return { what: `a tool named ${name.slice(0, 20)}`, reply: { text: TEXT, calls }, outcome: 'done' };
    },
  },
  {
    weight: 6,
    draw(d) {
      const raw = d.pick(RAW);
      return {
        what: `arguments ${raw.slice(0, 20)}`,
        reply: { text: TEXT, calls: [{ name: 'note', input: {}, raw }] },
        forbidden: [],
      };
    },
  },
  {
    weight: 2,
    draw(d) {
      const depth = d.pick([65, 10_000]);
      return {
        what: `arguments ${depth} deep`,
        reply: { text: TEXT, calls: [{ name: 'note', input: {}, depth }] },
      };
    },
  },
  {
    weight: 1,
    draw(d) {
      const padding = d.chance(0.1) ? 10_000_000 : 100_000;
      return {
        what: `arguments of ${padding} bytes`,
        reply: { text: TEXT, calls: [{ name: 'note', input: {}, padding }] },
      };
    },
  },
  {
    weight: 2,
    draw: (d) => ({ what: 'a refusal', reply: said(d, { refuse: true }), outcome: 'failed' }),
  },
  {
    weight: 1,
    draw: (d) => ({ what: 'a gzip bomb', reply: said(d, { gzipBomb: 64 * 1024 * 1024 }), outcome: 'failed' }),
  },
  {
    weight: 1,
    draw: (d) => ({
      what: 'an endless body',
      reply: said(d, { flood: 64 * 1024 * 1024 }),
      outcome: 'failed',
    }),
  },
  {
    weight: 2,
    draw: (d) => ({
      what: 'a header of 1 MB',
      reply: said(d, { hugeHeader: 1024 * 1024 }),
      outcome: 'failed',
    }),
  },
  {
    weight: 5,
    draw(d) {
      const endpoint = d.pick(ENDPOINTS.filter((name) => name !== 'plain'));
      return { what: endpoint, endpoint, reply: { text: TEXT }, outcome: 'failed' };
    },
  },
  {
    weight: 5,
    draw: (d) => ({ what: 'nothing wrong', reply: { text: TEXT, calls: calls(d) }, outcome: 'done' }),
  },
];

/** Sent in place of an object with a word in it. */
const RAW = [
  '[]',
  '"text"',
  'null',
  '42',
  'true',
  '{"word":{"no":"text"}}',
  '{"word":null}',
  '{}',
  '{"word":"unclosed',
  '{word:1}',
  '{"word":"a"}{"word":"b"}',
  'NaN',
  '{"__proto__":{"word":"x"}}',
];
