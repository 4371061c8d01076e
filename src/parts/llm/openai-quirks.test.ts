import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { AssistantContent, Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { createOpenAiWire } from './openai-chat.ts';
import { explain } from './openai-errors.ts';
import { OPENAI_CHAT } from './openai-providers.ts';
import { QUIRK_NAMES, quirksFromSettings } from './openai-quirk-settings.ts';
import { type OpenAiQuirks, quirksFor } from './openai-quirks.ts';
import { assistant, modelRequest, user } from './testing.ts';

function wireWith(quirks: OpenAiQuirks) {
  return createOpenAiWire({
    provider: 'acme',
    model: 'm',
    baseUrl: new URL('https://acme.example/v1'),
    facts: {},
    dialect: { wire: 'openai-completions', quirks },
    random: () => 0.5,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(quirks: OpenAiQuirks, fields: Partial<ModelRequest>): any {
  return JSON.parse(
    Buffer.concat(wireWith(quirks).encode(modelRequest({ model: 'm', ...fields }))).toString(),
  );
}

const LS: ToolSchema = { name: 'ls', description: 'Lists.', input: { type: 'object' } };
const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,aWNv' } };
const PDF = { type: 'document', data: 'JVBERg', mimeType: 'application/pdf', name: 'a.pdf' } as const;

function own(...content: readonly AssistantContent[]): Message {
  return assistant(content, { api: 'openai-completions', provider: 'acme', model: 'm' });
}
function call(id: string): AssistantContent {
  return { type: 'toolCall', id, name: 'ls', arguments: {} };
}
function result(id: string, ...content: Extract<Message, { role: 'toolResult' }>['content']): Message {
  return { role: 'toolResult', toolCallId: id, toolName: 'ls', content, isError: false, timestamp: 0 };
}
const text = (words: string) => ({ type: 'text', text: words }) as const;
const thinking = (words: string): AssistantContent => ({ type: 'thinking', thinking: words });

test('the system prompt is said by who may say it', () => {
  for (const role of ['developer', 'user'] as const)
    assert.deepEqual(bodyOf({ systemRole: role }, { system: 'Be good.' }).messages[0], {
      role,
      content: 'Be good.',
    });
});

test('an answer of a certain shape is asked for, strictly where the schema is strict', () => {
  const strict = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  } as const;
  const loose = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object' } } },
    required: ['a'],
    additionalProperties: false,
  } as const;
  for (const [schema, isStrict] of [
    [strict, true],
    [loose, false],
  ] as const)
    assert.deepEqual(bodyOf({}, { output: { name: 'answer', schema } }).response_format, {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: isStrict },
    });
  const output = { name: 'answer', schema: strict };
  assert.deepEqual(bodyOf({ responseFormat: 'json_object' }, { output }).response_format, {
    type: 'json_object',
  });
  assert.equal(bodyOf({ responseFormat: 'none' }, { output }).response_format, undefined);
});

test('images stand within a result where they may', () => {
  const messages = [user('x'), own(call('a')), result('a', text('one'), PNG)];
  assert.deepEqual(bodyOf({ resultImages: true }, { messages }).messages.slice(2), [
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'one' }, PNG_PART] },
  ]);
});

test('what a model cannot be shown is left out with a note', () => {
  const messages: Message[] = [
    { role: 'user', content: [text('See'), PNG, PDF], timestamp: 0 },
    own(call('a')),
    result('a', PNG),
  ];
  const image = '[An image (image/png) is left out: this model cannot be shown it.]';
  const document = '[a.pdf (application/pdf) is left out: this model cannot be shown it.]';
  assert.deepEqual(
    bodyOf({ images: false }, { messages }).messages.map(({ content }: { content: unknown }) => content),
    [`See\n${image}\n${document}`, null, image],
  );
  assert.deepEqual(bodyOf({ documents: true }, { messages: messages.slice(0, 1) }).messages[0].content, [
    { type: 'text', text: 'See' },
    PNG_PART,
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg' } },
  ]);
});

