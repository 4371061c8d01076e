// Reads an Anthropic Messages body into steps and reports what the real API refuses
// (docs.anthropic.com/en/api/messages, and the messages of its 400 answers). One rule is stricter than the
// API: it joins two user messages in a row, but gateways that speak its wire do not, so roles must alternate.

import type { JsonObject } from '../core/schema.ts';
import { type CallStep, type Finding, finding, type History, type Step } from './history-check.ts';
import { asList, asText, isObject } from './json.ts';
import { isForged } from './signature.ts';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const MAX_CACHE_BREAKPOINTS = 4;

/** Everything but the model, which the clouds name in the path. */
export function readAnthropicHistory(body: JsonObject): History {
  const findings: Finding[] = [];
  const report = (at: string, message: string) => void findings.push(finding(at, message));
  if (!isPositive(body['max_tokens'])) report('max_tokens', 'max_tokens is not a positive whole number');
  const steps: Step[] = [];
  const messages = asList(body['messages']);
  let last = '';
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const role = isObject(message) ? asText(message['role']) : '';
    if (role === last) report(at, `two ${role} messages in a row`);
    last = role;
    const content = isObject(message) ? message['content'] : undefined;
    if (role === 'user') steps.push(...readUser(content, at, report));
    else if (role === 'assistant') steps.push(readAssistant(content, at, report));
    else report(at, `role ${JSON.stringify(role)} is neither user nor assistant`);
  }
  checkPrefill(messages.at(-1), `messages[${messages.length - 1}]`, report);
  checkBreakpoints(body, report);
  return {
    steps,
    system: blocksOf(body['system'] || [], 'system', report)
      .map(textOf)
      .join('\n'),
    tools: readTools(body['tools'], report),
    findings,
  };
}

type Report = (at: string, message: string) => void;

interface Block {
  readonly at: string;
  readonly type: string;
  readonly body: JsonObject;
}

/** The content at this place as blocks; an empty text, in whatever form, is refused. */
function blocksOf(content: unknown, at: string, report: Report): readonly Block[] {
  const items = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
  return items.flatMap((item, index) => {
    const place = typeof content === 'string' ? at : `${at}[${index}]`;
    if (!isObject(item)) {
      report(place, 'a content block is not an object');
      return [];
    }
    const block = { at: place, type: asText(item['type']), body: item };
    if (block.type === 'text' && asText(item['text']).trim() === '') report(place, 'the text block is empty');
    return [block];
  });
}

function textOf(block: Block): string {
  return asText(block.body['text']);
}

/** Results come before everything else in a user message. */
function readUser(content: unknown, at: string, report: Report): readonly Step[] {
  const blocks = blocksOf(content, `${at}.content`, report);
  if (blocks.length === 0) report(at, 'the user message is empty');
  const results: Step[] = [];
  const said: Block[] = [];
  for (const block of blocks) {
    if (block.type !== 'tool_result') {
      said.push(block);
      if (!['text', 'image', 'document'].includes(block.type)) {
        report(block.at, `a user message cannot hold ${JSON.stringify(block.type)}`);
      }
      continue;
    }
    if (said.length > 0) report(block.at, 'a result comes after other content');
    const inner = blocksOf(block.body['content'] || [], `${block.at}.content`, report);
    const text = inner.map(textOf).join('');
    results.push({ kind: 'result', at: block.at, callId: asText(block.body['tool_use_id']), text });
  }
  if (said.length === 0 && results.length > 0) return results;
  return [...results, { kind: 'user', at, text: said.map(textOf).join('\n') }];
}

function readAssistant(content: unknown, at: string, report: Report): Step {
  const blocks = blocksOf(content, `${at}.content`, report);
  if (blocks.length === 0) report(at, 'the assistant message is empty');
  const calls: CallStep[] = [];
  for (const block of blocks) {
    if (block.type === 'tool_use') calls.push(readCall(block, report));
    else if (block.type === 'thinking') checkThinking(block, report);
    else if (block.type === 'redacted_thinking') {
      if (asText(block.body['data']) === '') report(block.at, 'the hidden thinking has no data');
    } else if (block.type !== 'text') {
      report(block.at, `an assistant message cannot hold ${JSON.stringify(block.type)}`);
    }
  }
  return { kind: 'assistant', at, calls };
}

function readCall(block: Block, report: Report): CallStep {
  const id = asText(block.body['id']);
  if (!CALL_ID.test(id)) report(block.at, `call id ${JSON.stringify(id)} is not allowed`);
  if (!isObject(block.body['input'])) report(block.at, `the input of call ${id} is not an object`);
  return { at: block.at, id, name: asText(block.body['name']) };
}

function checkThinking(block: Block, report: Report): void {
  const thinking = asText(block.body['thinking']);
  const signature = asText(block.body['signature']);
  if (signature === '') report(block.at, 'the thinking block has no signature');
  else if (isForged(thinking, signature)) report(block.at, 'the signature is not that of this thinking');
  if (block.body['cache_control'] !== undefined) report(block.at, 'thinking cannot be a cache breakpoint');
}

/** A final assistant message is a prefill, which must not end in white space. */
function checkPrefill(message: unknown, at: string, report: Report): void {
  if (!isObject(message) || message['role'] !== 'assistant') return;
  const { content } = message;
  const end = typeof content === 'string' ? { text: content } : asList(content).at(-1);
  const text = isObject(end) ? asText(end['text']) : '';
  if (text !== text.trimEnd()) report(at, 'the final assistant message ends in white space');
}

function checkBreakpoints(body: JsonObject, report: Report): void {
  const contents = asList(body['messages']).flatMap((message) =>
    isObject(message) ? asList(message['content']) : [],
  );
  const nested = contents.flatMap((block) => (isObject(block) ? asList(block['content']) : []));
  const places = [body, ...asList(body['system']), ...asList(body['tools']), ...contents, ...nested];
  const count = places.filter((place) => isObject(place) && isObject(place['cache_control'])).length;
  if (count > MAX_CACHE_BREAKPOINTS) {
    report('cache_control', `${count} cache breakpoints, more than ${MAX_CACHE_BREAKPOINTS}`);
  }
}

function readTools(tools: unknown, report: Report): History['tools'] {
  return asList(tools).map((tool, index) => {
    const at = `tools[${index}]`;
    const schema = isObject(tool) ? tool['input_schema'] : undefined;
    const own = isObject(tool) && (tool['type'] ?? 'custom') === 'custom';
    if (own && (!isObject(schema) || schema['type'] !== 'object')) {
      report(at, 'the input schema is not that of an object');
    }
    return { at, name: isObject(tool) ? asText(tool['name']) : '' };
  });
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
