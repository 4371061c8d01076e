// Each law is broken on purpose, on each wire, and must be caught at its place; the sound histories that
// the breaches are made from must pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import { anthropicWire } from './anthropic-wire.ts';
import { checkHistory, MAX_SYSTEM_BYTES, RESULT_SLACK_BYTES } from './history-check.ts';
import { openaiWire } from './openai-wire.ts';
import { signatureOf } from './signature.ts';

type Json = Record<string, unknown>;

const WIRES = { anthropic: anthropicWire, openai: openaiWire };

function check(name: keyof typeof WIRES, body: Json): readonly string[] {
  const asked = { model: String(body['model']), body, query: '' };
  return checkHistory(WIRES[name].history(asked)).map(({ law, at, message }) => `${law} ${at}: ${message}`);
}

const TOO_LONG = 'x'.repeat(MAX_RESULT_BYTES + RESULT_SLACK_BYTES + 1);
const LONGEST = TOO_LONG.slice(1);

const user = (content: unknown): Json => ({ role: 'user', content });
const assistant = (content: unknown): Json => ({ role: 'assistant', content });
const text = (said: string): Json => ({ type: 'text', text: said });

// Anthropic

const use = (id: string, name = 'read', input: unknown = {}): Json => ({ type: 'tool_use', id, name, input });
const result = (id: string, content: unknown = 'ok'): Json => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const thinking = (signature: string): Json => ({ type: 'thinking', thinking: 'hm', signature });
const cached = { cache_control: { type: 'ephemeral' } };
const tool = (name: string): Json => ({ name, input_schema: { type: 'object' } });

function anthropic(messages: readonly Json[], fields: Json = {}): readonly string[] {
  return check('anthropic', { model: 'm', max_tokens: 1, messages, ...fields });
}

test('anthropic: a sound history passes', () => {
  const messages = [
    user('hello'),
    assistant([thinking(signatureOf('hm')), text('I look.'), use('a'), use('b', 'mcp__x-y__Z')]),
    user([result('a', LONGEST), result('b', [text('x'), { type: 'image' }]), text('and hurry')]),
    assistant([{ type: 'redacted_thinking', data: 'opaque' }, thinking('from-elsewhere'), use('c')]),
    user([{ type: 'tool_result', tool_use_id: 'c', is_error: true }]),
    assistant('Done.'),
    user([{ ...text('thanks'), ...cached }]),
  ];
  const system = [{ ...text('x'.repeat(MAX_SYSTEM_BYTES)), ...cached }];
  const tools = [
    tool('read'),
    { ...tool('mcp__x-y__Z'), ...cached },
    { type: 'bash_20250124', name: 'bash' },
  ];
  assert.deepEqual(anthropic(messages, { system, tools }), []);
});