test('a word of the assistant stands between a result and the user, also before images', () => {
  const messages = [
    user('x'),
    own(call('a')),
    result('a', PNG),
    user('y'),
    own(call('b')),
    result('b', text('z')),
    user('!'),
  ];
  const roles = bodyOf({ assistantAfterResult: true }, { messages }).messages.map(
    ({ role }: { role: string }) => role,
  );
  assert.deepEqual(roles, [
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
});

test('strictness, parallel calls and storage are spoken of where they have to be', () => {
  const { tools, parallel_tool_calls, store } = bodyOf(
    { looseTools: true, parallelCalls: false, refuseStore: true },
    { tools: [LS] },
  );
  assert.deepEqual([tools[0].function.strict, parallel_tool_calls, store], [false, false, false]);
  assert.equal('parallel_tool_calls' in bodyOf({ parallelCalls: true }, {}), false);
});

test('ids of calls that are too long are shortened, each to its own', () => {
  const long = (end: string) => `call_${'x'.repeat(60)}|fc_${end}`;
  const messages = [
    user('x'),
    own(call(long('a')), call(long('b')), call('c'.repeat(40))),
    result(long('a'), text('1')),
    result(long('b'), text('2')),
  ];
  const [, answer, first, second] = bodyOf({}, { messages }).messages;
  const ids = answer.tool_calls.map(({ id }: { id: string }) => id);
  assert.deepEqual([first.tool_call_id, second.tool_call_id, 'c'.repeat(40)], ids);
  assert.equal(new Set(ids).size, 3);
  for (const id of ids) assert.match(id, /^[\w-]{1,40}$/);
});

test('ids of nine letters and digits are kept, others become such', () => {
  const ids = ['abcDEF123', 'call_1', 'call_2', ''];
  const sent = bodyOf(
    { callIds: 'nine' },
    { messages: [user('x'), own(...ids.map(call))] },
  ).messages[1].tool_calls.map(({ id }: { id: string }) => id);
  assert.equal(sent[0], 'abcDEF123');
  assert.equal(new Set(sent).size, 4);
  for (const id of sent) assert.match(id, /^[a-zA-Z0-9]{9}$/);
});

suite('thinking', () => {
  const THOUGHT = own(thinking('Hm.'), text('Yes.'));
  const FOREIGN = assistant([thinking('Foreign.'), call('a')]);

  test('of this provider is given back, that of another is not', () => {
    const messages = [user('x'), THOUGHT, user('y'), FOREIGN, result('a', text('1'))];
    const answers = (quirks: OpenAiQuirks) =>
      bodyOf(quirks, { messages }).messages.filter(({ role }: { role: string }) => role === 'assistant');
    const calls = [{ id: 'a', type: 'function', function: { name: 'ls', arguments: '{}' } }];
    const plain = { role: 'assistant', content: null, tool_calls: calls };
    assert.deepEqual(answers({ replayThinking: 'reasoning' }), [
      { role: 'assistant', content: 'Yes.', reasoning: 'Hm.' },
      plain,
    ]);
    assert.deepEqual(answers({ replayThinking: 'reasoning_content', thinkingRequired: true }), [
      { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' },
      { ...plain, reasoning_content: '' },
    ]);
    assert.deepEqual(answers({ replayThinking: 'think_tags' })[0].content, '<think>\nHm.\n</think>\n\nYes.');
    assert.deepEqual(answers({})[0], { role: 'assistant', content: 'Yes.' });
  });

  test('details go back to the model that they came from, unless they are damaged', () => {
    const details = [{ type: 'reasoning.encrypted', index: 0, data: 'x' }];
    const signed = (signature: string, model: string): Message =>
      assistant(
        [{ type: 'thinking', thinking: '', thinkingSignature: signature, redacted: true }, text('Yes.')],
        {
          api: 'openai-completions',
          provider: 'acme',
          model,
        },
      );
    const sent = (message: Message) =>
      bodyOf({ replayThinking: 'reasoning_details' }, { messages: [user('x'), message, user('y')] })
        .messages[1];
    assert.deepEqual(sent(signed(JSON.stringify(details), 'm')).reasoning_details, details);
    for (const message of [signed(JSON.stringify(details), 'other'), signed('[{', 'm'), signed('sig', 'm')])
      assert.deepEqual(sent(message), { role: 'assistant', content: 'Yes.' });
  });
});

test('marks of the cache stand on the system prompt and the last two turns, and move on with the conversation', () => {
  const messages: Message[] = [user('x')];
  const wire = wireWith({ cacheMarks: true });
  const marked = () => {
    const bytes = Buffer.concat(wire.encode(modelRequest({ model: 'm', system: 's', messages }))).toString();
    const sent: readonly { readonly content: unknown }[] = JSON.parse(bytes).messages;
    const fresh = bodyOf({ cacheMarks: true }, { system: 's', messages: [...messages] }).messages;
    assert.deepEqual(sent, fresh, 'what is remembered makes no difference');
    return sent.flatMap(({ content }, at) => (JSON.stringify(content).includes('cache_control') ? [at] : []));
  };
  assert.deepEqual(marked(), [0, 1]);
  messages.push(own(call('a'), call('b')), result('a', text('1')), result('b', text('2')));
  assert.deepEqual(marked(), [0, 1, 4]);
  messages.push(own(call('c')), result('c', PNG));
  assert.deepEqual(marked(), [0, 4, 6]);
  messages.push(own(text('Yes.')), user('y'));
  assert.deepEqual(marked(), [0, 6, 9]);
});

test('the words of servers that imitate the API are understood', () => {
  const cases: readonly (readonly [body: unknown, message: string, code?: string])[] = [
    [
      { error: { code: 400, message: 'too long', type: 'exceed_context_size_error', n_ctx: 4096 } },
      'too long',
      'context-overflow',
    ],
    [{ error: { message: 'no money', type: 'exceeded_current_quota_error' } }, 'no money', 'quota-exhausted'],
    [{ error: { code: '1113', message: 'no money' } }, 'no money', 'quota-exhausted'],
    [
      {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: 'bad tool', provider_name: 'X' },
        },
      },
      'Provider returned error: bad tool',
    ],
    [
      {
        object: 'error',
        message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs' }] },
      },
      'body.store: Extra inputs',
    ],
    [
      { detail: [{ loc: ['body', 'messages'], msg: 'Field required' }, null] },
      'body.messages: Field required',
    ],
  ];
  for (const [body, message, code] of cases) {
    const said = explain(body);
    assert.deepEqual([said?.message, said?.code], [message, code]);
  }
});

test('quirks of a model and of an address join those of the row, the last word counting', () => {
  const at = (url: string, model: string) => quirksFor(OPENAI_CHAT, model, new URL(url));
  const official = {
    maxTokensField: 'max_completion_tokens',
    refuseStore: true,
    cacheField: 'prompt_cache_key',
    documents: true,
    responseFormat: 'json_schema',
  };
  assert.deepEqual(at('https://api.openai.com/v1', 'gpt-4.1'), { ...official, fastTier: 'priority' });
  assert.deepEqual(at('https://eu.api.openai.com/v1', 'gpt-5.1'), {
    ...official,
    fastTier: 'priority',
    systemRole: 'developer',
    efforts: { off: 'none', max: 'high' },
  });
  assert.deepEqual(at('https://me.openai.azure.com/openai/v1', 'gpt-4.1'), official);
  for (const url of ['http://localhost:11434/v1', 'http://127.0.0.1:8080', 'http://[::1]/v1'])
    assert.deepEqual(at(url, 'qwen3'), { thinkTags: true, textCalls: true });
  for (const url of ['https://openai.com.example/v1', 'https://notopenai.com', 'https://localhost.example/'])
    assert.deepEqual(at(url, 'gpt-oss'), {});
});

suite('quirks in settings', () => {
  test('are read by their names', () => {
    const read = quirksFromSettings(
      {
        maxTokensField: 'none',
        streamUsage: false,
        efforts: 'off=none, max = xhigh,low=',
        costPerUsd: '1e10',
        path: '/chat',
      },
      'providers.acme.quirks',
    );
    assert.deepEqual(read, {
      maxTokensField: 'none',
      streamUsage: false,
      efforts: { off: 'none', max: 'xhigh', low: '' },
      costPerUsd: 1e10,
      path: '/chat',
    });
    assert.equal(QUIRK_NAMES.length, 30);
  });

  for (const [given, message, hint] of [
    [{ max: 'x' }, 'q.max is no quirk of Chat Completions.', /^There are path, max_tokens_field, /],
    [{ constructor: 'x' }, 'q.constructor is no quirk of Chat Completions.', /^There are /],
    [{ streamUsage: 'no' }, 'q.streamUsage is "no", which it cannot be.', /^It is true or false\.$/],
    [{ callIds: 'ten' }, 'q.callIds is "ten", which it cannot be.', /^It is one of any, nine\.$/],
    [
      { efforts: 'most=x' },
      'q.efforts is "most=x", which it cannot be.',
      /^It is a list such as "off=none, max=xhigh"/,
    ],
    [{ costPerUsd: '0' }, 'q.costPerUsd is "0", which it cannot be.', /^It is a number above zero/],
    [{ path: true }, 'q.path is true, which it cannot be.', /^It is a text\.$/],
  ] as const) {
    test(`that make no sense are refused: ${JSON.stringify(given)}`, () => {
      assert.throws(
        () => quirksFromSettings({ ...given }, 'q'),
        (thrown) => {
          assert.ok(thrown instanceof CrabError);
          assert.deepEqual([thrown.code, thrown.message], ['usage', message]);
          assert.match(thrown.hint, hint);
          return true;
        },
      );
    });
  }
});
