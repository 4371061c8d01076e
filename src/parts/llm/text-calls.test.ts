import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ToolSchema } from '../../core/model.ts';
import { TextCalls } from './text-calls.ts';

const TOOLS: readonly ToolSchema[] = [
  {
    name: 'ls',
    description: 'Lists.',
    input: { type: 'object', properties: { path: { type: 'string' }, deep: { type: 'boolean' } } },
  },
  {
    name: 'write',
    description: 'Writes.',
    input: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } } },
  },
];

interface Outcome {
  readonly text: string;
  readonly calls: readonly (readonly [name: string, input: object])[];
}

/** What is shown and found of an answer that comes in these pieces. */
function outcomeOf(...pieces: readonly string[]): Outcome {
  const calls = new TextCalls(TOOLS);
  const text = pieces.map((piece) => calls.push(piece)).join('') + calls.end();
  return { text, calls: calls.found.map(({ name, input }) => [name, input]) };
}

const LS = ['ls', { path: 'src' }] as const;
const BOTH = [LS, ['ls', { path: '.' }]] as const;
const MARKUP = ['write', { path: 'a.html', content: '<b>\n"x"</b>' }] as const;

/** One line for each way of printing a call that a family of models has. */
const GOLDEN: readonly (readonly [family: string, answer: string, expected: Outcome])[] = [
  [
    'Hermes and Qwen',
    'I look.\n<tool_call>\n{"name": "ls", "arguments": {"path": "src"}}\n</tool_call>',
    { text: 'I look.\n', calls: [LS] },
  ],
  [
    'Hermes, twice',
    '<tool_call>{"name":"ls","arguments":{"path":"src"}}</tool_call>\n<tool_call>{"name":"ls","arguments":{"path":"."}}</tool_call>\n',
    { text: '', calls: BOTH },
  ],
  [
    'Hermes without its end',
    '<tool_call>\n{"name": "ls", "arguments": {"path": "src"}}\n',
    { text: '', calls: [LS] },
  ],
  [
    'Hermes with the end in a string',
    '<tool_call>{"name":"ls","arguments":{"path":"</tool_call>"}}</tool_call>',
    { text: '', calls: [['ls', { path: '</tool_call>' }]] },
  ],
  [
    'Qwen Coder',
    'So:\n<tool_call>\n<function=write>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n<b>\n"x"</b>\n</parameter>\n</function>\n</tool_call>',
    { text: 'So:\n', calls: [MARKUP] },
  ],
  [
    'Qwen Coder without its frame, and a value that is no text',
    '<function=ls>\n<parameter=path>\n5\n</parameter>\n<parameter=deep>\ntrue\n</parameter>\n</function>',
    { text: '', calls: [['ls', { path: '5', deep: true }]] },
  ],
  [
    'GLM',
    '<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>',
    { text: '', calls: [LS] },
  ],
  ['Llama 3.1', 'Well. <function=ls>{"path": "src"}</function>', { text: 'Well. ', calls: [LS] }],
  ['Llama 3.2', '{"name": "ls", "parameters": {"path": "src"}}', { text: '', calls: [LS] }],
  [
    'Llama 3.2, several',
    '\n{"name":"ls","parameters":{"path":"src"}}; {"name":"ls","parameters":{"path":"."}}',
    { text: '', calls: BOTH },
  ],
  [
    'Llama 3 with its mark',
    '<|python_tag|>{"type":"function","name":"ls","parameters":{"path":"src"}}<|eom_id|>',
    { text: '', calls: [LS] },
  ],
  [
    'Mistral',
    'Fine.[TOOL_CALLS][{"name": "ls", "arguments": {"path": "src"}}, {"name":"ls","arguments":{"path":"."}}]</s>',
    { text: 'Fine.', calls: BOTH },
  ],
  [
    'Mistral since 2025',
    '[TOOL_CALLS]ls[ARGS]{"path": "src"}[TOOL_CALLS]ls[CALL_ID]ab12cd34e[ARGS]{"path":"."}',
    { text: '', calls: BOTH },
  ],
  [
    'a code block of JSON',
    'I will do this:\n```json\n{\n  "name": "ls",\n  "arguments": {"path": "src"}\n}\n```\n',
    { text: 'I will do this:\n', calls: [LS] },
  ],
  [
    'a code block with OpenAI’s list',
    '```\n{"tool_calls":[{"function":{"name":"ls","arguments":"{\\"path\\":\\"src\\"}"}}]}\n```',
    { text: '', calls: [LS] },
  ],
  [
    'a code block of its own name',
    '```tool_call\n{"tool": "ls", "input": {"path": "src"}}\n```',
    { text: '', calls: [LS] },
  ],
  [
    'DeepSeek V3.1',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{"path": "src"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{"path":"."}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { text: '', calls: BOTH },
  ],
  [
    'DeepSeek R1',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{"path": "src"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { text: '', calls: [LS] },
  ],
  [
    'Kimi K2',
    'Ok<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path": "src"}<|tool_call_end|><|tool_calls_section_end|>',
    { text: 'Ok', calls: [LS] },
  ],
  [
    'MiniMax',
    '<minimax:tool_call>\n<invoke name="ls">\n<parameter name="path">src</parameter>\n</invoke>\n</minimax:tool_call>',
    { text: '', calls: [LS] },
  ],
  [
    'Claude’s pupils',
    '<function_calls><invoke name="write"><parameter name="path">a.html</parameter><parameter name="content"><b>\n"x"</b></parameter></invoke></function_calls>',
    { text: '', calls: [MARKUP] },
  ],
  [
    'Phi and Granite',
    '<|tool_call|>[{"name": "ls", "arguments": {"path": "src"}}]<|/tool_call|>',
    { text: '', calls: [LS] },
  ],
];

suite('a call that was printed', () => {
  for (const [family, answer, expected] of GOLDEN) {
    test(`${family}: is a call, however the text is cut`, () => {
      assert.deepEqual(outcomeOf(answer), expected);
      assert.deepEqual(outcomeOf(...answer), expected, 'a character at a time');
      for (let cut = 1; cut < answer.length; cut++)
        assert.deepEqual(outcomeOf(answer.slice(0, cut), answer.slice(cut)), expected, `cut at ${cut}`);
    });
  }

  for (const [family, answer] of GOLDEN) {
    test(`${family}: is text when no tool of that name is offered`, () => {
      const other = answer.replaceAll(/\b(?:ls|write)\b/g, 'unknown');
      const { text, calls } = outcomeOf(...other);
      assert.deepEqual({ text, calls }, { text: other.trimStart(), calls: [] });
    });
  }

  test('text after a call is shown, blank lines around it are not', () => {
    assert.deepEqual(
      outcomeOf('\n\n', '<tool_call>{"name":"ls","arguments":{"path":"src"}}</tool_call>\n\nDone.'),
      {
        text: 'Done.',
        calls: [LS],
      },
    );
  });

  test('all calls of one list count, or none of them', () => {
    const answer = '[TOOL_CALLS][{"name":"ls","arguments":{}},{"name":"rm","arguments":{}}]';
    assert.deepEqual(outcomeOf(answer), { text: answer, calls: [] });
  });
});

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['prose with marks', 'If a < b and c[0] is `x`, then ``y`` and 3 < 4 [sic].'],
  ['a tag in backticks', 'Write `<tool_call>{"name":"ls","arguments":{}}</tool_call>` to call.'],
  ['an example in a code block', '```xml\n<tool_call>{"name":"ls","arguments":{}}</tool_call>\n```\nSo.'],
  ['a code block of JSON that is no call', '```json\n{"name": "crab", "version": "1.0.0"}\n```\nIs it.'],
  ['two code blocks', '```ts\nf<T>(a[0]);\n```\nand\n```json\n{"scripts": {}}\n```'],
  ['JSON that is no call', '{"answer": 42}'],
  ['JSON that begins like one', '{"name": "ls", "arguments": 5}'],
  ['a list', '[1, 2, 3]'],
  ['a link', '[name](http://x/) and <b>bold</b>'],
  ['a call that breaks off', 'So <tool_call>\n{"name": "ls", "argum'],
  ['a tag that is another', '<tool_calling> is no word'],
  ['an opening at the very end', 'x <'],
  ['backticks at the very end', 'x ``'],
  ['four backticks', '````md\n```json\n{}\n```\n````'],
];

suite('text that is no call', () => {
  for (const [what, text] of TEXTS) {
    test(`${what} stays as it was, however it is cut`, () => {
      assert.deepEqual(outcomeOf(text), { text, calls: [] });
      assert.deepEqual(outcomeOf(...text), { text, calls: [] }, 'a character at a time');
      for (let cut = 1; cut < text.length; cut++)
        assert.deepEqual(
          outcomeOf(text.slice(0, cut), text.slice(cut)),
          { text, calls: [] },
          `cut at ${cut}`,
        );
    });
  }

  test('is shown as it comes, and held back only while it may be a call', () => {
    const calls = new TextCalls(TOOLS);
    const shown = ['One', ' two <', 'b> ', '```json\n', '{"a":', ' 1}\n```'].map((piece) =>
      calls.push(piece),
    );
    assert.deepEqual(shown, ['One', ' two ', '<b> ', '', '```json\n{"a":', ' 1}\n```']);
  });

  for (const piece of ['<tool_call>{"name":', '</tool_call>', '```json\n{"name":']) {
    test(`a model that repeats ${JSON.stringify(piece)} is not followed for ever`, () => {
      const text = `<tool_call>{"name":${piece.repeat(40_000)}`;
      assert.deepEqual(outcomeOf(text), { text, calls: [] });
      assert.deepEqual(outcomeOf(...(text.match(/.{1,100}/gs) ?? [])), { text, calls: [] });
    });
  }

  test('what never ends is shown in the end, whole', () => {
    const calls = new TextCalls(TOOLS);
    const pieces = ['<tool_call>{"name":"ls","arguments":{"path":"', ...Array(2000).fill('x'.repeat(1000))];
    const text = pieces.map((piece) => calls.push(piece)).join('') + calls.end();
    assert.equal(text, pieces.join(''));
    assert.deepEqual(calls.found, []);
  });
});
