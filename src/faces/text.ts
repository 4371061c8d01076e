// Events as text for people: tool calls, results, waits, refusals, notices and errors. Every event has its
// answer here; a channel decides which of them it shows, and to which stream they go.

import type { ErrorData } from '../core/errors.ts';
import type {
  AgentWorkerCompleted,
  CompactEnd,
  Event,
  Notification,
  PermissionDenied,
  Recovery,
  RequestEnd,
  RunEnd,
} from '../core/event.ts';
import { messageText } from '../core/message.ts';
import type { ModelRetry } from '../core/model.ts';
import { duration } from './amounts.ts';
import { details, firstLine, headline, outcome, showsBody } from './display-text.ts';
import { errorOf } from './exit-code.ts';
import { type Paint, paintFor } from './paint.ts';
import { questionText } from './question-text.ts';
import { visible, visibleLine } from './visible.ts';

/** What a terminal rings at. */
export const BELL = String.fromCharCode(7);

export interface Look {
  readonly colour: boolean;
}

/**
 * The text of one event; empty for what does not show. Text that streams (answers, thinking, output) comes
 * as it is and may end anywhere; everything else is whole lines with their line ends.
 */
export function eventText(event: Event, look: Look): string {
  const paint = paintFor(look.colour);
  switch (event.type) {
    case 'contentDelta':
    case 'shellOutput':
      return visible(event.delta);
    case 'thinkingDelta':
    case 'toolOutputDelta':
      return paint.dim(visible(event.delta));
    case 'runStart':
      return event.guest === undefined ? '' : `${paint.cyan('@')} ${paint.bold(visibleLine(event.guest))}\n`;
    case 'jobFired':
    case 'promptAccepted':
    case 'turnStart':
    case 'messageStart':
    case 'messageEnd':
    case 'toolUseStart':
    case 'toolUseDelta':
    case 'contentBlockStop':
    case 'questionAnswered':
    case 'contextUsage':
    case 'agentWorkerStarted':
    case 'memoryLoaded':
    case 'memorySaved':
    case 'sessionResumed':
    case 'sessionSaved':
    case 'sessionNamed':
      return '';
    case 'scopeViolation':
      return `${paint.yellow('⊘')} ${visibleLine(event.tool)} is outside the scope of ${visibleLine(event.agent)}\n`;
    case 'agentWorkerCompleted':
      return workerText(event, paint);
    case 'contextUpgraded':
      return `${paint.dim('·')} ${visibleLine(event.to)} takes ${event.newWindow} tokens, ${event.oldWindow} before\n`;
    case 'compactStart':
      return `${paint.cyan('⇊')} Compacting the conversation: ${event.messages} messages\n`;
    case 'compactEnd':
      return compactedText(event, paint);
    case 'toolStart':
      return `${paint.cyan('●')} ${paint.bold(visibleLine(event.name))} ${headline(event.display, paint)}\n`;
    case 'toolProgress':
      return `  ${paint.dim(`… ${headline(event.display, paint)}`)}\n`;
    case 'toolResult':
      return resultText(event, paint);
    case 'question':
      return questionText(event.question, look.colour);
    case 'permissionDenied':
      return deniedText(event, paint);
    case 'sandboxViolation':
      return `${paint.yellow('⊘')} ${visibleLine(event.tool)}: ${visibleLine(event.detail, 500)}\n`;
    case 'retry':
      return `${paint.yellow('↻')} ${retryText(event)}\n`;
    case 'requestEnd':
      return `${paint.dim(`  ${requestText(event)}`)}\n`;
    case 'recovery':
      return `${paint.yellow('↻')} ${recoveryText(event)}\n`;
    case 'notification':
      return notificationText(event, paint);
    case 'notice':
      return noticeText(event.level, event.text, paint);
    case 'commandResult':
      return commandText(event, paint);
    case 'shellStart':
      return `${paint.cyan('$')} ${visibleLine(event.command)}\n`;
    case 'shellEnd':
      return shellEndText(event, paint);
    case 'runEnd':
      return endText(event, look);
  }
}

/** What happened, why, and what to do about it. */
export function errorText(error: ErrorData, look: Look): string {
  const paint = paintFor(look.colour);
  const message = visible(error.message.trim());
  // A message that repeats the hint says nothing new in its second line.
  const hint = message.includes(error.hint) ? '' : `${visible(error.hint)}\n`;
  return `${paint.red('crab:')} ${message} ${paint.dim(`[${error.code}]`)}\n${hint}`;
}

/** Everything in it, since it is meant for the person. */
function notificationText({ text, files }: Notification, paint: Paint): string {
  const [first = '', ...more] = visible(text.trim()).split('\n');
  const lines = [first, ...more.map((line) => `  ${line}`)].filter((line) => line.trim() !== '');
  const paths = files.map((path) => `  ${paint.cyan(visibleLine(path, Infinity))}`);
  return `${paint.cyan('✉')} ${[...lines, ...paths].join('\n').trimStart()}\n`;
}

function retryText(retry: ModelRetry): string {
  const { reason, status, delayMs, attempt, maxAttempts } = retry;
  const code = status === undefined || reason.includes(String(status)) ? '' : ` (${status})`;
  const what = attempt === 0 ? 'asking' : 'trying again';
  return `${visibleLine(reason).replace(/\.$/, '')}${code}, ${what} in ${duration(delayMs)}, ${attempt + 1} of ${maxAttempts}`;
}

