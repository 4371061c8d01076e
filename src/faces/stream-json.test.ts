import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { Ajv } from 'ajv';
import { A_RUN, assistant, ONE_OF_EACH, RUN_START, runEnd } from '../../test/support/channels/recorded.ts';
import { numbered } from '../../test/support/channels/scripted.ts';
import { STREAM_JSON_LINE } from '../../test/support/channels/stream-json-schema.ts';
import type { Event, EventType } from '../core/event.ts';
import { createStreamJson } from './stream-json.ts';

const isLine = new Ajv({ strict: true, allowUnionTypes: true }).compile(STREAM_JSON_LINE);

function lines(batches: readonly (readonly Event[])[], includePartial = false, replayUser = false): object[] {
  const face = createStreamJson({ uuid: numbered(), commands: ['help'], includePartial, replayUser });
  const text = batches.map((batch) => face.lines(batch)).join('');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}

/** `type`, or `type/subtype`, or for streamed events their own type. */
function kind(line: object): string {
  const { type, subtype, event } = line as { type: string; subtype?: string; event?: { type: string } };
  return event ? event.type : subtype ? `${type}/${subtype}` : type;
}

const PLAIN: Readonly<Record<EventType, readonly string[]>> = {
  runStart: ['system/init'],
  promptAccepted: [],
  turnStart: [],
  messageStart: [],
  contentDelta: [],
  thinkingDelta: [],
  toolUseStart: [],
  toolUseDelta: [],
  contentBlockStop: [],
  messageEnd: ['assistant'],
  toolStart: [],
  toolOutputDelta: [],
  toolProgress: [],
  toolResult: ['user'],
  question: ['system/question'],
  questionAnswered: ['system/question_answered'],
  permissionDenied: ['system/permission_denied'],
  sandboxViolation: ['system/sandbox_violation'],
  retry: ['system/api_retry'],
  requestEnd: ['system/request_end'],
  recovery: ['system/recovery'],
  contextUsage: ['system/context_usage'],
  compactStart: ['system/compact_start'],
  compactEnd: ['system/compact_boundary'],
  scopeViolation: ['system/scope_violation'],
  agentWorkerStarted: ['system/task_started'],
  agentWorkerCompleted: ['system/task_notification'],
  memoryLoaded: ['system/memory_loaded'],
  jobFired: ['system/job_fired'],
  memorySaved: ['system/memory_saved'],
  sessionResumed: ['system/session_resumed'],
  sessionSaved: [],
  sessionNamed: ['system/session_named'],
  contextUpgraded: ['system/context_upgraded'],
  notification: ['system/notification'],
  notice: ['system/notice'],
  commandResult: ['system/local_command_output'],
  shellStart: [],
  shellOutput: [],
  shellEnd: ['system/local_command_output'],
  runEnd: ['result/success'],
};

const REQUEST = {
  provider: 'anthropic',
  model: 'claude-test',
  cause: 'turn',
  outcome: 'done',
  error_status: null,
  usage: {
    input_tokens: 1000,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 500,
    output_tokens: 20,
  },
  cost_usd: 0.003825,
  priced: 'table',
  ttft_ms: 400,
  duration_ms: 1200,
  tokens_per_second: 25,
};

const WITH_PARTIAL: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  messageStart: ['message_start'],
  contentDelta: ['content_block_start', 'content_block_delta'],
  thinkingDelta: ['content_block_start', 'content_block_delta'],
  toolUseStart: ['content_block_start'],
  toolStart: ['system/tool_start'],
  toolOutputDelta: ['system/tool_output'],
  toolProgress: ['system/tool_progress'],
  shellOutput: ['system/shell_output'],
};

