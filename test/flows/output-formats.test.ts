// What a program reads: the three formats as the binary writes them, and that none of them calls a failure a success.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import {
  type FlowWire,
  journey,
  type Line,
  linesOf,
  MODELS,
  onEachWire,
  onlySession,
  resultOf,
  steady,
  THROUGH_DAEMON,
} from '../support/journey.ts';
import { result } from '../support/spoken.ts';

const USAGE = { input: 1000, output: 20, cacheRead: 500, cacheWrite: 0 };

/** US dollars for one answer with `USAGE`, by the price lists of the two models. */
const COST: Readonly<Record<FlowWire, number>> = {
  anthropic: (1000 * 3 + 20 * 15 + 500 * 0.3) / 1e6,
  openai: (1000 * 1.25 + 20 * 10 + 500 * 0.125) / 1e6,
};

const API_USAGE = {
  input_tokens: 1000,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 500,
  output_tokens: 20,
};

const READ: Reply = {
  text: 'I read it.',
  calls: [{ name: 'read', input: { path: 'a.txt' } }],
  usage: USAGE,
};

const DONE: Reply = { text: 'It says hello.', usage: USAGE };

const FILES = { 'a.txt': 'hello\n' };

const WINDOWS: Readonly<Record<FlowWire, number>> = { anthropic: 200_000, openai: 400_000 };

function doubled<Key extends string>(counts: Readonly<Record<Key, number>>): Record<Key, number> {
  return Object.fromEntries(Object.entries<number>(counts).map(([key, count]) => [key, 2 * count])) as Record<
    Key,
    number
  >;
}

/** The result of `READ` and `DONE`. */
function expectedResult(wire: FlowWire, session: string): Line {
  const cost = COST[wire] + COST[wire];
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    num_turns: 2,
    result: 'It says hello.',
    stop_reason: 'end_turn',
    session_id: session,
    total_cost_usd: cost,
    usage: doubled(API_USAGE),
    modelUsage: {
      [MODELS[wire]]: {
        inputTokens: 2000,
        outputTokens: 40,
        cacheReadInputTokens: 1000,
        cacheCreationInputTokens: 0,
        webSearchRequests: 0,
        costUSD: cost,
        contextWindow: WINDOWS[wire],
      },
    },
    permission_denials: [],
    exit_code: 0,
  };
}

/** Sums of fractions differ in their last digit with the order of their summands. */
function rounded(line: Line): Line {
  return JSON.parse(JSON.stringify(line), (_key, value) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) : value,
  );
}

/** A request's times, which differ from run to run, are checked for what they must be. */
function withoutTimes(line: Line): Line {
  if (line['subtype'] !== 'request_end') return line;
  const { ttft_ms, tokens_per_second, ...rest } = line;
  assert.ok(Number(ttft_ms) >= 0 && Number(tokens_per_second) > 0, JSON.stringify(line));
  return rest;
}

onEachWire('text: the last answer, with one line end', async (wire) => {
  const script = [READ, { text: 'two\nlines\n\n' }];
  await using at = await journey(wire, { script, files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'text']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'two\nlines\n', stderr: '' });
});

onEachWire('json: one object with what it cost', async (wire) => {
  await using at = await journey(wire, { script: [READ, DONE], files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'json']);
  const { header } = await onlySession(at);
  assert.deepEqual(
    { code: exit.code, stderr: exit.stderr, lines: linesOf(exit).length },
    { code: 0, stderr: '', lines: 1 },
  );
  assert.deepEqual(rounded(steady(resultOf(exit))), rounded(expectedResult(wire, header.id)));
});

