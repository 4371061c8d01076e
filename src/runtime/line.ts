// One line of input, carried to its end: a command, a shell line, or a prompt for the model. Whatever it was, the
// events come out in one stream that ends with `runEnd`, and nothing is thrown.

import type { Effect } from '../core/command.ts';
import type { ShellRecord } from '../core/custom.ts';
import { asCrabError, CrabError, messageOf, ToolFailure } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { CommandContext, Control } from '../core/extension.ts';
import { MAX_PROMPT_BYTES } from '../core/limits.ts';
import { type UserMessage, userMessage } from '../core/message.ts';
import type { Prompt } from '../core/platform.ts';
import { runEnd } from '../core/run-end.ts';
import { Outbox } from '../engine/outbox.ts';
import { type Route, route, suggestions } from '../engine/route.ts';
import type { UserShell } from '../parts/shell/user-shell.ts';
import type { Catalogue } from './catalogue.ts';
import type { Conversation } from './conversation.ts';
import { commandBlock } from './history.ts';
import type { RuntimeHost } from './host.ts';
import { offeredTools } from './offered-tools.ts';
import { runPrompt } from './run.ts';
import type { Surroundings } from './subrun.ts';

export interface Line {
  readonly host: RuntimeHost;
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
  readonly userShell: UserShell;
  readonly prompt: Prompt;
  readonly signal: AbortSignal;
  /** Where the conversations of tasks are opened. */
  readonly surroundings: Surroundings;
}

export async function* runLine(line: Line): AsyncGenerator<readonly Event[], void> {
  const startedAt = line.host.clock.monotonic();
  let release: (() => void) | undefined;
  try {
    checkPrompt(line.prompt);
    release = await line.conversation.turns.take(line.signal);
    const { text, plain, guest, trigger } = line.prompt;
    if (trigger !== undefined) yield [{ type: 'jobFired', ...trigger }];
    const forModel = plain === true || guest !== undefined;
    const to: Route = forModel ? { to: 'model', text } : route(text, line.catalogue.commandNames);
    yield* runThere(line, to, startedAt);
  } catch (thrown) {
    const error = asCrabError(thrown);
    const outcome = error.code === 'interrupted' ? 'cancelled' : 'failed';
    yield [runEnd(outcome, { error, durationMs: line.host.clock.monotonic() - startedAt })];
  } finally {
    release?.();
  }
}

/** In the folder that the prompt names, and back again; a tool that has gone elsewhere meanwhile is left there. */
async function* runThere(line: Line, to: Route, startedAt: number): AsyncGenerator<readonly Event[], void> {
  const { conversation, host, prompt } = line;
  const before = conversation.cwd;
  const { cwd = before } = prompt;
  if (cwd === before) return yield* runRoute(line, to, startedAt);
  const info = await host.files.info(cwd).catch((cause: unknown) => {
    throw new CrabError('cwd-missing', messageOf(cause), { cause });
  });
  if (info?.kind !== 'directory') throw new CrabError('cwd-missing', `${cwd} is not a folder.`);
  const there = await host.files.resolve(cwd);
  conversation.goTo(there);
  try {
    yield* runRoute(line, to, startedAt);
  } finally {
    if (conversation.cwd === there) conversation.goTo(before === conversation.home ? undefined : before);
  }
}

function checkPrompt({ text, attachments }: Prompt): void {
  if (text.trim() === '' && (attachments ?? []).length === 0)
    throw new CrabError('input-empty', 'The prompt is empty.');
  // A text of n UTF-16 units has at least n bytes, and at most three times as many.
  if (text.length * 3 <= MAX_PROMPT_BYTES) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_PROMPT_BYTES)
    throw new CrabError(
      'input-too-large',
      `The prompt has ${bytes} bytes; the limit is ${MAX_PROMPT_BYTES}.`,
    );
}

async function* runRoute(line: Line, to: Route, startedAt: number): AsyncGenerator<readonly Event[], void> {
  switch (to.to) {
    case 'model':
      return yield* runPrompt({ ...line, message: promptMessage(line, to.text) });
    case 'shell':
      return yield* runShell(line, to, startedAt);
    case 'command':
      return yield* runCommand(line, to.name, to.args, startedAt);
    case 'unknown': {
      const near = suggestions(to.name, line.catalogue.commandNames).map((name) => `/${name}`);
      const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'Try ,help for the list.';
      throw new CrabError('usage', `There is no command /${to.name}.`, { hint });
    }
  }
}

function promptMessage({ host, prompt }: Line, text: string): UserMessage {
  const attachments = prompt.attachments ?? [];
  const content = attachments.length === 0 ? text : [{ type: 'text', text } as const, ...attachments];
  return userMessage(content, host.clock.now());
}

async function* runCommand(
  line: Line,
  name: string,
  args: string,
  startedAt: number,
): AsyncGenerator<readonly Event[], void> {
  const { catalogue, host } = line;
  const stop = new AbortController();
  const outbox = new Outbox<Event>({
    onAbandon: () => stop.abort(new Error('Nobody listens.')),
    onLost: () => [],
  });
  const signal = AbortSignal.any([line.signal, stop.signal]);
  const command = catalogue.runtimeCommands.get(name);
  const running = (
    command === undefined
      ? Promise.resolve<Effect>({ kind: 'channel', name: channelName(catalogue, name), args })
      : command.run(
          args,
          commandContext({ ...line, signal }, (event) => outbox.push([event])),
        )
  ).finally(() => outbox.end());
  running.catch(() => {});
  yield* outbox;
  const effect = await running;
  const durationMs = host.clock.monotonic() - startedAt;
  const result: Event = { type: 'commandResult', name, effect };
  if (effect.kind === 'error') {
    const error = new CrabError('usage', effect.message, { hint: `Try ,help ${name}.` });
    return yield [result, runEnd('failed', { error, durationMs })];
  }
  const text = effect.kind === 'channel' ? '' : effect.text;
  yield [result, runEnd('command', { text, durationMs })];
}

