// Reads a Gemini generateContent body into steps and reports what the real API refuses (ai.google.dev/api, the guides to
// function calling and thought signatures, and the messages of its 400 answers). Calls of older models have no id: a
// result belongs to the first open call of its name.

import type { JsonObject } from '../core/schema.ts';
import { type CallStep, type Finding, finding, type History, type Step } from './history-check.ts';
import { asList, asText, isObject } from './json.ts';
import { isDamaged } from './signature.ts';

type Report = (at: string, message: string) => void;

const FIELDS = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'cachedContent',
  'labels',
]);

/** Exactly one of them is in a part. */
const KINDS = [
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
];

/** Whether models of this generation sign their calls, number them, and refuse a history without. */
export function signsCalls(model: string): boolean {
  return /gemini-(?:[3-9]|\d\d)/.test(model);
}

export function readGeminiHistory(model: string, body: JsonObject): History {
  const findings: Finding[] = [];
  const report: Report = (at, message) => void findings.push(finding(at, message));
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name)) report(name, `unknown name "${name}": cannot find field`);
  }
  const reader = new Reader(report);
  const contents = asList(body['contents']);
  for (const [index, content] of contents.entries()) reader.content(content, `contents[${index}]`);
  if (signsCalls(model)) checkSignatures(contents, report);
  return {
    steps: reader.steps,
    system: partsOf(body['systemInstruction'])
      .map((part) => asText(part['text']))
      .join('\n'),
    tools: readTools(body['tools'], report),
    findings,
  };
}

function partsOf(content: unknown): readonly JsonObject[] {
  return isObject(content) ? asList(content['parts']).filter(isObject) : [];
}

class Reader {
  readonly steps: Step[] = [];
  readonly #report: Report;
  /** Calls of the last answer that have no result yet. */
  #open: CallStep[] = [];

  constructor(report: Report) {
    this.#report = report;
  }

  content(content: unknown, at: string): void {
    const role = isObject(content) ? asText(content['role']) : '';
    const parts = partsOf(content);
    if (parts.length === 0) this.#report(at, 'parts must not be empty');
    for (const [index, part] of parts.entries()) this.#checkPart(part, `${at}.parts[${index}]`);
    if (role === 'model') this.#model(parts, at);
    else if (role === 'user') this.#user(parts, at);
    else this.#report(at, `role ${JSON.stringify(role)} is neither user nor model`);
  }

  #checkPart(part: JsonObject, at: string): void {
    const kinds = KINDS.filter((kind) => part[kind] !== undefined);
    if (kinds.length !== 1) this.#report(at, "required oneof field 'data' must have one initialized field");
    const unsigned = part['thoughtSignature'] === undefined;
    if (part['text'] === '' && unsigned) this.#report(at, 'the part has an empty text parameter');
  }

  #model(parts: readonly JsonObject[], at: string): void {
    const last = this.steps.at(-1);
    const calls = parts.flatMap((part, index) => this.#call(part, `${at}.parts[${index}]`));
    if (parts.some((part) => part['functionResponse'] !== undefined))
      this.#report(at, 'a function response is not a word of the model');
    if (calls.length > 0 && last?.kind === 'assistant') {
      this.#report(
        at,
        'a function call turn does not come right after a user turn or a function response turn',
      );
    }
    this.#open = [...calls];
    if (last?.kind === 'assistant')
      this.steps[this.steps.length - 1] = { ...last, calls: [...last.calls, ...calls] };
    else this.steps.push({ kind: 'assistant', at, calls });
  }

  #call({ functionCall: call }: JsonObject, at: string): readonly CallStep[] {
    if (call === undefined) return [];
    const fields = isObject(call) ? call : {};
    if (fields['args'] !== undefined && !isObject(fields['args'])) {
      this.#report(at, 'the arguments of the call are not an object');
    }
    const name = asText(fields['name']);
    if (!/^[a-z_]/i.test(name)) this.#report(at, `function name ${JSON.stringify(name)} is invalid`);
    return [{ at, id: asText(fields['id']) || at, name }];
  }

  #user(parts: readonly JsonObject[], at: string): void {
    const results = parts.flatMap((part, index) => this.#result(part, `${at}.parts[${index}]`));
    const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []));
    this.steps.push(...results);
    const hasMore = parts.some(
      (part) => part['functionResponse'] === undefined && part['text'] === undefined,
    );
    if (results.length === 0 || text.length > 0) {
      if (!hasMore && text.join('').trim() === '' && results.length === 0)
        this.#report(at, 'the user message is empty');
      this.steps.push({ kind: 'user', at, text: text.join('\n') });
    }
  }

  #result({ functionResponse: response }: JsonObject, at: string): readonly Step[] {
    if (response === undefined) return [];
    const fields = isObject(response) ? response : {};
    const { id, name, response: value } = fields;
    if (!isObject(value)) this.#report(at, 'the response is not an object');
    const call = this.#open.find((open) => (asText(id) === '' ? open.name === name : open.id === id));
    if (call !== undefined && call.name !== name) {
      this.#report(at, `the response is named ${JSON.stringify(name)}, its call ${call.name}`);
    }
    this.#open = this.#open.filter((open) => open !== call);
    const callId = call?.id ?? (asText(id) || `${asText(name)} without a call`);
    return [{ kind: 'result', at, callId, text: textOfResponse(value) }];
  }
}

