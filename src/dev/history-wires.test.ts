// What the later wires refuse, each broken on purpose in a history that passes otherwise.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bedrockWire } from './bedrock-wire.ts';
import { callSignature, geminiWire } from './gemini-wire.ts';
import { checkHistory } from './history-check.ts';
import { responsesWire } from './responses-wire.ts';
import { signatureOf } from './signature.ts';
import { vertexWire } from './vertex-wire.ts';
import type { Wire } from './wire.ts';

type Json = Record<string, unknown>;

function check(wire: Wire, body: Json, model = 'some-model'): readonly string[] {
  return checkHistory(wire.history({ model, body, query: '' })).map(({ at, message }) => `${at}: ${message}`);
}

type Breach = readonly [what: string, body: Json, found: readonly string[]];

function breaches(wire: Wire, list: readonly Breach[], model?: string): void {
  for (const [what, body, found] of list) {
    test(`${wire.name}: ${what}`, () => assert.deepEqual(check(wire, body, model), found));
  }
}

// Responses

const said = (text: string): Json => ({
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const thought = (fields: Json = {}): Json => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'hm' }],
  encrypted_content: signatureOf('hm'),
  ...fields,
});
const call = (id: string, fields: Json = {}): Json => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'read',
  arguments: '{}',
  ...fields,
});
const output = (id: string, fields: Json = {}): Json => ({
  type: 'function_call_output',
  call_id: id,
  output: 'ok',
  ...fields,
});
const hello: Json = { role: 'user', content: [{ type: 'input_text', text: 'hello' }] };
const input = (...items: readonly Json[]): Json => ({ model: 'm', input: [hello, ...items] });
const strict = (parameters: Json): Json => ({
  ...input(),
  tools: [{ type: 'function', name: 'read', strict: true, parameters }],
});

breaches(responsesWire, [
  ['a text is a history', { model: 'm', input: 'hello' }, []],
  [
    'reasoning, words and calls are one answer',
    input(thought(), said('I read.'), call('a'), call('b'), output('a'), output('b'), said('Done.'), hello),
    [],
  ],
  [
    'two rounds of one answer',
    input(thought(), call('a'), output('a'), thought({ id: 'rs_2' }), call('b'), output('b')),
    [],
  ],
  ['no model', { input: 'hello' }, ['model: the model is missing']],
  ['no input', { model: 'm', input: [] }, ['messages: there is no message']],
  ['a call without a result', input(call('a'), hello), ['input[1]: call a has no result right after it']],
  ['a result without a call', input(output('a')), ['input[1]: result for a answers no open call']],
  [
    'results in another order',
    input(call('a'), call('b'), output('b'), output('a')),
    ['input[3]: result for b is not in call order'],
  ],
  [
    'a call id twice',
    input(call('a'), output('a'), call('a'), output('a')),
    ['input[3]: call id a is used twice'],
  ],
  [
    'reasoning at the end',
    input(thought()),
    ['input[1]: reasoning rs_1 was provided without its required following item'],
  ],
  [
    'reasoning before a user',
    input(thought(), hello),
    ['input[1]: reasoning rs_1 was provided without its required following item'],
  ],
  [
    'reasoning without a seal',
    input(thought({ encrypted_content: undefined }), said('x')),
    ['input[1]: item with id rs_1 is not found: it has no encrypted_content'],
  ],
  [
    'reasoning with a foreign seal',
    input(thought({ encrypted_content: signatureOf('ha') }), said('x')),
    ['input[1]: the seal is not that of this reasoning'],
  ],
  [
    'reasoning without a summary',
    input(thought({ summary: undefined, encrypted_content: 'x' }), said('x')),
    ['input[1]: the reasoning has no summary'],
  ],
  [
    'an id of another kind',
    input(call('a', { id: 'call_a' }), output('a')),
    ['input[1]: id "call_a" does not begin with fc, or is too long'],
  ],
  [
    'a call id that is too long',
    input(call('a'.repeat(65), { id: undefined }), output('a'.repeat(65))),
    [`input[1]: call_id "${'a'.repeat(65)}" is empty or too long`],
  ],
  [
    'arguments that are no object',
    input(call('a', { arguments: '[]' }), output('a')),
    ['input[1]: the arguments of call a are not the JSON text of an object'],
  ],
  ['an empty answer', input(said(' ')), ['input[1]: the assistant message is empty']],
  [
    'words of the model as input',
    input({ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }),
    ['input[1].content[0]: a part of type "input_text" has no place here'],
  ],
  ['an unknown item', input({ type: 'tool_result' }), ['input[1]: item type "tool_result" is not known']],
  [
    'a response to go on from',
    { ...input(), previous_response_id: 'resp_1' },
    ['previous_response_id: no response is stored here: send the whole history'],
  ],
  [
    'too few tokens',
    { ...input(), max_output_tokens: 15 },
    ['max_output_tokens: max_output_tokens is less than 16'],
  ],
  [
    'a tool as Chat Completions wants it',
    { ...input(), tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }] },
    [
      'tools[0]: the tool is written as Chat Completions wants it',
      'tools[0]: the parameters are not the schema of an object',
      'tools[0]: tool name "" is not allowed',
    ],
  ],
  [
    'a strict schema that is none',
    strict({ type: 'object', properties: { a: {} }, required: [] }),
    [
      'tools[0]: a strict schema must have additionalProperties: false',
      'tools[0]: a strict schema must require a',
    ],
  ],
  [
    'a strict schema',
    strict({ type: 'object', properties: {}, required: [], additionalProperties: false }),
    [],
  ],
]);

// Gemini

