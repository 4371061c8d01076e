// A program on a terminal of its own, by node-pty. The library is optional and has a binary in it: it is loaded when
// somebody first wants a terminal, and without it everything else works.

import { constants } from 'node:os';
import type { IPty } from '@lydell/node-pty';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { ProcessRequest } from '../../core/host.ts';
import { checkFolder } from './failure.ts';
import { Flow } from './flow.ts';
import type { End, Started } from './started.ts';

/** Ctrl-D: what ends the input of whoever reads lines from a terminal. */
const END_OF_INPUT = '\x04';

export type TerminalRequest = ProcessRequest & Required<Pick<ProcessRequest, 'terminal'>>;

/** Rejects with `ToolFailure`. */
export async function startOnTerminal(request: TerminalRequest, env: NodeJS.ProcessEnv): Promise<Started> {
  checkFolder(request);
  const { spawn } = await library();
  const [program = '', ...args] = request.argv;
  const { cwd, terminal } = request;
  const { columns: cols, rows } = terminal;
  let pty: IPty;
  try {
    // Bytes: a character may be cut where a piece ends.
    pty = spawn(program, args, { name: env['TERM'] ?? 'dumb', cols, rows, cwd, env, encoding: null });
  } catch (error) {
    throw new ToolFailure(`${program} could not be given a terminal: ${messageOf(error)}.`, { cause: error });
  }
  let isOver = false;
  const stdout = new Flow(pty);
  const stderr = new Flow(pty);
  stderr.end();
  pty.onData((data: string | Uint8Array) => stdout.push(typeof data === 'string' ? Buffer.from(data) : data));
  const exited = new Promise<End>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      isOver = true;
      stdout.end();
      resolve(signal ? { exitCode: null, signal: signalName(signal) } : { exitCode, signal: null });
    });
  });
  const write = async (data: string | Uint8Array) => {
    if (isOver) throw new ToolFailure(`${program} reads no more.`);
    pty.write(typeof data === 'string' ? data : Buffer.from(data).toString());
  };
  return {
    pid: pty.pid,
    stdout,
    stderr,
    exited,
    write,
    end: () => void write(END_OF_INPUT).catch(() => {}),
    resize: (width, height) => {
      if (!isOver) pty.resize(width, height);
    },
    release: () => {},
  };
}

async function library() {
  try {
    return await import('@lydell/node-pty');
  } catch (error) {
    throw new ToolFailure(
      `There is no terminal to give to a program here: the optional package @lydell/node-pty is not installed (${messageOf(error)}).`,
      { cause: error },
    );
  }
}

function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `signal ${number}`;
}
