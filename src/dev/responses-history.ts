// Reads an OpenAI Responses body into steps and reports what the real API refuses
// (platform.openai.com/docs/api-reference/responses/create, and the messages of its 400 answers). Items that the model
// wrote one after the other are one answer, as they were when it gave them.

import type { JsonObject } from '../core/schema.ts';
import { type CallStep, type Finding, finding, type History, type Step } from './history-check.ts';
import { asList, asText, isJsonObject, isObject } from './json.ts';
import { isForged } from './signature.ts';

type Report = (at: string, message: string) => void;

const MAX_ID = 64;
const LEAST_OUTPUT_TOKENS = 16;

export function readResponsesHistory(body: JsonObject): History {
  const findings: Finding[] = [];
  const report: Report = (at, message) => void findings.push(finding(at, message));
  checkFields(body, report);
  const { input, instructions } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input);
  const steps = new Steps();
  const system = [asText(instructions)];
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    const fields = isObject(item) ? item : {};
    const type = asText(fields['type']) || 'message';
    if (type === 'reasoning') steps.answered(at, readReasoning(fields, items[index + 1], at, report));
    else if (type === 'function_call') steps.answered(at, [readCall(fields, at, report)]);
    else if (type === 'function_call_output') steps.add(readResult(fields, at, report));
    else if (type !== 'message') report(at, `item type ${JSON.stringify(type)} is not known`);
    else if (['system', 'developer'].includes(asText(fields['role']))) {
      if (steps.all.length > 0) report(at, 'the system prompt does not come first');
      system.push(textOf(fields['content'], at, 'input_text', report));
    } else if (fields['role'] === 'assistant') steps.answered(at, readAnswer(fields, at, report));
    else steps.add(readUser(fields, at, report));
  }
  return {
    steps: steps.all,
    system: system.filter((text) => text !== '').join('\n'),
    tools: readTools(body['tools'], report),
    findings,
  };
}

/** Steps in the making: what the model wrote without a word in between is one. */
class Steps {
  readonly all: Step[] = [];

  add(step: Step): void {
    this.all.push(step);
  }

  answered(at: string, calls: readonly CallStep[]): void {
    const last = this.all.at(-1);
    if (last?.kind === 'assistant')
      this.all[this.all.length - 1] = { ...last, calls: [...last.calls, ...calls] };
    else this.all.push({ kind: 'assistant', at, calls });
  }
}

function checkFields(body: JsonObject, report: Report): void {
  if (asText(body['model']) === '') report('model', 'the model is missing');
  const most = body['max_output_tokens'];
  if (most !== undefined && !(typeof most === 'number' && most >= LEAST_OUTPUT_TOKENS)) {
    report('max_output_tokens', `max_output_tokens is less than ${LEAST_OUTPUT_TOKENS}`);
  }
  if (body['previous_response_id'] != null) {
    report('previous_response_id', 'no response is stored here: send the whole history');
  }
}

function readUser(fields: JsonObject, at: string, report: Report): Step {
  const { role, content } = fields;
  if (role !== 'user') report(at, `role ${JSON.stringify(role)} is not known`);
  const text = textOf(content, at, 'input_text', report);
  const empty = typeof content === 'string' ? content.trim() === '' : asList(content).length === 0;
  if (empty) report(at, 'the user message is empty');
  return { kind: 'user', at, text };
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  input_text: ['input_text', 'input_image', 'input_file'],
  output_text: ['output_text', 'refusal'],
};

/** The text of a string or of a list of parts of one side. */
function textOf(content: unknown, at: string, side: string, report: Report): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part, index) => {
      const fields = isObject(part) ? part : {};
      const place = `${at}.content[${index}]`;
      const type = asText(fields['type']);
      if (!PARTS[side]?.includes(type)) {
        report(place, `a part of type ${JSON.stringify(type)} has no place here`);
      }
      if (type === side && typeof fields['text'] !== 'string') report(place, 'the text part has no text');
      if (type === 'input_text' && fields['text'] === '') report(place, 'the text part is empty');
      return asText(fields['text']);
    })
    .join('\n');
}