onEachWire('stream-json: one line for each thing that happened', async (wire) => {
  await using at = await journey(wire, { script: [READ, DONE], files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'stream-json']);
  const { header } = await onlySession(at);
  const session_id = header.id;
  const message = (content: object[], stop_reason: string, id: number) => ({
    type: 'assistant',
    message: {
      id: ids[id],
      type: 'message',
      role: 'assistant',
      model: MODELS[wire],
      content,
      stop_reason,
      stop_sequence: null,
      usage: API_USAGE,
    },
    parent_tool_use_id: null,
    session_id,
  });
  const lines = linesOf(exit).map(steady).map(withoutTimes);
  const ids = lines.flatMap((line) => (line['type'] === 'assistant' ? [Object(line['message']).id] : []));
  const context = {
    type: 'system',
    subtype: 'context_usage',
    tokens: 1520,
    window: WINDOWS[wire],
    session_id,
  };
  const request = {
    type: 'system',
    subtype: 'request_end',
    provider: wire,
    model: MODELS[wire],
    cause: 'turn',
    outcome: 'done',
    error_status: null,
    usage: API_USAGE,
    cost_usd: COST[wire],
    priced: 'table',
    session_id,
  };
  const tool_result = { type: 'tool_result', tool_use_id: 'call_1_1', content: '1\thello', is_error: false };
  assert.deepEqual(lines.map(rounded), [
    {
      type: 'system',
      subtype: 'init',
      cwd: at.work.path,
      tools: [
        'read',
        'write',
        'edit',
        'grep',
        'find',
        'ls',
        'bash',
        'web_fetch',
        'remember',
        'recall',
        'todo_write',
        'exit_plan_mode',
        'delegate',
        'tool_search',
      ],
      mcp_servers: [],
      model: MODELS[wire],
      provider: wire,
      permissionMode: 'default',
      slash_commands: [
        'help',
        'tools',
        'handoff',
        'new',
        'fork',
        'clone',
        'tree',
        'label',
        'move',
        'name',
        'title',
        'model',
        'effort',
        'fast',
        'mode',
        'permissions',
        'add-dir',
        'trust',
        'status',
        'usage',
        'compact',
        'uncompact',
        'learn',
        'consolidate',
        'context',
        'rewind',
        'redo',
        'history',
        'jobs',
      ],
      apiKeySource: wire === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY',
      output_style: 'default',
      agents: ['crab'],
      skills: [],
      plugins: [],
      session_id,
    },
    message(
      [
        { type: 'text', text: 'I read it.' },
        { type: 'tool_use', id: 'call_1_1', name: 'read', input: { path: 'a.txt' } },
      ],
      'tool_use',
      0,
    ),
    rounded(request),
    context,
    { type: 'user', message: { role: 'user', content: [tool_result] }, parent_tool_use_id: null, session_id },
    message([{ type: 'text', text: 'It says hello.' }], 'end_turn', 1),
    rounded(request),
    context,
    rounded(expectedResult(wire, header.id)),
  ]);
});

onEachWire('partial messages: what arrives adds up to the message that it becomes', async (wire) => {
  const script = [{ ...READ, chunk: 3 }, DONE];
  await using at = await journey(wire, { script, files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'stream-json', '--include-partial-messages']);
  assert.equal(exit.code, 0);
  const events = linesOf(exit).flatMap(({ type, event }) => (type === 'stream_event' ? [event as Line] : []));
  const first = events.slice(0, events.findIndex(({ type }) => type === 'message_stop') + 1);
  const { content, deltas } = rebuilt(first);
  assert.deepEqual(content, [
    { type: 'text', text: 'I read it.' },
    { type: 'tool_use', id: 'call_1_1', name: 'read', input: { path: 'a.txt' } },
  ]);
  // A daemon passes on as one piece what it got at once: here one for each block.
  assert.ok(deltas >= (THROUGH_DAEMON ? 2 : 5), `only ${deltas} deltas`);
  const stops = events.filter(({ type }) => type === 'message_delta');
  assert.deepEqual(
    stops.map(({ delta }) => delta),
    [
      { stop_reason: 'tool_use', stop_sequence: null },
      { stop_reason: 'end_turn', stop_sequence: null },
    ],
  );
  const kinds = linesOf(exit).map(({ type, subtype }) => (type === 'system' ? subtype : type));
  assert.ok(kinds.indexOf('assistant') < kinds.indexOf('tool_start'), 'a call stands before its start');
});

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly input?: unknown;
}

/** Puts blocks together as a reader of the streaming API does: each opened once, filled while open, closed once. */
function rebuilt(events: readonly Line[]): { readonly content: readonly Block[]; readonly deltas: number } {
  assert.equal(events[0]?.['type'], 'message_start');
  const content: Block[] = [];
  const json: string[] = [];
  let deltas = 0;
  let open: number | undefined;
  for (const event of events.slice(1, -2)) {
    const index = Number(event['index']);
    if (event['type'] === 'content_block_start') {
      assert.deepEqual([open, index], [undefined, content.length]);
      content.push({ ...(event['content_block'] as Block) });
      json.push('');
      open = index;
    } else if (event['type'] === 'content_block_delta') {
      assert.equal(index, open);
      const { text = '', partial_json = '' } = event['delta'] as { text?: string; partial_json?: string };
      const block = content[index] ?? assert.fail();
      if (block.type === 'text') content[index] = { ...block, text: (block.text ?? '') + text };
      json[index] += partial_json;
      deltas++;
    } else {
      assert.deepEqual([event['type'], index], ['content_block_stop', open]);
      const block = content[index] ?? assert.fail();
      if (block.type === 'tool_use') content[index] = { ...block, input: JSON.parse(json[index] ?? '') };
      open = undefined;
    }
  }
  assert.equal(open, undefined, 'a block is left open');
  return { content, deltas };
}