/** Its only text as it is, or all of it as JSON. */
function textOfResponse(value: unknown): string {
  if (!isObject(value)) return '';
  const [only, ...more] = Object.values(value);
  return typeof only === 'string' && more.length === 0 ? only : JSON.stringify(value);
}

/** In the current turn, which begins with the last words of the user, the first call of every answer is signed. */
function checkSignatures(contents: readonly unknown[], report: Report): void {
  const begins = contents.findLastIndex(
    (content) =>
      isObject(content) &&
      content['role'] === 'user' &&
      partsOf(content).some((part) => part['functionResponse'] === undefined),
  );
  for (const [index, content] of contents.entries()) {
    const parts = partsOf(content);
    const first = parts.findIndex((part) => part['functionCall'] !== undefined);
    const call = parts[first];
    if (call === undefined) continue;
    const at = `contents[${index}].parts[${first}]`;
    const signature = asText(call['thoughtSignature']);
    const { functionCall } = call;
    const name = isObject(functionCall) ? asText(functionCall['name']) : '';
    if (index > begins && signature === '') {
      report(at, `function call ${JSON.stringify(name)} is missing a thought_signature`);
    }
    // It proves what was thought and not the name of the call, which a client may have had to mend.
    if (isDamaged(Buffer.from(signature, 'base64').toString())) {
      report(at, 'the thought signature is corrupted');
    }
  }
}

function readTools(tools: unknown, report: Report): History['tools'] {
  return asList(tools).flatMap((tool, index) =>
    (isObject(tool) ? asList(tool['functionDeclarations']) : []).map((declaration, position) => {
      const at = `tools[${index}].functionDeclarations[${position}]`;
      const fields = isObject(declaration) ? declaration : {};
      const { parameters, parametersJsonSchema } = fields;
      if (parameters !== undefined && parametersJsonSchema !== undefined) {
        report(at, 'parameters and parametersJsonSchema exclude each other');
      }
      const schema = parametersJsonSchema ?? parameters;
      if (schema !== undefined && !(isObject(schema) && /^object$/i.test(asText(schema['type'])))) {
        report(at, 'the parameters are not the schema of an object');
      }
      if (parameters !== undefined) checkSchema(parameters, `${at}.parameters`, report);
      return { at, name: asText(fields['name']) };
    }),
  );
}

const SCHEMA_FIELDS = new Set(
  (
    'type format title description nullable enum items minItems maxItems properties required minProperties ' +
    'maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum'
  ).split(' '),
);

/** The subset of OpenAPI 3.0 that `parameters` may hold. */
function checkSchema(schema: unknown, at: string, report: Report): void {
  if (!isObject(schema)) return;
  for (const name of Object.keys(schema)) {
    if (!SCHEMA_FIELDS.has(name)) report(at, `unknown name "${name}": cannot find field`);
  }
  if (Array.isArray(schema['type'])) report(at, 'the type is a list');
  checkSchema(schema['items'], `${at}.items`, report);
  for (const [index, option] of asList(schema['anyOf']).entries()) {
    checkSchema(option, `${at}.anyOf[${index}]`, report);
  }
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    checkSchema(property, `${at}.properties.${name}`, report);
  }
}
