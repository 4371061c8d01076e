// One conversation of the campaign: every turn that goes wrong is followed by a plain one, which must go well. What is
// not as promised comes back as sentences.

import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Address } from '../../src/core/conversation.ts';
import type { Event, RunEnd } from '../../src/core/event.ts';
import { messageText } from '../../src/core/message.ts';
import type { Platform } from '../../src/core/platform.ts';
import { SANDBOX_OFF } from '../../src/core/sandbox.ts';
import { type RequestRecord, startFakeProvider } from '../../src/dev/fake-provider.ts';
import type { Step } from '../../src/dev/history-check.ts';
import type { Reply } from '../../src/dev/scenario.ts';
import { createPlatform } from '../../src/runtime/platform.ts';
import type { BadEndpoints, EndpointName } from './provider-endpoints.ts';
import { type CampaignHost, campaignHost, type Plant, promptsOn } from './provider-host.ts';
import { type Draw, type DrawnTurn, drawTurn } from './provider-turns.ts';
import type { CampaignWire } from './provider-wires.ts';

export interface ConversationOptions {
  readonly wire: CampaignWire;
  readonly endpoints: BadEndpoints;
  readonly home: string;
  readonly draw: Draw;
  readonly random: () => number;
  /** The number of the first turn, and how many there are. */
  readonly first: number;
  readonly turns: number;
  readonly plant: Plant;
  /** Milliseconds that a turn may take. */
  readonly turnLimitMs: number;
}

export interface Problem {
  readonly turn: number;
  readonly wire: string;
  /** The fault that was drawn. */
  readonly what: string;
  readonly says: string;
}

export interface TurnRecord {
  readonly what: string;
  readonly outcome: RunEnd['outcome'] | 'hung';
  readonly ms: number;
  /** From the cancellation to the end. */
  readonly cancelMs?: number;
}

export interface ConversationRecord {
  readonly problems: readonly Problem[];
  readonly turns: readonly TurnRecord[];
  readonly requests: number;
  readonly toolRuns: number;
  /** Whether the tape was a file. */
  readonly kept: boolean;
}

/** Five times what is promised, for a machine that does other things as well. */
const CANCEL_LIMIT_MS = 1000;

/** Five tries, and one more where a kept connection turned out to be closed. */
const MAX_REQUESTS = 6;

const DECLARATION = {
  agent: { name: 'crab' },
  mode: 'bypassPermissions',
  rules: [],
  directories: [],
  withoutTools: [],
  limits: { turns: 12 },
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: false,
  sandbox: SANDBOX_OFF,
} as const;

const OPENING = { agent: 'crab', declaration: DECLARATION, commands: [] } as const;

export async function runConversation(options: ConversationOptions): Promise<ConversationRecord> {
  const script = scripting();
  const provider = await startFakeProvider({
    scenario: { replies: [] },
    keepBodies: false,
    choose: script.choose,
  });
  let endpoint: EndpointName = 'plain';
  const { wire, endpoints, home, random, plant } = options;
  const urls = { ...endpoints, plain: provider.url };
  const host = campaignHost({ wire, urls, endpoint: () => endpoint, home, random, plant });
  const platform = createPlatform(host);
  const records: TurnRecord[] = [];
  const problems: Problem[] = [];
  const accepted: string[] = [];
  const report = (turn: number, what: string, says: readonly string[]) =>
    void problems.push(...says.map((one) => ({ turn, wire: wire.wire, what, says: one })));

  /** False when there is no use in going on. */
  const play = async (address: Address, drawn: DrawnTurn, turn: DrawnTurn, number: number) => {
    const mark = turn === PROBE ? `t${number}p` : `t${number}`;
    const prompt = `Turn ${mark}: ${turn === PROBE ? 'and then?' : 'go on.'}`;
    script.play(
      mark,
      turn === PROBE
        ? [{ text: `<${mark}> Fine.`, usage: { input: number, output: 7, cacheRead: 3 } }]
        : turn.replies,
    );
    endpoint = turn.endpoint;
    const { requests, violations } = provider;
    const before = {
      messages: host.messages().length,
      requests: requests.length,
      refused: violations.length,
    };
    const when = { cancelMs: turn.cancelMs, limitMs: options.turnLimitMs };
    const ran = await runTurn(platform, address, prompt, when);
    records.push({ what: turn.what, ...ran.record });
    if (ran.events.some(({ type }) => type === 'promptAccepted')) accepted.push(prompt);
    const asked = script.asked(mark);
    const wrong = wrongIn({ turn, ran, host, prompt, before: before.messages, asked });
    report(number, turn === PROBE ? `behind ${drawn.what}` : drawn.what, wrong);
    const refused = violations.slice(before.refused);
    report(
      number,
      drawn.what,
      refused.map(({ at, message }) => `a history was refused at ${at}: ${message}`),
    );
    if (turn === PROBE) report(number, drawn.what, wrongBill(ran, requests.slice(before.requests)));
    return ran.record.outcome !== 'hung';
  };

  try {
    const kind = options.draw.chance(0.5) ? 'memory' : 'new';
    const { address } = await platform.open({ ...OPENING, cwd: home, session: { kind } });
    for (let number = options.first; number < options.first + options.turns; number++) {
      const drawn = drawTurn(options.draw, `t${number}`);
      const goes = (await play(address, drawn, drawn, number)) && (await play(address, drawn, PROBE, number));
      if (!goes) break;
    }
    const lost = await lostPrompts(host, accepted, platform);
    report(
      options.first + options.turns - 1,
      'at the end',
      lost.map((prompt) => `${prompt} is not in the file`),
    );
    const requests = provider.requests.length;
    return { problems, turns: records, requests, toolRuns: host.ran.length, kept: kind === 'new' };
  } finally {
    try {
      await platform.close();
    } finally {
      await provider.close();
    }
  }
}