const OVERLOADED = { status: 529, message: 'Too much to do.' };

onEachWire('what was billed over retries is what the result says', async (wire) => {
  const busy = { status: 429, headers: { 'retry-after': '0' } };
  const script = [{ ...READ, fault: busy, times: 2 }, DONE];
  await using at = await journey(wire, { script, files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'json']);
  const { header } = await onlySession(at);
  assert.equal(at.asked().length, 4);
  assert.deepEqual(rounded(steady(resultOf(exit))), rounded(expectedResult(wire, header.id)));
});

onEachWire('an answer that broke off counts as far as the provider told its cost', async (wire) => {
  const script = [READ, { text: 'It says'.repeat(200), chunk: 10, usage: USAGE, fault: { cutAfter: 2000 } }];
  await using at = await journey(wire, { script, files: FILES });
  const exit = await at.run(['-p', 'look', '--output-format', 'json']);
  const { usage, total_cost_usd, is_error, exit_code } = resultOf(exit);
  assert.deepEqual({ is_error, exit_code, code: exit.code }, { is_error: true, exit_code: 8, code: 8 });
  // The Anthropic wire tells what the prompt cost at the start of an answer, the OpenAI wire all at its end.
  const told = wire === 'anthropic' ? { ...API_USAGE, output_tokens: 1 } : undefined;
  const counted = usage as typeof API_USAGE;
  assert.equal(counted.input_tokens, told === undefined ? 1000 : 2000);
  assert.equal(counted.cache_read_input_tokens, told === undefined ? 500 : 1000);
  assert.ok(Number(total_cost_usd) >= COST[wire]);
});

const FAILURES: readonly {
  readonly name: string;
  readonly script: readonly Reply[];
  readonly args?: readonly string[];
  readonly exit: number;
  readonly code: string;
  readonly subtype: string;
}[] = [
  {
    name: 'a provider that says no',
    script: [{ fault: { status: 401, message: 'Who are you?' } }],
    exit: 3,
    code: 'auth-refused',
    subtype: 'error_during_execution',
  },
  {
    name: 'a provider that stays busy',
    script: [{ fault: OVERLOADED }],
    exit: 4,
    code: 'provider-overloaded',
    subtype: 'error_during_execution',
  },
  {
    name: 'too many turns',
    script: [{ ...READ, repeat: 9 }],
    args: ['--max-turns', '2'],
    exit: 53,
    code: 'turn-limit',
    subtype: 'error_max_turns',
  },
  {
    name: 'a budget that is used up',
    script: [{ ...READ, repeat: 9 }],
    args: ['--max-budget-usd', '0.0001'],
    exit: 5,
    code: 'budget-exhausted',
    subtype: 'error_max_budget_usd',
  },
  {
    name: 'a model that refuses',
    script: [{ fault: { refuse: true } }],
    exit: 1,
    code: 'content-refused',
    subtype: 'error_during_execution',
  },
];

for (const { name, script, args = [], exit: status, code, subtype } of FAILURES)
  onEachWire(`${name} is an error in every format`, async (wire) => {
    await using at = await journey(wire, { script, files: FILES });
    const env = { CRAB_MAX_RETRIES: '0' };
    for (const format of ['json', 'stream-json']) {
      const exit = await at.run(['-p', 'look', '--output-format', format, ...args], { env });
      const { type, is_error, exit_code, subtype: kind, error } = resultOf(exit);
      assert.deepEqual(
        { code: exit.code, type, is_error, exit_code, kind, error: (error as { code: string }).code },
        { code: status, type: 'result', is_error: true, exit_code: status, kind: subtype, error: code },
      );
      assert.ok(exit.stderr.includes(`[${code}]`), exit.stderr);
    }
    const text = await at.run(['-p', 'look', ...args], { env });
    assert.equal(text.code, status);
    assert.match(text.stderr, new RegExp(`^crab: .+ \\[${code}\\]\\n.+\\n$`));
  });

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, lines: { type: 'integer' } },
  required: ['name', 'lines'],
  additionalProperties: false,
};

const VALUE = { name: 'a.txt', lines: 1 };

const answer = (input: Readonly<Record<string, unknown>>): Reply => ({
  calls: [{ name: 'structured_output', input }],
});

