// Decides on the answer to one request, without touching a socket: route, laws, reply, rendering. Which
// reply is chosen depends on the request alone; the only state is how often a fault has already struck.

import type { JsonObject } from '../core/schema.ts';
import { composeAnswer, hasTemplates } from './answer.ts';
import { anthropicWire } from './anthropic-wire.ts';
import { type Delivery, errorDelivery, jsonDelivery, planDelivery } from './delivery.ts';
import { checkHistory, describeFindings, type Finding, type History } from './history-check.ts';
import { asText, isObject } from './json.ts';
import { openaiWire } from './openai-wire.ts';
import { type Fault, pickReply, type Reply, type Scenario } from './scenario.ts';
import type { Wire, WireName } from './wire.ts';

export const WIRES: readonly Wire[] = [anthropicWire, openaiWire];

export interface Incoming {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
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
  readonly body?: JsonObject;
  readonly findings?: readonly Finding[];
}

export type Respond = (incoming: Incoming) => Outgoing;

export function createRespond(scenario: Scenario, vars: Readonly<Record<string, string>>): Respond {
  const render = createRenderer(vars);
  const strike = createStrikes();
  return ({ method, path, body }) => {
    const wire = WIRES.find((candidate) => candidate.path === path);
    if (wire === undefined || method !== 'POST') return { delivery: withoutModel(method, path) };
    const refuse = (status: number, message: string) => errorDelivery(wire, { status, message });
    if (body === undefined) return { wire: wire.name, delivery: refuse(413, 'the request is too large') };
    const request = parseObject(body);
    if (request === undefined) {
      return { wire: wire.name, delivery: refuse(400, 'the request is not a JSON object') };
    }
    const history = wire.history(request);
    const situation = situationOf(history);
    const findings = checkHistory(history);
    const turn = situation.answered + 1;
    const facts = { wire: wire.name, model: asText(request['model']), turn, body: request, findings };
    if (findings.length > 0) return { ...facts, delivery: refuse(400, describeFindings(findings)) };
    if (request['stream'] !== true) {
      return { ...facts, delivery: refuse(400, 'this provider only streams: send "stream": true') };
    }
    const reply = pickReply(scenario, situation.prompt, situation.answered);
    const delivery = render(wire, reply, { request, turn, result: situation.result, fault: strike(reply) });
    return { ...facts, delivery };
  };
}

function withoutModel(method: string, path: string): Delivery {
  if (method === 'GET' && path === '/v1/models') {
    const model = { id: 'fake-model', object: 'model', created: 0, owned_by: 'crab' };
    return jsonDelivery(200, { object: 'list', data: [model] });
  }
  const known = [...WIRES.map((wire) => `POST ${wire.path}`), 'GET /v1/models'].join(', ');
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
  readonly request: JsonObject;
  readonly turn: number;
  readonly result: string;
  readonly fault: Fault | undefined;
}

/**
 * Keeps the last rendering of each reply: clients that ask for the same again, as benchmarks do, get the
 * same bytes. One a reply and wire, so that a reply that is repeated for thousands of turns stays cheap.
 */
function createRenderer(
  vars: Readonly<Record<string, string>>,
): (wire: Wire, reply: Reply, how: Rendering) => Delivery {
  const kept = new Map<Wire, WeakMap<Reply, { readonly key: string; readonly delivery: Delivery }>>();
  return (wire, reply, { request, turn, result, fault }) => {
    const answer = () => composeAnswer({ ...reply, fault }, { turn, result, vars });
    const render = () => planDelivery(wire, answer(), request, { fault, delayMs: reply.delayMs ?? 0 });
    const ofWire = kept.get(wire) ?? new WeakMap();
    kept.set(wire, ofWire);
    const key = JSON.stringify([turn, fault !== undefined, request['model'], request['stream_options']]);
    const last = ofWire.get(reply);
    if (last?.key === key) return last.delivery;
    const delivery = render();
    if (!hasTemplates(reply)) ofWire.set(reply, { key, delivery });
    return delivery;
  };
}