function readAnswer(fields: JsonObject, at: string, report: Report): readonly CallStep[] {
  const { content, id } = fields;
  checkId(id, 'msg', at, report);
  const text = textOf(content, at, 'output_text', report);
  const refused = asList(content).some((part) => isObject(part) && part['type'] === 'refusal');
  if (text.trim() === '' && !refused) report(at, 'the assistant message is empty');
  return [];
}

/** Without its seal the service would have to remember it, which it does not for `"store": false`. */
function readReasoning(fields: JsonObject, next: unknown, at: string, report: Report): readonly CallStep[] {
  const { id, summary, encrypted_content: sealed } = fields;
  if (asText(id) === '') report(at, 'the reasoning has no id');
  else checkId(id, 'rs', at, report);
  if (!Array.isArray(summary)) report(at, 'the reasoning has no summary');
  if (asText(sealed) === '')
    report(at, `item with id ${asText(id)} is not found: it has no encrypted_content`);
  const thought = asList(summary).map((part) => (isObject(part) ? asText(part['text']) : ''));
  if (isForged(thought.join(''), asText(sealed))) report(at, 'the seal is not that of this reasoning');
  if (!isOfTheModel(next)) {
    report(at, `reasoning ${asText(id)} was provided without its required following item`);
  }
  return [];
}

function isOfTheModel(item: unknown): boolean {
  if (!isObject(item)) return false;
  const type = asText(item['type']) || 'message';
  return (
    type === 'function_call' || type === 'reasoning' || (type === 'message' && item['role'] === 'assistant')
  );
}

function checkId(id: unknown, prefix: string, at: string, report: Report): void {
  if (id === undefined) return;
  const text = asText(id);
  if (!text.startsWith(prefix) || text.length > MAX_ID || !/^[\w-]+$/.test(text)) {
    report(at, `id ${JSON.stringify(id)} does not begin with ${prefix}, or is too long`);
  }
}

function readCall(fields: JsonObject, at: string, report: Report): CallStep {
  const id = asText(fields['call_id']);
  checkId(fields['id'], 'fc', at, report);
  if (id === '' || id.length > MAX_ID) report(at, `call_id ${JSON.stringify(id)} is empty or too long`);
  if (!isJsonObject(fields['arguments'])) {
    report(at, `the arguments of call ${id} are not the JSON text of an object`);
  }
  return { at, id, name: asText(fields['name']) };
}

function readResult(fields: JsonObject, at: string, report: Report): Step {
  const { output } = fields;
  const list = asList(output);
  if (typeof output !== 'string' && list.length === 0) report(at, 'the result has no output');
  const text = typeof output === 'string' ? output : textOf(list, at, 'input_text', report);
  return { kind: 'result', at, callId: asText(fields['call_id']), text };
}

function readTools(tools: unknown, report: Report): History['tools'] {
  return asList(tools).flatMap((tool, index) => {
    const at = `tools[${index}]`;
    const fields = isObject(tool) ? tool : {};
    if (fields['type'] !== 'function') {
      if (asText(fields['type']) === '') report(at, 'the tool has no type');
      return [];
    }
    if (fields['function'] !== undefined) report(at, 'the tool is written as Chat Completions wants it');
    const { parameters, strict } = fields;
    if (!isObject(parameters) || parameters['type'] !== 'object') {
      report(at, 'the parameters are not the schema of an object');
    } else if (strict === true) checkStrict(parameters, at, report);
    return [{ at, name: asText(fields['name']) }];
  });
}

/** A strict schema names every property as required and allows no other. */
function checkStrict(schema: JsonObject, at: string, report: Report): void {
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const required = asList(schema['required']);
  if (schema['additionalProperties'] !== false) {
    report(at, 'a strict schema must have additionalProperties: false');
  }
  for (const name of properties) {
    if (!required.includes(name)) report(at, `a strict schema must require ${name}`);
  }
}