onEachWire('--json-schema: a wrong value is put right, and the value is the result', async (wire) => {
  const script = [answer({ name: 'a.txt', lines: 'many' }), answer(VALUE)];
  await using at = await journey(wire, { script });
  const args = ['-p', 'count', '--json-schema', JSON.stringify(SCHEMA), '--output-format', 'json'];
  const exit = await at.run(args);
  const { is_error, structured_output, num_turns } = resultOf(exit);
  assert.deepEqual(
    { code: exit.code, is_error, structured_output, num_turns },
    { code: 0, is_error: false, structured_output: VALUE, num_turns: 2 },
  );
  assert.deepEqual(
    at.asked().at(-1)?.messages.at(-1),
    result('call_1_1', 'The arguments do not fit structured_output: /lines must be integer, not string.'),
  );
});

onEachWire('--json-schema @FILE: text mode prints the value alone', async (wire) => {
  const files = { 'schema.json': JSON.stringify(SCHEMA) };
  await using at = await journey(wire, { script: [answer(VALUE)], files });
  const exit = await at.run(['-p', 'count', '--json-schema', '@schema.json']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: `${JSON.stringify(VALUE)}\n`, stderr: '' });
});

test('--json-schema: a model that only talks is made to call the tool', async () => {
  await using at = await journey('openai', { script: [{ text: 'One line.' }, answer(VALUE)] });
  const args = ['-p', 'count', '--model', 'gpt-4o-unknown', '--json-schema', JSON.stringify(SCHEMA)];
  const exit = await at.run([...args, '--output-format', 'json']);
  assert.deepEqual(resultOf(exit)['structured_output'], VALUE);
  const choice = at.provider.requests.at(-1)?.body?.['tool_choice'];
  assert.deepEqual(choice, { type: 'function', function: { name: 'structured_output' } });
});

test('--json-schema: one that answers in a shape is asked to, and its text is the value', async () => {
  const script = [{ text: 'One line.' }, { text: 'One.' }, { text: JSON.stringify(VALUE) }];
  await using at = await journey('anthropic', { script });
  const exit = await at.run([
    '-p',
    'count',
    '--json-schema',
    JSON.stringify(SCHEMA),
    '--output-format',
    'json',
  ]);
  assert.deepEqual(resultOf(exit)['structured_output'], VALUE);
  const bodies = at.provider.requests
    .map(({ body }) => body)
    .filter((body) => body?.['messages'] !== undefined);
  assert.deepEqual(
    bodies.map((body) => [body?.['tool_choice'], Object(Object(body?.['output_config']).format).type]),
    [
      [undefined, undefined],
      [undefined, 'json_schema'],
      [undefined, 'json_schema'],
    ],
  );
});

onEachWire('--json-schema: a value of another kind than an object comes out as it is', async (wire) => {
  const schema = { type: 'array', items: { type: 'integer' } };
  await using at = await journey(wire, { script: [answer({ value: [1, 2, 3] })] });
  const exit = await at.run(['-p', 'count', '--json-schema', JSON.stringify(schema)]);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: '[1,2,3]\n', stderr: '' });
});

onEachWire('--json-schema: a model that never gives the value has failed', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'One line.', repeat: 9 }] });
  const exit = await at.run([
    '-p',
    'count',
    '--json-schema',
    JSON.stringify(SCHEMA),
    '--output-format',
    'json',
  ]);
  const { is_error, exit_code, subtype, structured_output } = resultOf(exit);
  assert.deepEqual(
    { code: exit.code, is_error, exit_code, subtype, structured_output },
    {
      code: 1,
      is_error: true,
      exit_code: 1,
      subtype: 'error_max_structured_output_retries',
      structured_output: undefined,
    },
  );
});

onEachWire('a schema that cannot be read is refused before anything is sent', async (wire) => {
  await using at = await journey(wire, { script: [] });
  for (const schema of ['{"type":', '@missing.json', '[]']) {
    const exit = await at.run(['-p', 'count', '--json-schema', schema]);
    assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 2, stdout: '' });
    assert.match(exit.stderr, /--json-schema/);
  }
  assert.deepEqual(at.asked(), []);
});

onEachWire('a format that does not exist is refused with the nearest that does', async (wire) => {
  await using at = await journey(wire, { script: [] });
  const exit = await at.run(['-p', 'look', '--output-format', 'jsn']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 2, stdout: '' });
  assert.match(exit.stderr, /--output-format jsn is not known\. \[usage\]\nDid you mean json\?/);
});
