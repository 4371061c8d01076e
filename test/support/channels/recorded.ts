// Recorded events: one of every type for the total mappings, and the batches of a whole run.

import type { Display } from '../../../src/core/display.ts';
import type { Event, EventType, Outcome, RunEnd } from '../../../src/core/event.ts';
import type { AssistantContent, AssistantMessage, StopReason } from '../../../src/core/message.ts';
import { NO_USAGE, usageOf } from '../../../src/core/usage.ts';

export const PRICE = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

export const USAGE = usageOf({ input: 1000, output: 20, cacheRead: 500, cacheWrite: 100 }, PRICE);

export function assistant(
  content: readonly AssistantContent[],
  stopReason: StopReason = 'stop',
): AssistantMessage {
  return {
    role: 'assistant',
    content,
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-test',
    usage: USAGE,
    stopReason,
    timestamp: 1,
  };
}

export function runEnd(outcome: Outcome, more: Partial<RunEnd> = {}): RunEnd {
  return {
    type: 'runEnd',
    outcome,
    text: '',
    turns: 1,
    usage: USAGE,
    durationMs: 1500,
    apiMs: 1200,
    denials: [],
    ...more,
  };
}

export const RUN_START = {
  type: 'runStart',
  agent: 'crab',
  sender: 'cli:01J',
  session: '01JSESSION',
  cwd: '/work/project',
  model: { provider: 'anthropic', id: 'claude-test' },
  mode: 'default',
  tools: ['bash', 'edit'],
} as const satisfies Event;

const DENIED = {
  type: 'permissionDenied',
  id: 'call-2',
  tool: 'bash',
  input: { command: 'rm -rf /' },
  reason: 'deny rule Bash(rm *)',
} as const satisfies Event;

/** One event of each type. */
export const ONE_OF_EACH: { readonly [T in EventType]: Extract<Event, { type: T }> } = {
  jobFired: { type: 'jobFired', by: 'event', source: 'ci:failed' },
  runStart: RUN_START,
  scopeViolation: { type: 'scopeViolation', id: 'call-1', agent: 'scout', tool: 'bash' },
  agentWorkerStarted: {
    type: 'agentWorkerStarted',
    id: '01JT',
    callId: 'call-1',
    agent: 'worker',
    task: 'look',
  },
  agentWorkerCompleted: {
    type: 'agentWorkerCompleted',
    task: 'look',
    id: '01JT',
    agent: 'worker',
    outcome: 'done',
    result: 'Nothing there.',
    usage: usageOf({ input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }),
    durationMs: 1200,
  },
  memoryLoaded: { type: 'memoryLoaded', count: 2 },
  memorySaved: { type: 'memorySaved', name: 'build' },
  sessionResumed: { type: 'sessionResumed', session: '01JSESSION', messages: 4 },
  sessionSaved: { type: 'sessionSaved', session: '01JSESSION' },
  sessionNamed: { type: 'sessionNamed', session: '01JSESSION', name: 'Fix the parser' },
  contextUpgraded: {
    type: 'contextUpgraded',
    from: 'a/small',
    to: 'a/large',
    oldWindow: 100,
    newWindow: 200,
  },
  promptAccepted: { type: 'promptAccepted', message: { role: 'user', content: 'fix it', timestamp: 1 } },
  turnStart: { type: 'turnStart', turn: 1 },
  messageStart: { type: 'messageStart', id: 'msg_1', model: 'claude-test' },
  contentDelta: { type: 'contentDelta', index: 1, delta: 'Hello' },
  thinkingDelta: { type: 'thinkingDelta', index: 0, delta: 'Hm.' },
  toolUseStart: { type: 'toolUseStart', index: 2, id: 'call-1', name: 'bash' },
  toolUseDelta: { type: 'toolUseDelta', id: 'call-1', delta: '{"command":"ls"}' },
  contentBlockStop: { type: 'contentBlockStop', index: 2 },
  messageEnd: {
    type: 'messageEnd',
    message: assistant(
      [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Hello' },
        { type: 'toolCall', id: 'call-1', name: 'bash', arguments: { command: 'ls' } },
      ],
      'toolUse',
    ),
  },
  toolStart: {
    type: 'toolStart',
    id: 'call-1',
    name: 'bash',
    input: { command: 'ls' },
    display: { kind: 'command', command: 'ls' },
  },
  toolOutputDelta: { type: 'toolOutputDelta', id: 'call-1', delta: 'a.ts\n' },
  toolProgress: {
    type: 'toolProgress',
    id: 'call-1',
    display: { kind: 'progress', label: 'reading', done: 1, total: 3 },
  },
  toolResult: {
    type: 'toolResult',
    message: {
      role: 'toolResult',
      toolCallId: 'call-1',
      toolName: 'bash',
      content: [{ type: 'text', text: 'a.ts\n' }],
      isError: false,
      timestamp: 2,
    },
    display: { kind: 'command', command: 'ls', exitCode: 0, output: 'a.ts\n' },
    durationMs: 1234,
  },
  question: {
    type: 'question',
    question: {
      kind: 'permission',
      id: 'q1',
      callId: 'call-1',
      tool: 'bash',
      input: { command: 'ls' },
      display: { kind: 'command', command: 'ls', cwd: '/work/project' },
      reason: 'default mode asks before commands',
      rule: 'Bash(ls)',
    },
  },
  questionAnswered: { type: 'questionAnswered', id: 'q1', allowed: true },
  permissionDenied: DENIED,
  sandboxViolation: {
    type: 'sandboxViolation',
    id: 'call-2',
    tool: 'bash',
    what: 'write',
    target: '/etc/hosts',
    detail: '/etc/hosts is read-only in the sandbox.',
  },
  retry: {
    type: 'retry',
    attempt: 1,
    maxAttempts: 5,
    delayMs: 3000,
    status: 429,
    reason: 'rate limited',
    model: 'anthropic/claude-test',
  },
  requestEnd: {
    type: 'requestEnd',
    provider: 'anthropic',
    model: 'claude-test',
    cause: 'turn',
    outcome: 'done',
    usage: USAGE,
    priced: 'table',
    ttftMs: 400,
    durationMs: 1200,
    tokensPerSecond: 25,
  },
  recovery: { type: 'recovery', cause: 'outputLimit', attempt: 1, maxAttempts: 3, detail: 'asked to go on' },
  contextUsage: { type: 'contextUsage', tokens: 1600, window: 200_000 },
  notification: {
    type: 'notification',
    id: 'call-1',
    text: 'The report is done.',
    files: ['/work/project/report.pdf'],
    urgent: false,
  },
  compactStart: { type: 'compactStart', strategy: 'hybrid', tokensBefore: 900, messages: 12 },
  compactEnd: {
    type: 'compactEnd',
    outcome: 'done',
    tokensBefore: 900,
    tokensAfter: 200,
    removedMessages: 12,
    writtenBy: 'model',
    title: 'Fix the parser',
    archiveName: '2026-11-22 Fix the parser',
  },
  notice: { type: 'notice', level: 'warning', text: 'A torn line was set aside.' },
  commandResult: { type: 'commandResult', name: 'help', effect: { kind: 'text', text: 'Commands: …' } },
  shellStart: { type: 'shellStart', command: 'git status' },
  shellOutput: { type: 'shellOutput', delta: 'clean\n' },
  shellEnd: { type: 'shellEnd', command: 'git status', exitCode: 1, timedOut: false },
  runEnd: runEnd('done', { text: 'All done.', turns: 2, denials: [DENIED] }),
};

