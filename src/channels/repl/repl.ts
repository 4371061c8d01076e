// The line REPL: lines in, text out, no terminal needed. Where a person types, lines are read while a turn
// runs as well: they answer its questions or queue behind it. A pipe is read only between turns, so that
// the next prompt in it can never be taken for somebody's yes (law 3).

import type { CommandInfo } from '../../core/command.ts';
import type { Address } from '../../core/conversation.ts';
import { asCrabError, CrabError, EXIT, errorData } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Clock, Sink } from '../../core/host.ts';
import { messageText } from '../../core/message.ts';
import type { OpenReply, OpenRequest, Platform } from '../../core/platform.ts';
import type { Question } from '../../core/question.ts';
import { exitCodeOf } from '../../faces/exit-code.ts';
import { errorText } from '../../faces/text.ts';
import { visibleLine } from '../../faces/visible.ts';
import { promptFor } from '../../policy/agents.ts';
import { watchContext } from '../../policy/compaction.ts';
import { type Asking, ask } from './answers.ts';
import { farewell, greeting } from './greeting.ts';
import { createLineAssembler, type Lines } from './lines.ts';
import { createScreen, type Screen } from './screen.ts';
import { runTurn } from './turn.ts';

export interface ReplOptions {
  /** Stays the caller's: it closes it, and everything acknowledged is on disk then. */
  readonly platform: Platform;
  readonly open: OpenRequest;
  /** The model's name for the greeting, where it is known. */
  readonly model?: string;
  /** The Crab elsewhere that does the work, as a person names it; its folder, model and mode are its own. */
  readonly remote?: string;
  /** Names that can be addressed: `@name text`. */
  readonly agents?: readonly string[];
  readonly lines: Lines;
  /** A person types: prompts are shown, and questions can be asked. */
  readonly isInteractive: boolean;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly clock: Clock;
  /** Calls the listener for every Ctrl-C that does not just clear a typed line; returns how to stop it. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Calls the listener with prompts that the conversation sent itself; returns how to stop it. */
  readonly onWakeup?: (listener: (prompt: string) => void) => () => void;
  /** What others who have the conversation open make it say; absent where there are none. Fails when no more can be heard. */
  readonly follow?: (address: Address, signal: AbortSignal) => AsyncIterable<readonly Event[]>;
  /** Stops what others make it do; there where `follow` is. */
  readonly stopOthers?: (address: Address) => Promise<void>;
  /** Ends the REPL from outside, as SIGTERM does. */
  readonly signal: AbortSignal;
}

export const REPL_COMMANDS: readonly CommandInfo[] = [
  { name: 'quit', aliases: ['exit', 'q'], description: 'Leave Crab.', usage: '', side: 'channel' },
];

/** Returns the exit status. Never throws. */
export async function runRepl(options: ReplOptions): Promise<number> {
  const { platform, open, stdout, stderr } = options;
  try {
    const commands = [...open.commands, ...REPL_COMMANDS];
    const reply = await platform.open({ ...open, commands });
    return await createRepl(options, reply, createScreen(stdout)).run();
  } catch (thrown) {
    const error = asCrabError(thrown);
    if (error.code !== 'output-closed') {
      await stderr.write(errorText(errorData(error), { colour: stderr.colour })).catch(() => {});
    }
    return error.exitCode;
  }
}

const PROMPT = '› ';
const MORE_PROMPT = '… ';

/** Two Ctrl-C within this many milliseconds leave, whatever runs. */
const TWICE_MS = 2_000;

/** What an empty line says after a turn that stopped at its limit. */
const GO_ON = 'Go on.';

type QuestionAnswered = Extract<Event, { type: 'questionAnswered' }>;

interface Typed {
  readonly line: string | undefined;
}

function interruption(): CrabError {
  return new CrabError('interrupted', 'Interrupted.');
}