const ANTHROPIC_BREACHES: Record<string, readonly [readonly Json[], Json, ...string[]]> = {
  'no message': [[], {}, '1 messages: there is no message'],
  'no model and no max_tokens': [
    [user('x')],
    { model: undefined, max_tokens: 0 },
    '1 model: the model is missing',
    '1 max_tokens: max_tokens is not a positive whole number',
  ],
  'the assistant first': [
    [assistant('x'), user('y')],
    {},
    '1 messages[0]: the first message is not from the user',
  ],
  'two user messages in a row': [[user('x'), user('y')], {}, '1 messages[1]: two user messages in a row'],
  'two assistant messages in a row': [
    [user('x'), assistant('y'), assistant('z')],
    {},
    '1 messages[2]: two assistant messages in a row',
  ],
  'a role of another wire': [
    [user('x'), { role: 'tool', content: 'y' }],
    {},
    '1 messages[1]: role "tool" is neither user nor assistant',
  ],
  'a call without a result at the end': [
    [user('x'), assistant([use('a')])],
    {},
    '1 messages[1].content[0]: call a has no result right after it',
  ],
  'a call without a result in the middle': [
    [user('x'), assistant([use('a'), use('b')]), user([result('a'), text('y')])],
    {},
    '1 messages[1].content[1]: call b has no result right after it',
  ],
  'a result that comes too late': [
    [user('x'), assistant([use('a')]), user('y'), assistant('z'), user([result('a')])],
    {},
    '1 messages[1].content[0]: call a has no result right after it',
    '1 messages[4].content[0]: result for a answers no open call',
  ],
  'results out of call order': [
    [user('x'), assistant([use('a'), use('b')]), user([result('b'), result('a')])],
    {},
    '1 messages[2].content[0]: result for b is not in call order',
  ],
  'two results for one call': [
    [user('x'), assistant([use('a')]), user([result('a'), result('a')])],
    {},
    '1 messages[2].content[1]: result for a answers no open call',
  ],
  'a result without a call': [
    [user([result('a')])],
    {},
    '1 messages[0].content[0]: the first message is not from the user',
    '1 messages[0].content[0]: result for a answers no open call',
  ],
  'a result behind other content': [
    [user('x'), assistant([use('a')]), user([text('y'), result('a')])],
    {},
    '1 messages[2].content[1]: a result comes after other content',
  ],
  'a call id used twice': [
    [user('x'), assistant([use('a')]), user([result('a')]), assistant([use('a')]), user([result('a')])],
    {},
    '1 messages[3].content[0]: call id a is used twice',
  ],
  'a call id with other characters': [
    [user('x'), assistant([use('a b')]), user([result('a b')])],
    {},
    '1 messages[1].content[0]: call id "a b" is not allowed',
  ],
  'an input that is no object': [
    [user('x'), assistant([use('a', 'read', '{}')]), user([result('a')])],
    {},
    '1 messages[1].content[0]: the input of call a is not an object',
  ],
  'a bad tool name in a call': [
    [user('x'), assistant([use('a', 'fs.read')]), user([result('a')])],
    {},
    '1 messages[1].content[0]: tool name "fs.read" is not allowed',
  ],
  'bad tools': [
    [user('x')],
    { tools: [tool('x'.repeat(65)), tool('a'), tool('a'), { name: 'b', input_schema: {} }] },
    '1 tools[3]: the input schema is not that of an object',
    `1 tools[0]: tool name "${'x'.repeat(65)}" is not allowed`,
    '1 tools[2]: tool a is offered twice',
  ],
  'an empty user text': [[user(' \n')], {}, '1 messages[0].content: the text block is empty'],
  'an empty text block': [
    [user('x'), assistant([text(''), use('a')]), user([result('a', [text('')])])],
    {},
    '1 messages[1].content[0]: the text block is empty',
    '1 messages[2].content[0].content[0]: the text block is empty',
  ],
  'an empty system block': [[user('x')], { system: [text('')] }, '1 system[0]: the text block is empty'],
  'messages without content': [
    [user([]), assistant([])],
    {},
    '1 messages[0]: the user message is empty',
    '1 messages[1]: the assistant message is empty',
  ],
  'a final assistant message that ends in white space': [
    [user('x'), assistant('y ')],
    {},
    '1 messages[1]: the final assistant message ends in white space',
  ],
  'thinking without a signature': [
    [user('x'), assistant([thinking(''), text('y')]), user('z')],
    {},
    '1 messages[1].content[0]: the thinking block has no signature',
  ],
  'thinking with the signature of other thinking': [
    [user('x'), assistant([thinking(signatureOf('ha')), text('y')]), user('z')],
    {},
    '1 messages[1].content[0]: the signature is not that of this thinking',
  ],
  'thinking as a cache breakpoint, and hidden thinking without data': [
    [
      user('x'),
      assistant([{ ...thinking('s'), ...cached }, { type: 'redacted_thinking' }, text('y')]),
      user('z'),
    ],
    {},
    '1 messages[1].content[0]: thinking cannot be a cache breakpoint',
    '1 messages[1].content[1]: the hidden thinking has no data',
  ],
  'blocks on the wrong side': [
    [user([use('a')]), assistant([result('a')])],
    {},
    '1 messages[0].content[0]: a user message cannot hold "tool_use"',
    '1 messages[1].content[0]: an assistant message cannot hold "tool_result"',
  ],
  'too many cache breakpoints': [
    [user(['a', 'b', 'c'].map((said) => ({ ...text(said), ...cached })))],
    { system: [{ ...text('s'), ...cached }], tools: [{ ...tool('t'), ...cached }] },
    '1 cache_control: 5 cache breakpoints, more than 4',
  ],
  'a result beyond the cap': [
    [user('x'), assistant([use('a')]), user([result('a', [text(LONGEST), text('y')])])],
    {},
    '5 messages[2].content[0]: the result has 52225 bytes, more than 52224',
  ],
  'a system prompt beyond the cap': [
    [user('x')],
    { system: 'x'.repeat(MAX_SYSTEM_BYTES + 1) },
    '5 system: the system prompt has 262145 bytes, more than 262144',
  ],
};

for (const [breach, [messages, fields, ...findings]] of Object.entries(ANTHROPIC_BREACHES)) {
  test(`anthropic: ${breach} is caught`, () => assert.deepEqual(anthropic(messages, fields), findings));
}

// OpenAI

const call = (id: string, name = 'read', json: unknown = '{}'): Json => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});
const calling = (...calls: readonly Json[]): Json => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
});
const answer = (id: string, content: unknown = 'ok'): Json => ({ role: 'tool', tool_call_id: id, content });
const offer = (name: string, parameters?: Json): Json => ({
  type: 'function',
  function: { name, parameters },
});