/** A run of two turns with thinking, two calls of which one is refused, and a retry; batches as they came. */
export const A_RUN: readonly (readonly Event[])[] = [
  [RUN_START],
  [ONE_OF_EACH.promptAccepted],
  [{ type: 'turnStart', turn: 1 }, ONE_OF_EACH.retry],
  [ONE_OF_EACH.messageStart, ONE_OF_EACH.thinkingDelta],
  [
    { type: 'contentBlockStop', index: 0 },
    { type: 'contentDelta', index: 1, delta: 'I will ' },
    { type: 'contentDelta', index: 1, delta: 'look.' },
    { type: 'contentBlockStop', index: 1 },
  ],
  [ONE_OF_EACH.toolUseStart, ONE_OF_EACH.toolUseDelta, ONE_OF_EACH.contentBlockStop],
  [
    ONE_OF_EACH.requestEnd,
    {
      type: 'messageEnd',
      message: assistant(
        [
          { type: 'thinking', thinking: 'Hm.', thinkingSignature: 'sig' },
          { type: 'text', text: 'I will look.' },
          { type: 'toolCall', id: 'call-1', name: 'bash', arguments: { command: 'ls' } },
          { type: 'toolCall', id: 'call-2', name: 'bash', arguments: { command: 'rm -rf /' } },
        ],
        'toolUse',
      ),
    },
  ],
  [ONE_OF_EACH.toolStart, DENIED],
  [ONE_OF_EACH.toolOutputDelta],
  [ONE_OF_EACH.toolResult],
  [{ type: 'turnStart', turn: 2 }],
  [{ type: 'messageStart', id: 'msg_2', model: 'claude-test' }],
  [{ type: 'contentDelta', index: 0, delta: 'All ' }],
  [{ type: 'contentDelta', index: 0, delta: 'done.' }],
  [
    { ...ONE_OF_EACH.requestEnd, durationMs: 1000 },
    { type: 'messageEnd', message: assistant([{ type: 'text', text: 'All done.' }]) },
  ],
  [ONE_OF_EACH.contextUsage, ONE_OF_EACH.runEnd],
];

/** One display of each kind. */
export const DISPLAYS: { readonly [K in Display['kind']]: Extract<Display, { kind: K }> } = {
  command: { kind: 'command', command: 'npm test', exitCode: 0, output: 'ok\nok\n' },
  diff: { kind: 'diff', path: 'src/a.ts', diff: '@@ -1 +1 @@\n-old\n+new\n same\n', added: 1, removed: 1 },
  file: { kind: 'file', path: 'src/a.ts', text: 'one\ntwo\n', firstLine: 10, lines: 2 },
  matches: { kind: 'matches', title: 'TODO in src', count: 2, truncated: true, lines: ['a:1', 'b:2'] },
  table: {
    kind: 'table',
    columns: ['name', 'size'],
    rows: [
      ['a', '1'],
      ['long', '22'],
    ],
  },
  todo: {
    kind: 'todo',
    items: [
      { text: 'read', state: 'done' },
      { text: 'write', state: 'active' },
      { text: 'test', state: 'pending' },
    ],
  },
  markdown: { kind: 'markdown', text: '# Title\n\nText\n' },
  image: { kind: 'image', mimeType: 'image/png', path: 'shot.png' },
  progress: { kind: 'progress', label: 'downloading', done: 3, total: 10 },
  subrun: { kind: 'subrun', agent: 'research', task: 'find the bug\nin parser' },
};

export function noUsageEnd(outcome: Outcome, more: Partial<RunEnd> = {}): RunEnd {
  return runEnd(outcome, { usage: NO_USAGE, ...more });
}