const PROBE: DrawnTurn = {
  what: 'a plain turn',
  replies: [],
  endpoint: 'plain',
  outcome: 'done',
  forbidden: [],
  repeatsText: false,
};

/** The replies of the turn that a history is in, found by the mark of its prompt. */
function scripting() {
  let playing = '';
  let replies: readonly Reply[] = [];
  let furthest = 0;
  const counts = new Map<string, number>();
  return {
    play(mark: string, next: readonly Reply[]): void {
      playing = mark;
      replies = next;
      furthest = 0;
    },
    choose(steps: readonly Step[]): Reply {
      const asked = `Turn ${playing}:`;
      const begins = steps.findLastIndex((step) => step.kind === 'user' && step.text.includes(asked));
      // A request of the turn before, which nobody waits for any more, may be read late.
      if (begins < 0) return { text: 'Too late.' };
      const answered = steps.slice(begins + 1).filter(({ kind }) => kind === 'assistant').length;
      // A history that was shortened to fit has fewer answers in it than were given.
      const step = Math.max(answered, furthest);
      furthest = step;
      counts.set(`${playing} ${step}`, (counts.get(`${playing} ${step}`) ?? 0) + 1);
      return replies[step] ?? { text: 'Done.' };
    },
    /** The most requests for one reply of a turn. */
    asked: (mark: string) =>
      Math.max(0, ...[...counts].flatMap(([key, count]) => (key.startsWith(`${mark} `) ? [count] : []))),
  };
}

interface RanTurn {
  readonly record: Omit<TurnRecord, 'what'>;
  readonly events: readonly Event[];
}

async function runTurn(
  platform: Platform,
  address: Address,
  text: string,
  when: { readonly cancelMs: number | undefined; readonly limitMs: number },
): Promise<RanTurn> {
  const controller = new AbortController();
  const events: Event[] = [];
  const startedAt = performance.now();
  let cancelledAt: number | undefined;
  const cancel = () => {
    cancelledAt = performance.now();
    controller.abort(new Error('the person cancels'));
  };
  const timer = when.cancelMs === undefined ? undefined : setTimeout(cancel, when.cancelMs);
  const run = async () => {
    for await (const batch of platform.prompt(address, { text }, controller.signal)) events.push(...batch);
    return true;
  };
  const ended = await within(when.limitMs, run());
  clearTimeout(timer);
  if (!ended) controller.abort(new Error('the campaign has waited long enough'));
  const now = performance.now();
  const last = events.at(-1);
  const outcome = ended && last?.type === 'runEnd' ? last.outcome : 'hung';
  const cancelMs = cancelledAt === undefined ? {} : { cancelMs: now - cancelledAt };
  return { events, record: { outcome, ms: now - startedAt, ...cancelMs } };
}

