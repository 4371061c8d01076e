// Reads the two pipes of a child into captures, no faster than the disk takes what is spilled, and knows
// when there is nothing more to read although somebody still holds a pipe open.

import type { ChildProcess } from 'node:child_process';
import type { Captured, Clock, ExecRequest } from '../../core/host.ts';
import type { TextFilter } from '../../core/redact.ts';
import { Capture, NOTHING, type Source } from './capture.ts';

type Pipe = NonNullable<ChildProcess['stdout']>;

/** Silence after which an open pipe has nothing more to say, once the main process has ended. */
const QUIET_MS = 50;

/** Milliseconds that a pipe may go on talking after that end. */
const TALK_MS = 100;

/** The same while it is the disk that is waited for. */
const DISK_MS = 10_000;

export class Output {
  readonly #clock: Clock;
  readonly #stdout: Capture;
  readonly #stderr: Capture | undefined;
  readonly #pipes: Pipe[] = [];
  readonly #sources: Source[] = [];
  #open = 0;
  #bytes = 0;
  #held = false;
  #onClosed: (() => void) | undefined;

  constructor(child: ChildProcess, request: ExecRequest, clock: Clock, filter?: () => TextFilter) {
    const { keep, spillTo, onOutput: onText, separate } = request;
    this.#clock = clock;
    this.#stdout = new Capture({ keep, spillTo, onText, filter });
    if (separate) {
      this.#stderr = new Capture({ keep, spillTo: spillTo && `${spillTo}.stderr`, onText, filter });
    }
    this.#read(child.stdout, this.#stdout);
    this.#read(child.stderr, this.#stderr ?? this.#stdout);
  }

  /** Somebody can still write. */
  get open(): boolean {
    return this.#open > 0;
  }

  /** Resolves when both pipes are closed, or have been silent, or have talked on for too long. */
  settle(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => {
      const started = this.#clock.monotonic();
      let seen = this.#bytes;
      let timer: NodeJS.Timeout | undefined;
      let look: NodeJS.Immediate | undefined;
      const settled = () => {
        clearTimeout(timer);
        clearImmediate(look);
        this.#onClosed = undefined;
        resolve();
      };
      const wait = () => {
        // Silence counts only after another look at the pipes: this process may have been the busy one.
        timer = setTimeout(() => {
          look = setImmediate(check);
        }, QUIET_MS);
      };
      const check = () => {
        const limit = this.#held ? DISK_MS : TALK_MS;
        const quiet = seen === this.#bytes && !this.#held;
        if (quiet || this.#clock.monotonic() - started > limit) return settled();
        seen = this.#bytes;
        wait();
      };
      this.#onClosed = settled;
      wait();
    });
  }

  /** To be called once; whoever still writes gets SIGPIPE. */
  async finish(): Promise<{ readonly stdout: Captured; readonly stderr: Captured }> {
    for (const pipe of this.#pipes) pipe.destroy();
    for (const source of this.#sources) source.end();
    return { stdout: await this.#stdout.finish(), stderr: (await this.#stderr?.finish()) ?? NOTHING };
  }

  #read(pipe: Pipe | null, capture: Capture): void {
    if (pipe === null) return;
    const source = capture.source();
    this.#open++;
    this.#pipes.push(pipe);
    this.#sources.push(source);
    pipe.on('data', (bytes: Buffer) => {
      this.#bytes += bytes.length;
      source.write(bytes);
      if (capture.blocked) this.#hold(capture);
    });
    pipe.on('error', () => {});
    pipe.on('close', () => {
      this.#open--;
      if (this.#open === 0) this.#onClosed?.();
    });
  }

  #hold(capture: Capture): void {
    this.#held = true;
    for (const pipe of this.#pipes) pipe.pause();
    capture.onDrain(() => {
      this.#held = false;
      for (const pipe of this.#pipes) pipe.resume();
    });
  }
}
