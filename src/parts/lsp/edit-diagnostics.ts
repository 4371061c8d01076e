// After a tool has written files, the errors that were not in them before are added to its result, so that the model
// mends them at once. It asks only servers that run already (or that a person's settings want started then), waits
// for a bounded time, and a server that fails here costs the call nothing.

import type { ToolContext, ToolOutput } from '../../core/tool.ts';
import { rowsFor } from './choose-server.ts';
import type { LanguageServer } from './language-server.ts';
import { diagnosticLine } from './operations.ts';
import type { Diagnostic } from './protocol.ts';
import type { ServerRow } from './server-table.ts';
import type { Servers } from './servers.ts';

/** Longest wait for all files of one call. */
const WAIT_MS = 3000;
const MAX_FILES = 5;
const MAX_ERRORS = 10;

export class EditDiagnostics {
  /** The errors that each file had when somebody last looked, as they read without their place. */
  readonly #known = new Map<string, readonly string[]>();
  readonly #rows: readonly ServerRow[];
  readonly #waitMs: number;

  constructor(rows: readonly ServerRow[], waitMs = WAIT_MS) {
    this.#rows = rows;
    this.#waitMs = waitMs;
  }

  /** Undefined, without having waited for anything, where no server is to be asked. */
  after(
    paths: readonly string[],
    output: ToolOutput,
    context: ToolContext,
    servers: Servers,
  ): Promise<ToolOutput | undefined> | undefined {
    const asked = paths.slice(0, MAX_FILES).filter((path) => this.#wantsAsking(path, servers));
    return asked.length === 0 ? undefined : this.#added(asked, output, context, servers);
  }

  #wantsAsking(path: string, servers: Servers): boolean {
    return (
      servers.readyFor(path) !== undefined || rowsFor(path, this.#rows).some(({ startOnEdit }) => startOnEdit)
    );
  }

  async #added(
    paths: readonly string[],
    output: ToolOutput,
    context: ToolContext,
    servers: Servers,
  ): Promise<ToolOutput | undefined> {
    const over = new AbortController();
    const signal = AbortSignal.any([context.signal, over.signal]);
    const late = context.clock
      .sleep(this.#waitMs, signal)
      .then(() => over.abort(new Error('It took too long.')));
    late.catch(() => {});
    const texts = await Promise.all(
      paths.map((path) => this.#newErrors(path, { ...context, signal }, servers).catch(() => undefined)),
    );
    over.abort();
    context.signal.throwIfAborted();
    const text = texts.filter((one) => one !== undefined).join('\n');
    if (text === '') return undefined;
    return { ...output, content: [...output.content, { type: 'text', text: `\n${text}` }] };
  }

  async #newErrors(path: string, context: ToolContext, servers: Servers): Promise<string | undefined> {
    const { clock, exec, open, files, signal, identity } = context;
    const starting = { clock, exec, open, files, signal, cwd: identity.cwd };
    const server: LanguageServer = servers.readyFor(path) ?? (await servers.for(path, starting));
    const info = await files.info(path);
    if (info?.kind !== 'file') return undefined;
    const found = await server.diagnostics(path, this.#waitMs, { files, signal, wasSaved: true });
    if (found === undefined) return undefined;
    const errors = found.filter(({ severity }) => severity === 1);
    const fresh = notAmong(errors, this.#known.get(path) ?? []);
    this.#known.set(path, errors.map(nameOf));
    if (fresh.length === 0) return undefined;
    const lines = fresh.slice(0, MAX_ERRORS).map((one) => `  ${diagnosticLine(one)}`);
    const more = fresh.length > MAX_ERRORS ? [`  [${fresh.length - MAX_ERRORS} more]`] : [];
    const shown = path.startsWith(`${identity.cwd}/`) ? path.slice(identity.cwd.length + 1) : path;
    return [`${server.row.name} finds errors in ${shown}:`, ...lines, ...more].join('\n');
  }
}

/** Lines move when something is written above them, so an error is told by what it says. */
function nameOf({ code, message }: Diagnostic): string {
  return `${code ?? ''} ${message}`;
}

/** Those that are not in the list; one that is there twice is new once when it was there once. */
function notAmong(errors: readonly Diagnostic[], known: readonly string[]): readonly Diagnostic[] {
  const left = [...known];
  return errors.filter((error) => {
    const at = left.indexOf(nameOf(error));
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}
