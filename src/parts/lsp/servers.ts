// The language servers of one conversation: one for each root and row, started when somebody asks and stopped when
// nobody has for a while. One that ends by itself is started again, later each time, until it has done so too often.

import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { Clock, Exec, Files, OpenProcess } from '../../core/host.ts';
import type { WatchFiles } from '../../core/watch.ts';
import { findProgram, findRoot, requireRows, rowsFor } from './choose-server.ts';
import type { LanguageServer } from './language-server.ts';
import type { ServerRow } from './server-table.ts';

/** Servers of one conversation at a time: some take a gigabyte each. */
const MAX_SERVERS = 4;
const IDLE_MS = 10 * 60_000;
const MAX_CRASHES = 4;
const FIRST_PAUSE_MS = 500;
/** A server that lived so long had another reason to end than the one before. */
const SOUND_MS = 60_000;

/** What a server needs of the call that starts it; none of it ends with the call. */
export interface Starting {
  readonly clock: Clock;
  readonly exec: Exec;
  readonly open: OpenProcess;
  readonly files: Files;
  readonly cwd: string;
  /** Ends the wait, not the server. */
  readonly signal: AbortSignal;
}

interface Slot {
  readonly row: ServerRow;
  readonly root: string;
  server?: Promise<LanguageServer>;
  /** Once it is initialized and until it ends. */
  ready?: LanguageServer;
  usedAt: number;
  crashes: number;
  crashedAt: number;
  lastReason: string;
}

export class Servers {
  readonly #rows: readonly ServerRow[];
  readonly #watch: WatchFiles;
  readonly #idleMs: number;
  readonly #life = new AbortController();
  readonly #slots = new Map<string, Slot>();

  constructor(
    rows: readonly ServerRow[],
    watch: WatchFiles,
    { idleMs = IDLE_MS }: { readonly idleMs?: number } = {},
  ) {
    this.#rows = rows;
    this.#watch = watch;
    this.#idleMs = idleMs;
  }

  /** Those that could be asked at once. */
  ready(): readonly LanguageServer[] {
    return [...this.#slots.values()].flatMap(({ ready }) => (ready?.isOpen ? [ready] : []));
  }

  /** The one that could be asked about this file at once; the one with the nearest root. */
  readyFor(path: string): LanguageServer | undefined {
    const rows = rowsFor(path, this.#rows);
    return this.ready()
      .filter(
        ({ row, root }) =>
          rows.includes(row) && (path.startsWith(`${root}/`) || path.startsWith(`${root}\\`)),
      )
      .sort((a, b) => b.root.length - a.root.length)[0];
  }

  /** Started when it does not run. Throws `ToolFailure` that says of each server why it cannot be used. */
  async for(path: string, starting: Starting): Promise<LanguageServer> {
    const reasons: string[] = [];
    for (const row of requireRows(path, this.#rows)) {
      const root = await findRoot(path, row, starting.cwd, starting.files);
      try {
        return await unlessAborted(this.#running(row, root, starting), starting.signal);
      } catch (error) {
        starting.signal.throwIfAborted();
        const install = row.install === undefined ? '' : ` (\`${row.install}\`)`;
        reasons.push(`${row.name}: ${messageOf(error)}${install}`);
      }
    }
    throw new ToolFailure(`No language server for ${path} could be started.\n${reasons.join('\n')}`);
  }

  /** Resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#life.abort(new Error('The conversation has ended.'));
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    await Promise.all(slots.map(({ server }) => server?.then((one) => one.close()).catch(() => {})));
  }

  #running(row: ServerRow, root: string, starting: Starting): Promise<LanguageServer> {
    const key = `${row.name}\n${root}`;
    const slot = this.#slots.get(key) ?? { row, root, usedAt: 0, crashes: 0, crashedAt: 0, lastReason: '' };
    this.#slots.set(key, slot);
    slot.usedAt = starting.clock.monotonic();
    slot.server ??= this.#start(slot, starting);
    return slot.server;
  }

  async #start(slot: Slot, starting: Starting): Promise<LanguageServer> {
    const { clock, exec, open, files, cwd } = starting;
    const { row, root } = slot;
    const { signal } = this.#life;
    try {
      signal.throwIfAborted();
      await this.#pause(slot, clock);
      const program = await findProgram(row, { root, cwd, files, exec, signal });
      if ('missing' in program) throw new ToolFailure(program.missing);
      await this.#makeRoom(slot);
      const { LanguageServer } = await import('./language-server.ts');
      const child = await open({ argv: program.argv, cwd: root, ...(row.env && { env: row.env }) }, signal);
      const server = new LanguageServer({ row, root, child, clock, watch: this.#watch });
      const startedAt = clock.monotonic();
      let isReady = false;
      void server.closed.then((reason) => {
        delete slot.server;
        delete slot.ready;
        const lived = clock.monotonic() - startedAt;
        if (reason.startsWith('it was stopped')) return;
        slot.crashes = (isReady && lived > SOUND_MS ? 0 : slot.crashes) + 1;
        slot.crashedAt = clock.monotonic();
        slot.lastReason = reason;
      });
      await server.initialize({ signal });
      isReady = true;
      slot.ready = server;
      void this.#stopWhenIdle(slot, server, clock);
      return server;
    } catch (error) {
      delete slot.server;
      throw error;
    }
  }

  async #pause({ crashes, crashedAt, lastReason, row }: Slot, clock: Clock): Promise<void> {
    if (crashes === 0) return;
    if (crashes >= MAX_CRASHES)
      throw new ToolFailure(
        `${row.name} ended ${crashes} times and is not started again in this conversation: ${lastReason}.`,
      );
    const until = crashedAt + FIRST_PAUSE_MS * 2 ** (crashes - 1);
    const left = until - clock.monotonic();
    if (left > 0) await clock.sleep(left, this.#life.signal);
  }

  async #makeRoom(own: Slot): Promise<void> {
    const others = [...this.#slots.values()].filter((slot) => slot !== own && slot.ready !== undefined);
    if (others.length < MAX_SERVERS) return;
    const [oldest] = others.sort((a, b) => a.usedAt - b.usedAt);
    await oldest?.ready?.close();
  }

  async #stopWhenIdle(slot: Slot, server: LanguageServer, clock: Clock): Promise<void> {
    const over = new AbortController();
    void server.closed.then(() => over.abort());
    const signal = AbortSignal.any([this.#life.signal, over.signal]);
    try {
      for (let left = this.#idleMs; left > 0; left = slot.usedAt + this.#idleMs - clock.monotonic())
        await clock.sleep(left, signal);
      await server.close();
    } catch {
      // It has ended, or the conversation has.
    }
  }
}

/** Rejects with the signal's reason when it aborts first; the work goes on. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