const person = (...parts: readonly Json[]): Json => ({ role: 'user', parts });
const model = (...parts: readonly Json[]): Json => ({ role: 'model', parts });
const asks: Json = { text: 'hello' };
const functionCall = (id: string, fields: Json = {}): Json => ({
  functionCall: { id, name: 'read', args: {} },
  thoughtSignature: callSignature('read'),
  ...fields,
});
const response = (id: string, fields: Json = {}): Json => ({
  functionResponse: { id, name: 'read', response: { output: 'ok' }, ...fields },
});
const contents = (...list: readonly Json[]): Json => ({ contents: [person(asks), ...list] });
const unsigned = (id: string): Json => functionCall(id, { thoughtSignature: undefined });
const declared = (fields: Json): Json => ({
  ...contents(),
  tools: [{ functionDeclarations: [{ name: 'read', ...fields }] }],
});

breaches(
  geminiWire,
  [
    [
      'a conversation with calls side by side',
      contents(
        model({ text: 'hm', thought: true }, functionCall('a'), unsigned('b')),
        person(response('a'), response('b')),
        model({ text: 'Done.' }),
        person(asks),
      ),
      [],
    ],
    [
      'calls without ids go by their names',
      contents(
        model(
          { functionCall: { name: 'read' }, thoughtSignature: 'x' },
          { functionCall: { name: 'ls', args: {} } },
        ),
        person(response('', { id: undefined }), response('', { id: undefined, name: 'ls' })),
      ),
      [],
    ],
    [
      'a call of this turn without a signature',
      contents(model(unsigned('a')), person(response('a'))),
      ['contents[1].parts[0]: function call "read" is missing a thought_signature'],
    ],
    [
      'a call of an earlier turn without a signature',
      contents(model(unsigned('a')), person(response('a')), model({ text: 'x' }), person(asks)),
      [],
    ],
    [
      'a signature that lost its end',
      contents(
        model(functionCall('a', { thoughtSignature: callSignature('read').slice(0, -4) })),
        person(response('a')),
      ),
      ['contents[1].parts[0]: the thought signature is corrupted'],
    ],
    ['no contents', { contents: [] }, ['messages: there is no message']],
    ['no parts', contents(model()), ['contents[1]: parts must not be empty']],
    [
      'an empty text',
      contents(model({ text: '' })),
      ['contents[1].parts[0]: the part has an empty text parameter'],
    ],
    ['an empty text that is signed', contents(model({ text: '', thoughtSignature: 'x' })), []],
    [
      'two things in a part',
      contents(model({ text: 'x', inlineData: {} })),
      ["contents[1].parts[0]: required oneof field 'data' must have one initialized field"],
    ],
    [
      'another role',
      contents({ role: 'assistant', parts: [asks] }),
      ['contents[1]: role "assistant" is neither user nor model'],
    ],
    [
      'the model first',
      { contents: [model({ text: 'x' })] },
      ['contents[0]: the first message is not from the user'],
    ],
    [
      'a call without a result',
      contents(model(functionCall('a')), person(asks)),
      ['contents[1].parts[0]: call a has no result right after it'],
    ],
    [
      'a result without a call',
      contents(person(response('a'))),
      ['contents[1].parts[0]: result for a answers no open call'],
    ],
    [
      'a result of another name',
      contents(model(functionCall('a')), person(response('a', { name: 'ls' }))),
      ['contents[2].parts[0]: the response is named "ls", its call read'],
    ],
    [
      'a result that is no object',
      contents(model(functionCall('a')), person(response('a', { response: 'ok' }))),
      ['contents[2].parts[0]: the response is not an object'],
    ],
    [
      'a call right after the model spoke',
      contents(model({ text: 'x' }), model(functionCall('a')), person(response('a'))),
      ['contents[2]: a function call turn does not come right after a user turn or a function response turn'],
    ],
    [
      'a field that Google does not know',
      { ...contents(), stream: true },
      ['stream: unknown name "stream": cannot find field'],
    ],
    [
      'a schema beyond what Google knows',
      declared({
        parameters: { type: 'object', properties: { a: { const: 1 } }, additionalProperties: false },
      }),
      [
        'tools[0].functionDeclarations[0].parameters: unknown name "additionalProperties": cannot find field',
        'tools[0].functionDeclarations[0].parameters.properties.a: unknown name "const": cannot find field',
      ],
    ],
    [
      'the same as JSON Schema',
      declared({ parametersJsonSchema: { type: 'object', additionalProperties: false } }),
      [],
    ],
    [
      'a schema that is no object',
      declared({ parametersJsonSchema: { type: 'string' } }),
      ['tools[0].functionDeclarations[0]: the parameters are not the schema of an object'],
    ],
  ],
  'gemini-3-pro',
);

test('gemini: an older model wants no signature', () => {
  assert.deepEqual(
    check(geminiWire, contents(model(unsigned('a')), person(response('a'))), 'gemini-2.5-pro'),
    [],
  );
});

// The clouds

const body = (version: string, fields: Json = {}): Json => ({
  anthropic_version: version,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hello' }],
  ...fields,
});

breaches(bedrockWire, [
  ['a message', body('bedrock-2023-05-31'), []],
  ['no version', body(''), ['anthropic_version: anthropic_version is not "bedrock-2023-05-31"']],
  [
    'what belongs into the path',
    body('bedrock-2023-05-31', { model: 'm', stream: true }),
    ['model: extraneous key [model] is not permitted', 'stream: extraneous key [stream] is not permitted'],
  ],
]);

breaches(vertexWire, [
  ['a message', body('vertex-2023-10-16', { stream: true }), []],
  [
    'the version of another cloud',
    body('bedrock-2023-05-31'),
    ['anthropic_version: anthropic_version is not "vertex-2023-10-16"'],
  ],
  [
    'a model in the body',
    body('vertex-2023-10-16', { model: 'm' }),
    ['model: extraneous key [model] is not permitted'],
  ],
]);