function openai(messages: readonly Json[], fields: Json = {}): readonly string[] {
  return check('openai', { model: 'm', messages, ...fields });
}

test('openai: a sound history passes', () => {
  const messages = [
    { role: 'system', content: 'x'.repeat(MAX_SYSTEM_BYTES) },
    user('hello'),
    user([text('and'), { type: 'image_url', image_url: { url: 'data:…' } }]),
    { ...calling(call('a'), call('b')), content: 'I look.' },
    answer('a', LONGEST),
    answer('b', [text('x')]),
    calling(call('c')),
    answer('c', ''),
    { role: 'assistant', content: null, refusal: 'no' },
    user('thanks'),
  ];
  assert.deepEqual(openai(messages, { tools: [offer('read', { type: 'object' }), offer('none')] }), []);
});

const OPENAI_BREACHES: Record<string, readonly [readonly Json[], Json, ...string[]]> = {
  'no message and no model': [
    [{ role: 'system', content: 's' }],
    { model: '' },
    '1 model: the model is missing',
    '1 messages: there is no message',
  ],
  'the assistant first': [
    [assistant('x'), user('y')],
    {},
    '1 messages[0]: the first message is not from the user',
  ],
  'a system prompt in the middle': [
    [user('x'), { role: 'developer', content: 'y' }],
    {},
    '1 messages[1]: the system prompt does not come first',
  ],
  'an unknown role': [
    [user('x'), { role: 'toolResult' }],
    {},
    '1 messages[1]: role "toolResult" is not known',
  ],
  'a call without a result': [
    [user('x'), calling(call('a'), call('b')), answer('a'), user('y')],
    {},
    '1 messages[1].tool_calls[1]: call b has no result right after it',
  ],
  'results out of call order': [
    [user('x'), calling(call('a'), call('b')), answer('b'), answer('a')],
    {},
    '1 messages[2]: result for b is not in call order',
  ],
  'a result without a call': [
    [user('x'), answer('a')],
    {},
    '1 messages[1]: result for a answers no open call',
  ],
  'two results for one call': [
    [user('x'), calling(call('a')), answer('a'), answer('a')],
    {},
    '1 messages[3]: result for a answers no open call',
  ],
  'a call id used twice': [
    [user('x'), calling(call('a')), answer('a'), calling(call('a')), answer('a')],
    {},
    '1 messages[3].tool_calls[0]: call id a is used twice',
  ],
  'arguments that are no JSON text': [
    [user('x'), calling(call('a', 'read', {}), call('b', 'read', '{"x":')), answer('a'), answer('b')],
    {},
    '1 messages[1].tool_calls[0]: the arguments of call a are not the JSON text of an object',
    '1 messages[1].tool_calls[1]: the arguments of call b are not the JSON text of an object',
  ],
  'a call without type, id and name': [
    [user('x'), calling({ function: { arguments: '{}' } }), answer('')],
    {},
    '1 messages[1].tool_calls[0]: the type of the call is not "function"',
    '1 messages[1].tool_calls[0]: the call has no id',
    '1 messages[1].tool_calls[0]: tool name "" is not allowed',
  ],
  'no calls in tool_calls': [[user('x'), calling()], {}, '1 messages[1]: tool_calls is an empty array'],
  'an empty assistant message': [
    [user('x'), assistant(' ')],
    {},
    '1 messages[1]: the assistant message is empty',
  ],
  'an empty user message': [[user('')], {}, '1 messages[0]: the user message is empty'],
  'an empty text part': [[user([text('')])], {}, '1 messages[0].content[0]: the text part is empty'],
  'a result without content': [
    [user('x'), calling(call('a')), answer('a', null)],
    {},
    '1 messages[2]: the result has no content',
  ],
  'bad tools': [
    [user('x')],
    { tools: [offer('a b'), offer('c', { type: 'string' }), { function: { name: 'd' } }] },
    '1 tools[1]: the parameters are not the schema of an object',
    '1 tools[2]: the type of the tool is not "function"',
    '1 tools[0]: tool name "a b" is not allowed',
  ],
  'an empty list of tools': [[user('x')], { tools: [] }, '1 tools: tools is an empty array'],
  'a result beyond the cap': [
    [user('x'), calling(call('a')), answer('a', TOO_LONG)],
    {},
    '5 messages[2]: the result has 52225 bytes, more than 52224',
  ],
  'a system prompt beyond the cap': [
    [{ role: 'system', content: 'é'.repeat(MAX_SYSTEM_BYTES / 2 + 1) }, user('x')],
    {},
    '5 system: the system prompt has 262146 bytes, more than 262144',
  ],
};

for (const [breach, [messages, fields, ...findings]] of Object.entries(OPENAI_BREACHES)) {
  test(`openai: ${breach} is caught`, () => assert.deepEqual(openai(messages, fields), findings));
}