/** One line of the bill: `openai/gpt-5.1 turn: 1200 in (500 cached), 80 out, $0.0012, first after 0.4 s, 62 tokens/s`. */
function requestText(request: RequestEnd): string {
  const { usage, ttftMs, tokensPerSecond, outcome } = request;
  const read = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead > 0 ? ` (${usage.cacheRead} cached)` : '';
  const parts = [
    `${read} in${cached}`,
    `${usage.output} out`,
    request.priced === 'unknown' ? 'price unknown' : `$${usage.cost.total.toFixed(4)}`,
    ...(ttftMs === undefined ? [] : [`began after ${duration(ttftMs)}`]),
    ...(tokensPerSecond === undefined ? [] : [`${Math.round(tokensPerSecond)} tokens/s`]),
  ];
  const status = request.status === undefined ? '' : ` (${request.status})`;
  const ending = outcome === 'done' ? '' : ` ${outcome}${status}`;
  return `${visibleLine(`${request.provider}/${request.model}`)}, ${request.cause}${ending}: ${parts.join(', ')}`;
}

function endText(end: RunEnd, look: Look): string {
  const error = errorOf(end);
  return error === undefined ? '' : errorText(error, look);
}

/** Lines of a body that somebody who looks on is shown. */
const BODY_LINES = 40;

/** Lines of a failed command's output: its last ones say why. */
const OUTPUT_LINES = 10;

function resultText(event: Extract<Event, { type: 'toolResult' }>, paint: Paint): string {
  const { message, display } = event;
  const name = visibleLine(message.toolName);
  const mark = message.isError ? paint.red('✗') : paint.green('✓');
  const told = display === undefined ? '' : outcome(display, paint);
  // What has no picture of its own has said what it did in its first line.
  const speaks = told === '' && (message.isError || display === undefined);
  const said = speaks ? visibleLine(firstLine(messageText(message))) : told;
  const summary = said === '' ? '' : ` ${said}`;
  const head = `  ${mark} ${name}${summary} ${paint.dim(`(${duration(event.durationMs)})`)}\n`;
  if (display === undefined || !showsBody(display, message.isError)) return head;
  return head + bodyText(details(display, paint), display.kind === 'command', paint);
}

function bodyText(lines: readonly string[], fromEnd: boolean, paint: Paint): string {
  const limit = fromEnd ? OUTPUT_LINES : BODY_LINES;
  const left = lines.length - limit;
  const shown = left <= 0 ? lines : fromEnd ? lines.slice(-limit) : lines.slice(0, limit);
  const body = shown.map((line) => `    ${line}\n`).join('');
  if (left <= 0) return body;
  const missing = `    ${paint.dim(`… ${left} more lines`)}\n`;
  return fromEnd ? missing + body : body + missing;
}

function deniedText(denied: PermissionDenied, paint: Paint): string {
  return `${paint.yellow('⊘')} ${visibleLine(denied.tool)} was refused: ${visibleLine(denied.reason, 500)}\n`;
}

const CAUSES: Readonly<Record<Recovery['cause'], string>> = {
  promptTooLong: 'the conversation is too long for the model',
  outputLimit: 'the answer reached its limit',
  fallbackModel: 'the model is not available',
  stopHook: 'sent back to work',
};

function recoveryText(recovery: Recovery): string {
  const { cause, detail, attempt, maxAttempts } = recovery;
  const more = detail === '' ? '' : `: ${visibleLine(detail, 500)}`;
  return `${CAUSES[cause]}${more} (${attempt} of ${maxAttempts})`;
}

function compactedText(end: CompactEnd, paint: Paint): string {
  if (end.outcome !== 'done')
    return `${paint.yellow('✗')} The conversation is as it was: nothing was compacted\n`;
  const { tokensBefore, tokensAfter, removedMessages, title = '' } = end;
  const before = tokensBefore === 0 ? '' : `${tokensBefore} → `;
  const size = `${before}about ${tokensAfter} tokens`;
  return `${paint.green('✓')} ${removedMessages} messages summarised, ${size}: ${visibleLine(title)}\n`;
}

function workerText(event: AgentWorkerCompleted, paint: Paint): string {
  const { agent, task, outcome, usage, durationMs } = event;
  const mark = outcome === 'done' ? paint.green('✓') : paint.red('✗');
  const how = outcome === 'done' ? '' : ` ${outcome}`;
  return `  ${mark} ${visibleLine(`${agent}: ${task}`)}${how} ${paint.dim(`(${duration(durationMs)}, ${usage.totalTokens} tokens)`)}\n`;
}

function noticeText(level: 'info' | 'warning', text: string, paint: Paint): string {
  const mark = level === 'warning' ? paint.yellow('!') : paint.dim('·');
  return `${mark} ${visible(text.trimEnd())}\n`;
}

function commandText(event: Extract<Event, { type: 'commandResult' }>, paint: Paint): string {
  const { effect } = event;
  switch (effect.kind) {
    case 'text':
    case 'session':
      return effect.text === '' ? '' : `${visible(effect.text.trimEnd())}\n`;
    case 'error':
      return `${paint.red('✗')} ${visible(effect.message.trimEnd())}\n`;
    case 'channel':
      return '';
  }
}

function shellEndText(event: Extract<Event, { type: 'shellEnd' }>, paint: Paint): string {
  if (event.timedOut) return `${paint.red('✗')} stopped: it took too long\n`;
  if (event.exitCode === 0) return '';
  const why = event.exitCode === null ? 'ended by a signal' : `exit ${event.exitCode}`;
  return `${paint.red('✗')} ${why}\n`;
}