suite('stream-json', () => {
  for (const type of Object.keys(PLAIN) as EventType[]) {
    test(`${type} has its lines`, () => {
      assert.deepEqual(lines([[ONE_OF_EACH[type]]]).map(kind), PLAIN[type]);
      assert.deepEqual(lines([[ONE_OF_EACH[type]]], true).map(kind), WITH_PARTIAL[type] ?? PLAIN[type]);
    });
  }

  test('a strict reader of the format accepts every line of every event', () => {
    const all = [
      ...lines(A_RUN, true, true),
      ...Object.values(ONE_OF_EACH).flatMap((event) => lines([[event]], true)),
    ];
    assert.ok(all.length > 50, `${all.length} lines`);
    for (const line of all)
      assert.ok(isLine(line), `${JSON.stringify(line)}\n${JSON.stringify(isLine.errors)}`);
  });

  test('the strict reader refuses a line that lacks what readers index', () => {
    for (const field of ['uuid', 'session_id', 'duration_api_ms', 'permission_denials']) {
      const line: Record<string, unknown> = { ...lines([[ONE_OF_EACH.runEnd]])[0] };
      delete line[field];
      assert.equal(isLine(line), false, field);
    }
    assert.equal(isLine({ type: 'tool_start', session_id: 's', uuid: 'u' }), false);
  });

  test('a run reads as the format has it', () => {
    const usage = {
      input_tokens: 1000,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 500,
      output_tokens: 20,
    };
    const id = (number: number) => ({ session_id: '01JSESSION', uuid: `uuid-${number}` });
    const message = { type: 'message', role: 'assistant', model: 'claude-test', stop_sequence: null, usage };
    assert.deepEqual(lines(A_RUN), [
      {
        type: 'system',
        subtype: 'init',
        cwd: '/work/project',
        tools: ['bash', 'edit'],
        mcp_servers: [],
        model: 'claude-test',
        provider: 'anthropic',
        permissionMode: 'default',
        slash_commands: ['help'],
        apiKeySource: 'none',
        output_style: 'default',
        agents: ['crab'],
        skills: [],
        plugins: [],
        ...id(1),
      },
      {
        type: 'system',
        subtype: 'api_retry',
        attempt: 1,
        max_retries: 4,
        retry_delay_ms: 3000,
        error_status: 429,
        error: 'rate_limit',
        reason: 'rate limited',
        ...id(2),
      },
      {
        type: 'assistant',
        message: {
          id: 'msg_1',
          ...message,
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
            { type: 'text', text: 'I will look.' },
            { type: 'tool_use', id: 'call-1', name: 'bash', input: { command: 'ls' } },
            { type: 'tool_use', id: 'call-2', name: 'bash', input: { command: 'rm -rf /' } },
          ],
          stop_reason: 'tool_use',
        },
        parent_tool_use_id: null,
        ...id(4),
      },
      { type: 'system', subtype: 'request_end', ...REQUEST, ...id(3) },
      {
        type: 'system',
        subtype: 'permission_denied',
        tool_name: 'bash',
        tool_use_id: 'call-2',
        tool_input: { command: 'rm -rf /' },
        reason: 'deny rule Bash(rm *)',
        ...id(5),
      },
      {
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call-1', content: 'a.ts\n', is_error: false }],
        },
        parent_tool_use_id: null,
        ...id(6),
      },
      {
        type: 'assistant',
        message: {
          id: 'msg_2',
          ...message,
          content: [{ type: 'text', text: 'All done.' }],
          stop_reason: 'end_turn',
        },
        parent_tool_use_id: null,
        ...id(8),
      },
      { type: 'system', subtype: 'request_end', ...REQUEST, duration_ms: 1000, ...id(7) },
      { type: 'system', subtype: 'context_usage', tokens: 1600, window: 200_000, ...id(9) },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        duration_ms: 1500,
        duration_api_ms: 1200,
        num_turns: 2,
        result: 'All done.',
        stop_reason: 'end_turn',
        total_cost_usd: 0.003825,
        usage,
        modelUsage: {
          'claude-test': {
            inputTokens: 2000,
            outputTokens: 40,
            cacheReadInputTokens: 1000,
            cacheCreationInputTokens: 200,
            webSearchRequests: 0,
            costUSD: 0.00765,
            contextWindow: 200_000,
          },
        },
        permission_denials: [
          { tool_name: 'bash', tool_use_id: 'call-2', tool_input: { command: 'rm -rf /' } },
        ],
        exit_code: 0,
        ...id(10),
      },
    ]);
  });

  test('partial messages open and close every block, with the whole message before the last two', () => {
    const kinds = lines(A_RUN, true).map(kind);
    const first = kinds.slice(kinds.indexOf('message_start'), kinds.indexOf('message_stop') + 1);
    assert.deepEqual(first, [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'assistant',
      'message_delta',
      'message_stop',
    ]);
  });

  test('a message that was cut short is closed before the result', () => {
    const cut: Event[] = [RUN_START, ONE_OF_EACH.messageStart, ONE_OF_EACH.contentDelta, runEnd('cancelled')];
    assert.deepEqual(lines([cut], true).map(kind), [
      'system/init',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'result/error_during_execution',
    ]);
  });

  test('a result that comes before its message has ended is held until the call is told', () => {
    const early: Event[] = [
      RUN_START,
      ONE_OF_EACH.messageStart,
      ONE_OF_EACH.toolStart,
      ONE_OF_EACH.toolResult,
      ONE_OF_EACH.messageEnd,
      runEnd('done'),
    ];
    const kinds = lines([early]).map(kind);
    assert.deepEqual(kinds, ['system/init', 'assistant', 'user', 'result/success']);
  });

  test('a prompt is repeated only when asked for', () => {
    assert.deepEqual(lines([[RUN_START, ONE_OF_EACH.promptAccepted]], false, true).slice(1), [
      {
        type: 'user',
        message: { role: 'user', content: 'fix it' },
        parent_tool_use_id: null,
        isReplay: true,
        session_id: '01JSESSION',
        uuid: 'uuid-2',
      },
    ]);
  });

  test('images in a result are blocks', () => {
    const { message } = ONE_OF_EACH.toolResult;
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
    const event: Event = { ...ONE_OF_EACH.toolResult, message: { ...message, content: [image] } };
    const [line] = lines([[event]]) as { message: { content: { content: unknown }[] } }[];
    assert.deepEqual(line?.message.content[0]?.content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
  });

  test('line separators inside a text do not break the line for a line reader', async () => {
    const face = createStreamJson({
      uuid: numbered(),
      commands: [],
      includePartial: false,
      replayUser: false,
    });
    const text = 'one\u2028two\u2029three\nfour';
    const output = face.lines([{ type: 'messageEnd', message: assistant([{ type: 'text', text }]) }]);
    const read: string[] = [];
    for await (const line of createInterface({ input: Readable.from([output]) })) read.push(line);
    assert.equal(read.length, 1);
    assert.deepEqual(JSON.parse(read[0] ?? '').message.content, [{ type: 'text', text }]);
  });

  test('what a command or a shell line printed is its result, and is forgotten with the run', () => {
    const shell: Event[] = [RUN_START, ONE_OF_EACH.shellOutput, ONE_OF_EACH.shellEnd, runEnd('command')];
    const [, output, result, second] = lines([shell, [runEnd('command')]]) as Record<string, unknown>[];
    assert.equal(output?.['content'], 'clean\n');
    assert.equal(result?.['result'], 'clean\n');
    assert.equal(second?.['result'], '');
  });
});
