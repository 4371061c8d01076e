// `crab` on a terminal: a conversation line by line. Line editing is Node's; what a line means is not its business.

import { runRepl } from '../channels/repl/repl.ts';
import { EXIT } from '../core/errors.ts';
import { createPlatform } from '../runtime/platform.ts';
import { type Arguments, keyFileOf, withValue } from './arguments.ts';
import { chooseSession } from './choose-session.ts';
import type { Environment } from './home.ts';
import { createHost } from './host.ts';
import { asRecorded, trafficFor } from './record-flags.ts';
import { openRequest } from './request.ts';
import { loadSettings } from './settings.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { createTerminal } from './terminal-lines.ts';

/** Exchanges with the model after which a person is asked whether to go on. */
const TURNS_BEFORE_ASKING = 5;

export async function repl({
  args,
  env,
}: {
  readonly args: Arguments;
  readonly env: Environment;
}): Promise<number> {
  const stderr = sinkOf(process.stderr, env);
  const warn = (text: string) => void stderr.write(`crab: ${text}\n`).catch(() => {});
  const settings = await loadSettings({ args, env, warn });
  const traffic = await trafficFor({ args, env, warn });
  const host = createHost({ env, settings, keyFile: keyFileOf(args), traffic, warn });
  const isInteractive = process.stdin.isTTY === true;
  const stop = stopOnSignals(() => host.killAll(), 'leave-alone');
  process.once('exit', () => host.killAll());
  const terminal = createTerminal(isInteractive);
  const stdout = terminal.sink(sinkOf(process.stdout, env));
  const platform = createPlatform(host);
  try {
    const chosen =
      args.value('resume') === '' ? await chooseSession(host.tapes, terminal.lines, stdout) : undefined;
    if (chosen === 'none') return EXIT.success;
    const asked = await openRequest({
      args: chosen === undefined ? args : withValue(args, 'resume', chosen.id),
      env,
      settings,
      files: host.files,
      now: host.clock.now(),
      canAsk: isInteractive,
      defaultTurns: TURNS_BEFORE_ASKING,
      warn,
    });
    const open = await asRecorded(asked, traffic, host.tapes, warn);
    const { agent, mode } = open.declaration;
    const named = (mode === 'plan' ? agent.planModel : undefined) ?? agent.model ?? agent.defaults?.model;
    const model = await host.models.resolve(named).then(
      ({ info }) => `${info.provider}/${info.id}`,
      () => undefined,
    );
    return await runRepl({
      platform,
      open,
      ...(model !== undefined && { model }),
      lines: terminal.lines,
      isInteractive,
      stdout,
      stderr,
      clock: host.clock,
      onInterrupt: terminal.onInterrupt,
      signal: stop.signal,
    });
  } finally {
    terminal.close();
    await platform.close();
    traffic?.close();
    stop.release();
  }
}
