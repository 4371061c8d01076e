// Decides on the answer to one request, without touching a socket: route, laws, reply, rendering. Which
// reply is chosen depends on the request alone; the only state is how often a fault has already struck.

import type { JsonObject } from '../core/schema.ts';
import type { TokenCounts } from '../core/usage.ts';
import { type Answer, composeAnswer, hasTemplates } from './answer.ts';
import { type Delivery, errorDelivery, jsonDelivery, planDelivery } from './delivery.ts';
import { checkHistory, describeFindings, type Finding, type History } from './history-check.ts';
import { asText, isObject } from './json.ts';
import { type Fault, pickReply, type Reply, type Scenario } from './scenario.ts';
import type { Asked, Wire, WireName } from './wire.ts';
import { findRoute, ROUTES } from './wires.ts';

export interface Incoming {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Absent when it was too large to keep. */
  readonly body: Uint8Array | undefined;
}

export interface Outgoing {
  readonly delivery: Delivery;
  /** The rest is absent for what is no request to a model. */
  readonly wire?: WireName;
  readonly model?: string;
  /** Which answer of the conversation this is, from 1. */
  readonly turn?: number;
  /** What the answer costs, where there is one. */
  readonly charged?: TokenCounts;
  readonly body?: JsonObject;
  readonly findings?: readonly Finding[];
}

export type Respond = (incoming: Incoming) => Promise<Outgoing>;

/** Decides while the server runs; undefined leaves it to the scenario. */
export type ChooseReply = (steps: History['steps']) => Reply | undefined;

export function createRespond(
  scenario: Scenario,
  vars: Readonly<Record<string, string>>,
  choose: ChooseReply = () => undefined,
): Respond {
  const render = createRenderer(vars);
  const strike = createStrikes();
  return async (incoming) => {
    const { method, path, query, body } = incoming;
    const found = findRoute(path);
    if (found === undefined || method !== 'POST') return { delivery: await withoutModel(incoming, scenario) };
    const wire = await found.route.load();
    const refuse = (status: number, message: string) => errorDelivery(wire, { status, message });
    if (body === undefined) return { wire: wire.name, delivery: refuse(413, 'the request is too large') };
    const request = parseObject(body);
    if (request === undefined) {
      return { wire: wire.name, delivery: refuse(400, 'the request is not a JSON object') };
    }
    const model = found.model ?? asText(request['model']);
    const asked: Asked = { model, body: request, query };
    const history = wire.history(asked);
    const situation = situationOf(history);
    const findings = checkHistory(history);
    const turn = situation.answered + 1;
    const facts = { wire: wire.name, model, turn, body: request, findings };
    if (findings.length > 0) return { ...facts, delivery: refuse(400, describeFindings(findings)) };
    const streamless = STREAMLESS.test(path) ? 'ask the streaming path' : wire.refusesToStream(asked);
    if (streamless !== undefined) {
      return { ...facts, delivery: refuse(400, `this provider only streams: ${streamless}`) };
    }
    const chosen = choose(history.steps);
    const reply = chosen ?? pickReply(scenario, situation.prompt, situation.answered);
    const how = { asked, turn, result: situation.result, fault: strike(reply) };
    const { delivery, usage } = await render(wire, reply, how);
    return { ...facts, delivery, ...(delivery.kind === 'stream' && { charged: billed(wire, usage) }) };
  };
}

/** Paths of wires that answer in one piece. */
const STREAMLESS = /(?::generateContent|:rawPredict|\/invoke)$/;

/** In the classes that the wire has. */
function billed({ countsCacheWrites }: Wire, usage: TokenCounts): TokenCounts {
  if (countsCacheWrites) return usage;
  return { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 };
}

async function withoutModel(incoming: Incoming, scenario: Scenario): Promise<Delivery> {
  const { method, path } = incoming;
  const { list } = await import('./listings.ts');
  const listed = list(incoming, scenario);
  if (listed !== undefined) return jsonDelivery(listed.status, listed.body);
  const known = [...ROUTES.map((route) => `POST ${route.path}`), 'GET /v1/models'].join(', ');
  const message = `${method} ${path} is not here; this provider answers ${known}`;
  return jsonDelivery(404, { type: 'error', error: { type: 'not_found_error', message } });
}

function parseObject(body: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the reply depends on: the first user text, how many answers there were, and the last result. */
export function situationOf({ steps }: Pick<History, 'steps'>): {
  readonly prompt: string;
  readonly answered: number;
  readonly result: string;
} {
  const first = steps.find((step) => step.kind === 'user');
  const last = steps.findLast((step) => step.kind === 'result');
  return {
    prompt: first?.text ?? '',
    answered: steps.filter((step) => step.kind === 'assistant').length,
    result: last?.text ?? '',
  };
}

/** Counts how often each reply was asked for, so that a fault with `times` is over after that many. */
export function createStrikes(): (reply: Reply) => Fault | undefined {
  const asked = new Map<Reply, number>();
  return (reply) => {
    if (reply.times === undefined) return reply.fault;
    const count = (asked.get(reply) ?? 0) + 1;
    asked.set(reply, count);
    return count <= reply.times ? reply.fault : undefined;
  };
}

interface Rendering {
  readonly asked: Asked;
  readonly turn: number;
  readonly result: string;
  readonly fault: Fault | undefined;
}

interface Rendered {
  readonly delivery: Delivery;
  readonly usage: Answer['usage'];
}

/**
 * Keeps the last rendering of each reply: clients that ask for the same again, as benchmarks do, get the
 * same bytes. One a reply and wire, so that a reply that is repeated for thousands of turns stays cheap.
 */
function createRenderer(
  vars: Readonly<Record<string, string>>,
): (wire: Wire, reply: Reply, how: Rendering) => Promise<Rendered> {
  const kept = new Map<Wire, WeakMap<Reply, Rendered & { readonly key: string }>>();
  return async (wire, reply, { asked, turn, result, fault }) => {
    const ofWire = kept.get(wire) ?? new WeakMap();
    kept.set(wire, ofWire);
    const key = JSON.stringify([turn, fault !== undefined, asked.model, wire.variant?.(asked.body)]);
    const last = ofWire.get(reply);
    if (last?.key === key) return last;
    const answer = composeAnswer({ ...reply, fault }, { turn, result, vars });
    const delivery = await planDelivery(wire, answer, asked, { fault, pace: reply });
    const rendered = { key, delivery, usage: answer.usage };
    if (!hasTemplates(reply)) ofWire.set(reply, rendered);
    return rendered;
  };
}