function createRepl(options: ReplOptions, reply: OpenReply, screen: Screen): { run(): Promise<number> } {
  const { platform, lines, clock, isInteractive, signal } = options;
  const { address } = reply;
  const assembler = createLineAssembler();
  const watch = watchContext((control) => platform.control(address, control));
  const queue: string[] = [];
  const askings: Asking[] = [];
  let session = reply.session.id;
  let isKept = reply.session.messages > 0;
  let running: AbortController | undefined;
  /** What somebody else asked for is in flight. */
  let runsElsewhere = false;
  let reading: Promise<Typed> | undefined;
  let mayGoOn = false;
  let leaving = false;
  let inputEnded = false;
  let interruptedAt: { readonly time: number; readonly idle: boolean } | undefined;
  let exitCode: number = EXIT.success;
  /** Why nothing more can be heard of the conversation. */
  let lost: CrabError | undefined;
  let wake = (): void => {};
  let woken = new Promise<'woken'>(() => {});
  let leave = (): void => {};
  const left = new Promise<'left'>((resolve) => {
    leave = () => {
      leaving = true;
      resolve('left');
    };
  });

  /** The line that is being read: a turn may end before it does, and the next one waits for the same line. */
  function nextLine(): Promise<Typed> {
    reading ??= lines.read().then((line) => ({ line }));
    return reading;
  }

  async function run(): Promise<number> {
    const stopListening = options.onInterrupt(interrupt);
    const stopWaking = options.onWakeup?.(takeWakeup);
    const over = new AbortController();
    signal.addEventListener('abort', terminate, { once: true });
    if (signal.aborted) terminate();
    try {
      if (isInteractive) await screen.say(greeting(options, reply, screen.paint));
      for (const notice of reply.notices)
        await screen.show([{ type: 'notice', level: 'warning', text: notice }]);
      void followOthers(over.signal);
      await loop();
      const goodbye = isInteractive
        ? farewell(session, isKept, reply.session.path !== undefined, options.remote)
        : '';
      await screen.close(goodbye);
    } finally {
      stopListening();
      stopWaking?.();
      over.abort();
      signal.removeEventListener('abort', terminate);
      running?.abort(interruption());
    }
    if (signal.aborted) return EXIT.terminated;
    if (lost !== undefined) return lost.exitCode;
    return isInteractive ? EXIT.success : exitCode;
  }

  async function loop(): Promise<void> {
    while (!leaving) {
      const text = queue.shift() ?? (await idleInput());
      if (text === undefined) return;
      const end = await turn(text);
      if (end === undefined) return;
      if (exitCodeOf(end) !== EXIT.success) exitCode = exitCodeOf(end);
      mayGoOn = isInteractive && end.outcome === 'turnLimit' && queue.length === 0;
      if (mayGoOn) await screen.say(screen.paint.dim('Enter goes on; anything else is a new prompt.'));
    }
  }

  /** The next prompt; undefined when there will be none. */
  async function idleInput(): Promise<string | undefined> {
    lines.prompt(isInteractive ? PROMPT : '');
    while (!inputEnded) {
      woken = new Promise((resolve) => {
        wake = () => resolve('woken');
      });
      const typed = await Promise.race([nextLine(), left, woken]);
      if (typed === 'left') return undefined;
      if (typed === 'woken') return queue.shift();
      const { line } = typed;
      reading = undefined;
      interruptedAt = undefined;
      // Somebody else's run asks.
      if (line !== undefined && askings.length > 0) {
        await takeLine(line);
        if (queue.length > 0) return queue.shift();
        continue;
      }
      inputEnded = line === undefined;
      const text = line === undefined ? assembler.flush() : assembler.add(line);
      lines.prompt(isInteractive ? (text === undefined ? MORE_PROMPT : PROMPT) : '');
      if (text !== undefined && text.trim() !== '') return text;
      if (text !== undefined && mayGoOn && !inputEnded) return GO_ON;
    }
    return undefined;
  }

  /** Undefined when the person left in the middle of it. */
  async function turn(text: string): Promise<RunEnd | undefined> {
    const stop = new AbortController();
    running = stop;
    mayGoOn = false;
    lines.prompt('');
    const parts = { platform, address, screen, clock, tellsWaits: isInteractive, onEvents };
    const ended = runTurn(parts, promptFor(text, options.agents ?? []), stop);
    // Whoever leaves does not wait for it, and nobody else may be told of its failure.
    ended.catch(() => {});
    for (;;) {
      const mayType = isInteractive && !inputEnded;
      const first = await Promise.race(mayType ? [ended, nextLine(), left] : [ended, left]);
      if (first === 'left') return undefined;
      if ('type' in first) {
        running = undefined;
        askings.length = 0;
        return first;
      }
      reading = undefined;
      if (first.line !== undefined) await takeLine(first.line);
      else endInput(stop);
    }
  }

  /** Ctrl-D: the turn is cancelled and heard out, and what was queued is not begun. */
  function endInput(stop: AbortController): void {
    inputEnded = true;
    leaving = true;
    stop.abort(interruption());
  }

  /** A line typed while a turn runs. */
  async function takeLine(line: string): Promise<void> {
    // Lines are put together first: one of a paste must not pass for an answer, and no answer has two lines.
    const text = assembler.add(line);
    if (text === undefined) return;
    const asking = askings[0];
    if (asking && !text.includes('\n')) return await takeAnswer(asking, text);
    if (text.trim() === '') return;
    queue.push(text);
    await screen.say(screen.paint.dim(`queued (${queue.length}): ${visibleLine(text)}`));
  }

  /** It waits its turn like a prompt that is typed, and stands on the screen like one. */
  function takeWakeup(prompt: string): void {
    queue.push(prompt);
    screen.say(screen.paint.dim(visibleLine(prompt))).then(() => wake(), leave);
  }

  async function takeAnswer(asking: Asking, line: string): Promise<void> {
    const answer = asking.take(line);
    if (typeof answer === 'string') await screen.say(answer);
    if (answer === undefined || typeof answer === 'string') {
      lines.prompt(asking.prompt());
      return;
    }
    await closeQuestion(asking.question.id);
    if (!(await platform.answer(address, asking.question.id, answer)))
      await screen.say(
        screen.paint.dim('That came too late: it was answered elsewhere, or is not asked any more.'),
      );
  }

  async function followOthers(until: AbortSignal): Promise<void> {
    try {
      for await (const events of options.follow?.(address, until) ?? []) await onOthers(events);
    } catch (thrown) {
      if (until.aborted) return;
      lost = asCrabError(thrown);
      // A run of one's own has told of it.
      const look = { colour: options.stdout.colour };
      if (running === undefined) await screen.say(errorText(errorData(lost), look).trimEnd());
      leave();
    }
  }

  /** They stand on the screen like one's own, behind the prompt that somebody else gave. */
  async function onOthers(events: readonly Event[]): Promise<void> {
    // An answer streams where no prompt stands behind it.
    const isAside = events.every(({ type }) => type === 'notice');
    if (running === undefined && (isAside || events.some(({ type }) => type === 'runStart')))
      lines.prompt('');
    for (const event of events)
      if (event.type === 'promptAccepted')
        await screen.say(screen.paint.dim(`(from elsewhere) ${visibleLine(messageText(event.message))}`));
    await screen.show(events);
    for (const event of events) {
      if (event.type === 'question') await openQuestion(event.question);
      if (event.type === 'questionAnswered') await answered(event);
      if (event.type === 'commandResult' && event.effect.kind === 'session') session = event.effect.session;
      if (event.type === 'runEnd') askings.length = 0;
    }
    isKept ||= !isAside;
    const hasEnded = events.at(-1)?.type === 'runEnd';
    if (!isAside) runsElsewhere = !hasEnded;
    const isOver = isAside || hasEnded;
    if (running === undefined && isOver) lines.prompt(PROMPT);
  }

  async function onEvents(events: readonly Event[]): Promise<void> {
    const told = await watch.see(events);
    if (told.length > 0) await screen.show(told);
    for (const event of events) {
      switch (event.type) {
        case 'promptAccepted':
          isKept = true;
          break;
        case 'question':
          await openQuestion(event.question);
          break;
        case 'questionAnswered':
          await answered(event);
          break;
        case 'commandResult':
          if (event.effect.kind === 'session') session = event.effect.session;
          if (event.effect.kind === 'channel') leaving = true;
          break;
      }
    }
  }

  async function openQuestion(question: Question): Promise<void> {
    if (!isInteractive) {
      // Others who have the conversation open may be able to answer.
      if (options.follow !== undefined) return;
      const refusal = { kind: 'permission', allowed: false, feedback: 'Nobody is there to ask.' } as const;
      const answer = question.kind === 'permission' ? refusal : ({ kind: 'choice', answers: [] } as const);
      await platform.answer(address, question.id, answer);
      return;
    }
    askings.push(ask(question));
    if (askings.length === 1) await present();
  }

  /** One that is still open here was answered by somebody else. */
  async function answered({ id, allowed }: QuestionAnswered): Promise<void> {
    if (askings.some(({ question }) => question.id === id)) {
      const how = allowed === undefined ? '' : allowed ? ': yes' : ': no';
      await screen.say(screen.paint.dim(`answered elsewhere${how}`));
    }
    await closeQuestion(id);
  }

  async function closeQuestion(id: string): Promise<void> {
    const at = askings.findIndex((asking) => asking.question.id === id);
    if (at === -1) return;
    askings.splice(at, 1);
    if (at === 0) await present();
  }

  /** One question at a time, so that no answer can go to another than the one in sight. */
  async function present(): Promise<void> {
    const asking = askings[0];
    if (asking) await screen.ask(asking.question);
    lines.prompt(asking?.prompt() ?? '');
  }

  function interrupt(): void {
    const now = clock.monotonic();
    const before = interruptedAt;
    interruptedAt = { time: now, idle: running === undefined && !runsElsewhere };
    const isSecond = before !== undefined && (before.idle || now - before.time <= TWICE_MS);
    if (!isInteractive) {
      leaving = true;
      exitCode = EXIT.interrupted;
    }
    if (isSecond || (!isInteractive && running === undefined)) {
      running?.abort(interruption());
      leave();
    } else if (running) {
      cancel(running);
    } else if (runsElsewhere) {
      // Where it cannot be stopped the connection is gone, which is told where it is heard.
      options.stopOthers?.(address).catch(() => {});
    } else {
      assembler.flush();
      screen.say(screen.paint.dim('Ctrl-C again leaves.')).then(() => lines.prompt(PROMPT), leave);
    }
  }

  /** What was queued comes back to be edited: it was meant to follow a turn that will not be. */
  function cancel(stop: AbortController): void {
    const back = queue.splice(0).join('\n');
    if (back !== '') lines.prefill(back);
    stop.abort(interruption());
  }

  function terminate(): void {
    running?.abort(signal.reason);
    leave();
  }

  return { run };
}