async function within(ms: number, work: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Checked {
  readonly turn: DrawnTurn;
  readonly ran: RanTurn;
  readonly host: CampaignHost;
  readonly prompt: string;
  /** Messages on the tape when the turn began. */
  readonly before: number;
  readonly asked: number;
}

function wrongIn({ turn, ran, host, prompt, before, asked }: Checked): readonly string[] {
  const { record, events } = ran;
  const wrong: string[] = [];
  const end = events.at(-1);
  const said = host.messages().slice(before);
  if (record.outcome === 'hung') wrong.push(`it did not end within ${Math.round(record.ms)} ms`);
  if (end?.type === 'runEnd' && end.error?.code === 'internal')
    wrong.push(`it crashed: ${end.error.message}`);
  const cancelled = record.cancelMs !== undefined;
  if (record.cancelMs !== undefined && record.cancelMs > CANCEL_LIMIT_MS)
    wrong.push(`it went on for ${Math.round(record.cancelMs)} ms after it was cancelled`);
  const isAsPromised = turn.outcome === undefined || record.outcome === turn.outcome;
  if (!isAsPromised && !(cancelled && record.outcome === 'cancelled'))
    wrong.push(`it ended ${record.outcome} instead of ${turn.outcome}: ${errorOf(end)}`);
  const accepted = events.some(({ type }) => type === 'promptAccepted');
  if (!accepted && !cancelled) wrong.push(`the prompt was not accepted: ${errorOf(end)}`);
  if (accepted && !promptsOn(said).includes(prompt)) wrong.push('the accepted prompt is not on the tape');
  if (asked > MAX_REQUESTS) wrong.push(`${asked} requests for one answer, more than ${MAX_REQUESTS}`);
  const again = events
    .filter(({ type }) => type === 'retry')
    .map((event) => ('status' in event ? event.status : 0));
  if (turn.lasting !== undefined && again.includes(turn.lasting))
    wrong.push(`${turn.lasting} was tried again`);
  wrong.push(...wrongRuns(turn, host), ...doubled(turn, said.map(messageText)));
  return wrong;
}

/** What a plain turn says that it has used is what the provider charged for it. */
function wrongBill({ events }: RanTurn, requests: readonly RequestRecord[]): readonly string[] {
  const end = events.at(-1);
  const [request, ...more] = requests;
  // An answer that came too late for us was charged all the same.
  if (end?.type !== 'runEnd' || request?.charged === undefined || more.length > 0) return [];
  const { charged } = request;
  const wrong = TOKENS.filter((kind) => end.usage[kind] !== charged[kind]);
  return wrong.map(
    (kind) => `${end.usage[kind]} tokens of ${kind} behind it, where ${charged[kind]} were charged`,
  );
}

const TOKENS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

function errorOf(end: Event | undefined): string {
  return end?.type === 'runEnd' ? (end.error?.message ?? 'no error') : 'no end';
}

function wrongRuns({ replies, forbidden }: DrawnTurn, host: CampaignHost): readonly string[] {
  const wrong: string[] = [];
  const times = (word: string) => host.ran.filter((ran) => ran === word).length;
  const words = replies.flatMap(({ calls = [] }) => calls.map(({ input }) => String(input['word'])));
  for (const word of words) if (times(word) > 1) wrong.push(`the call ${word} ran ${times(word)} times`);
  for (const word of forbidden) if (times(word) > 0) wrong.push(`the call ${word} ran, and was never whole`);
  const strangers = host.ran.filter((word) => !/^t\d+s\d+c\d+$/.test(word));
  for (const word of strangers) wrong.push(`a call with the input ${JSON.stringify(word.slice(0, 40))} ran`);
  return wrong;
}

/** A mark that is there twice was said twice by us. */
function doubled({ repeatsText }: DrawnTurn, texts: readonly string[]): readonly string[] {
  if (repeatsText) return [];
  const marks: readonly string[] = texts.join('\n').match(/<t\d+s\d+>/g) ?? [];
  const twice = marks.filter((mark, index) => marks.indexOf(mark) !== index);
  return twice.map((mark) => `the text ${mark} is there twice`);
}

/** Prompts that are missing on the tape, or in its file once that is closed. */
async function lostPrompts(
  host: CampaignHost,
  prompts: readonly string[],
  platform: Platform,
): Promise<readonly string[]> {
  const path = host.path();
  if (path === undefined) return [];
  await platform.close();
  const text = await readFile(path, 'utf8');
  return prompts.filter((prompt) => !text.includes(JSON.stringify(prompt).slice(1, -1)));
}
