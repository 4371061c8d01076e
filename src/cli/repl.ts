// `crab` on a terminal: a conversation line by line. Line editing is Node's; what a line means is not its business.

import { runRepl } from '../channels/repl/repl.ts';
import { CrabError, EXIT } from '../core/errors.ts';
import { peersOf } from '../runtime/peers.ts';
import { type Arguments, keyFileOf, withValue } from './arguments.ts';
import { chooseSession } from './choose-session.ts';
import { crabHome, type Environment } from './home.ts';
import { progressOn } from './progress.ts';
import type { Project } from './project.ts';
import { openRequest } from './request.ts';
import { loadSettings } from './settings.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { createTerminal } from './terminal-lines.ts';
import { openWorkplace } from './workplace.ts';

/** Exchanges with the model after which a person is asked whether to go on. */
const TURNS_BEFORE_ASKING = 5;

export async function repl({
  args,
  env,
}: {
  readonly args: Arguments;
  readonly env: Environment;
}): Promise<number> {
  if (args.has('guest'))
    throw new CrabError('usage', '--guest is for a prompt, and none was given.', {
      hint: 'In a conversation, begin a line with @NAME.',
    });
  const stderr = sinkOf(process.stderr, env);
  const warn = (text: string) => void stderr.write(`crab: ${text}\n`).catch(() => {});
  const settings = await loadSettings({ args, env, warn });
  const isInteractive = process.stdin.isTTY === true;
  keyFileOf(args);
  const place = await openWorkplace({ args, env, settings, isInteractive, warn });
  const stop = stopOnSignals(() => place.killAll(), 'leave-alone');
  process.once('exit', () => place.killAll());
  const terminal = createTerminal(isInteractive);
  const stdout = terminal.sink(sinkOf(process.stdout, env));
  const confirmTrust = async (project: Project) => {
    const { askTrust } = await import('./trust-question.ts');
    const { lines } = terminal;
    return askTrust(project, { home: crabHome(env), lines, stdout, now: place.clock.now, warn });
  };
  try {
    const choose = async () => {
      const { lines, onInterrupt } = terminal;
      const tapes = await place.tapes();
      const interrupt = new AbortController();
      const release = onInterrupt(() => interrupt.abort(new CrabError('interrupted', 'Interrupted.')));
      const signal = AbortSignal.any([interrupt.signal, stop.signal]);
      try {
        return await chooseSession({ tapes, lines, stdout, progress: progressOn(stderr), signal });
      } finally {
        release();
      }
    };
    const chosen = args.value('resume') === '' ? await choose() : undefined;
    if (chosen === 'none') return EXIT.success;
    const local = () =>
      openRequest({
        args: chosen === undefined ? args : withValue(args, 'resume', chosen.id),
        env,
        settings,
        files: place.files,
        now: place.clock.now(),
        canAsk: isInteractive,
        defaultTurns: TURNS_BEFORE_ASKING,
        confirmTrust: isInteractive ? confirmTrust : undefined,
        warn,
      });
    const open = await place.recorded(place.request?.() ?? (await local()));
    const { agent, mode } = open.declaration;
    const named = (mode === 'plan' ? agent.planModel : undefined) ?? agent.model ?? agent.defaults?.model;
    const model = await place.modelName(named);
    return await runRepl({
      platform: place.platform,
      open,
      ...(model !== undefined && { model }),
      ...(place.remote !== undefined && { remote: place.remote }),
      agents: (await place.guests?.()) ?? peersOf(open.declaration).map(({ name }) => name),
      lines: terminal.lines,
      isInteractive,
      stdout,
      stderr,
      clock: place.clock,
      onInterrupt: terminal.onInterrupt,
      ...(place.onWakeup && { onWakeup: place.onWakeup }),
      ...(place.follow && { follow: place.follow }),
      ...(place.stopOthers && { stopOthers: place.stopOthers }),
      signal: stop.signal,
    });
  } finally {
    terminal.close();
    await place.close();
    stop.release();
  }
}
