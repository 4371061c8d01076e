// Programs that outlive the call that started them: language servers, browsers, commands in the background. They are
// owned all the same: by a signal, by the marker in their environment, and by the end of this process.

import type { OpenProcess, ProcessRequest, RunningProcess } from '../../core/host.ts';
import type { Children } from './children.ts';
import { checkRequest } from './failure.ts';
import { type Started, startOnPipes } from './started.ts';
import { endTree } from './tree.ts';

/** Milliseconds between SIGTERM and SIGKILL. */
const PATIENCE_MS = 1500;

export function createOpen(children: Children): OpenProcess {
  const { clock, kill } = children;
  return async (request, signal): Promise<RunningProcess> => {
    signal.throwIfAborted();
    checkRequest(request);
    const marker = children.mark(request);
    const started = await start(request, children.environment(marker, request.env));
    const { pid, stdout, stderr, channel, exited, write, end, resize, release } = started;
    const tree = { pid, marker, isKeeper: request.keeper !== undefined };
    children.add(tree);
    let exceeded: string | undefined;
    const clear = () =>
      exceeded === undefined
        ? endTree(tree, { clock, kill, patienceMs: PATIENCE_MS })
        : children.endNow(tree);
    const abort = () => void clear();
    children.bound(tree, request.bounds, (sentence) => {
      exceeded = sentence;
      const said = request.terminal === undefined ? stderr : stdout;
      // A timer that comes late may come before what has long been in the pipe: that is read first.
      setImmediate(() => said.push(Buffer.from(`\n[${sentence}]\n`)));
      abort();
    });
    const ended = exited.then(async (how) => {
      signal.removeEventListener('abort', abort);
      await clear();
      children.remove(tree);
      // One of them may be over while the other is still being read: the pipes go with the last.
      let open = 2;
      const over = () => {
        if (--open === 0) release();
      };
      for (const flow of [stdout, stderr]) flow.endSoon(over);
      return exceeded === undefined ? how : { ...how, exceeded };
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const killed = async () => {
      await clear();
      await ended;
    };
    const given = channel === undefined ? {} : { channel };
    return { pid, write, end, stdout, stderr, ended, resize, kill: killed, ...given };
  };
}

async function start(request: ProcessRequest, env: NodeJS.ProcessEnv): Promise<Started> {
  const { terminal } = request;
  if (terminal === undefined) return startOnPipes(request, env);
  const { startOnTerminal } = await import('./terminal.ts');
  return startOnTerminal({ ...request, terminal }, env);
}