function channelName({ commands }: Catalogue, name: string): string {
  return commands.find((each) => each.name === name || each.aliases.includes(name))?.name ?? name;
}

/** `emit`: what a command that takes its time has to say meanwhile. */
function commandContext(
  { host, conversation, catalogue, signal }: Line,
  emit: (event: Event) => void,
): CommandContext {
  return {
    identity: () => conversation.identity,
    session: () => conversation.info,
    tree: async () => [...(await import('../parts/tape/tree-rows.ts')).treeRows(conversation.tape)],
    commands: catalogue.commands,
    tools: offeredTools({ conversation, catalogue }).directory.list(),
    model: async () => {
      const { info } = await conversation.model();
      return `${info.provider}/${info.id}`;
    },
    rateLimit: async () => (await conversation.model().catch(() => undefined))?.rateLimit?.(),
    effort: () => conversation.effort,
    fast: () => conversation.fast,
    usage: async () => conversation.spending.usage(),
    control: async (control: Control) => {
      await conversation.control(control);
      if (control.kind === 'setName')
        emit({ type: 'sessionNamed', session: conversation.identity.session, name: control.name });
    },
    permissions: () => conversation.permissions.held,
    trust: async (decision) => host.trust?.(conversation.cwd, decision),
    rewinding: () => conversation.rewinding(),
    now: () => host.clock.now(),
    jobs: conversation.jobs,
    compact: async (focus) => {
      const { compact } = await import('./compaction.ts');
      const offered = offeredTools({ conversation, catalogue });
      return compact({ host, conversation, offered, focus, signal, emit, spent: () => {} });
    },
    title: async () => {
      const { makeTitle } = await import('./title.ts');
      return makeTitle({ host, conversation, signal, emit });
    },
    summariseLeft: async (target, focus) => {
      const { summariseBranch } = await import('./branch-summary.ts');
      const tools = catalogue.toolsByName;
      return summariseBranch({ host, conversation, tools, target, focus, signal, emit, spent: () => {} });
    },
    learn: async (focus) => {
      const { learn } = await import('./learn.ts');
      return learn({ host, conversation, signal, emit, spent: () => {} }, focus);
    },
    consolidate: async (request) => {
      const { consolidate } = await import('./consolidate.ts');
      return consolidate({ host, conversation, signal, emit, spent: () => {} }, request);
    },
    contextUse: async () => {
      const { contextUse } = await import('./context-use.ts');
      return contextUse(conversation, catalogue, host.clock.now());
    },
  };
}

async function* runShell(
  line: Line,
  to: Extract<Route, { to: 'shell' }>,
  startedAt: number,
): AsyncGenerator<readonly Event[], void> {
  const { host, conversation, signal } = line;
  const { store, repair } = to;
  const command = host.redact?.(to.command) ?? to.command;
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const outbox = new Outbox<Event>({ onAbandon: onAbort, onLost: () => [] });
  outbox.push([{ type: 'shellStart', command }]);
  const spillTo = `${await conversation.scratch()}/shell-${host.newId()}.txt`;
  const onOutput = (delta: string) => outbox.push([{ type: 'shellOutput', delta }]);
  const { cwd } = conversation;
  const running = line
    .userShell({ command: to.command, cwd, onOutput, spillTo }, host.exec, stop.signal)
    .finally(() => outbox.end());
  running.catch(() => {});
  try {
    yield* outbox;
    const { exitCode, text, timedOut, failed } = await running;
    yield [{ type: 'shellEnd', command, exitCode, timedOut }];
    const record: ShellRecord = { command, cwd, exitCode, output: text };
    const helpless = failed && repair ? await whyNoModel(line) : undefined;
    if (failed && repair && helpless === undefined) {
      const message = userMessage(commandBlock(record), host.clock.now());
      return yield* runPrompt({ ...line, message });
    }
    if (store) await conversation.keepShell(record);
    const durationMs = host.clock.monotonic() - startedAt;
    if (!failed) return yield [runEnd('command', { text, durationMs })];
    const how = timedOut ? 'took too long and was ended' : `ended with exit code ${exitCode ?? 'none'}`;
    const hint = helpless === undefined ? {} : { hint: `No model can help with it: ${helpless.message}` };
    const error = new CrabError('command-failed', `\`${command}\` ${how}.`, hint);
    yield [runEnd('failed', { error, text, durationMs })];
  } catch (thrown) {
    const durationMs = host.clock.monotonic() - startedAt;
    if (signal.aborted) return yield [runEnd('cancelled', { durationMs })];
    if (!(thrown instanceof ToolFailure)) throw thrown;
    const hint = 'Mend what it names, and type the line again.';
    const error = new CrabError('command-failed', thrown.message, { cause: thrown, hint });
    yield [runEnd('failed', { error, durationMs })];
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Why a failed command cannot be handed to a model; undefined when it can. */
async function whyNoModel({ conversation }: Line): Promise<CrabError | undefined> {
  try {
    await conversation.model();
    return undefined;
  } catch (thrown) {
    return asCrabError(thrown);
  }
}
