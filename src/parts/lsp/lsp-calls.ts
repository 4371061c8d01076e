// A call of the tool `lsp`, and the look at a file after an edit. Starting a server runs programs, and with them what the
// project wants to be run, so that is asked about; a server that somebody allowed in this conversation only reads.

import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { CallInfo } from '../../core/extension.ts';
import type { Clock } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { LspServerSettings } from '../../core/settings.ts';
import {
  type CallPlan,
  type Identity,
  type ToolContext,
  type ToolOutput,
  textOutput,
} from '../../core/tool.ts';
import type { WatchFiles } from '../../core/watch.ts';
import { configuredRows, rowsFor } from './choose-server.ts';
import { readText } from './documents.ts';
import { EditDiagnostics } from './edit-diagnostics.ts';
import type { LanguageServer } from './language-server.ts';
import type { Operation } from './lsp-tool.ts';
import { ask, linesOf, type Question, type Reply } from './operations.ts';
import type { Position } from './protocol.ts';
import type { ServerRow } from './server-table.ts';
import { Servers } from './servers.ts';

/** Milliseconds after its start in which a server may not know the project yet. */
const SETTLED_MS = 4000;
const AGAIN_MS = 250;
const MAX_ASKED = SETTLED_MS / AGAIN_MS;

interface Opened {
  readonly servers: Servers;
  readonly edits: EditDiagnostics;
}

/** The calls of all conversations of this process, each with servers of its own. */
export class LspCalls {
  readonly #rows: readonly ServerRow[];
  readonly #watch: WatchFiles;
  readonly #opened = new Map<string, Opened>();

  constructor(watch: WatchFiles, settings?: Readonly<Record<string, LspServerSettings>>) {
    this.#watch = watch;
    this.#rows = configuredRows(settings);
  }

  /** `allowed`: what this conversation was allowed to start; filled by `run`. */
  plan(input: JsonObject, cwd: string, allowed: ReadonlySet<string>): CallPlan {
    const path = resolve(cwd, textOf(input, 'path'));
    const how = { parallel: true, repeatable: true };
    // What no server is for is refused when it runs.
    if (keysOf(path, cwd, this.#rows).every((key) => allowed.has(key)))
      return { access: { kind: 'read', paths: [path] }, ...how };
    const [row] = rowsFor(path, this.#rows);
    const server = `${row?.command.join(' ')}`;
    const does = `starts the language server ${server}, which reads the project and may run what belongs to it`;
    return { access: { kind: 'external', server, does }, ...how };
  }

  async run(input: JsonObject, context: ToolContext, allowed: Set<string>): Promise<ToolOutput> {
    const { cwd } = context.identity;
    const path = resolve(cwd, textOf(input, 'path'));
    for (const key of keysOf(path, cwd, this.#rows)) allowed.add(key);
    const withheld = await context.withheld();
    if (withheld?.(await context.files.resolve(path)) === true)
      throw new ToolFailure(`A permission rule keeps ${textOf(input, 'path')} from being read.`);
    const position = await positionOf(input, path, context);
    const question = {
      path,
      withheld,
      operation: input['operation'] as Operation,
      query: textOf(input, 'query'),
      ...(position && { position }),
      ...about(context),
    };
    const { servers } = this.#of(context.identity);
    return present(
      await answered(servers, path, context, (server) => patiently({ ...question, server }, context.clock)),
    );
  }

  /** After a call has written files: its output with the errors that came of it; undefined when there are none. */
  async after(
    { access }: CallInfo,
    output: ToolOutput,
    context: ToolContext,
  ): Promise<ToolOutput | undefined> {
    if (access.kind !== 'write' || output.isError) return undefined;
    const { servers, edits } = this.#of(context.identity);
    return edits.after(access.paths, output, context, servers);
  }

  async close(identity: Identity): Promise<void> {
    const found = this.#opened.get(conversationOf(identity));
    this.#opened.delete(conversationOf(identity));
    await found?.servers.close();
  }

  #of(identity: Identity): Opened {
    const key = conversationOf(identity);
    const found = this.#opened.get(key);
    if (found !== undefined) return found;
    const made = { servers: new Servers(this.#rows, this.#watch), edits: new EditDiagnostics(this.#rows) };
    this.#opened.set(key, made);
    return made;
  }
}

/** A conversation goes on when its session is another. */
function conversationOf({ agent, sender }: Identity): string {
  return `${agent}\n${sender}`;
}

function about({ files, signal, identity }: ToolContext): Pick<Question, 'files' | 'signal' | 'shown'> {
  return { files, signal, shown: (path) => shownPath(path, identity.cwd) };
}

/** A server that ends meanwhile is started again once: the question may not have been the reason. */
async function answered<T>(
  servers: Servers,
  path: string,
  context: ToolContext,
  question: (server: LanguageServer) => Promise<T>,
): Promise<T> {
  const { clock, exec, open, files, signal } = context;
  const { isGone } = await import('./language-server.ts');
  for (let tries = 1; ; tries++) {
    const server = await servers.for(path, { clock, exec, open, files, signal, cwd: context.identity.cwd });
    try {
      await server.open(path, context);
      await server.refresh(context);
      return await question(server);
    } catch (error) {
      if (!isGone(error) || tries > 1) throw error;
    }
  }
}

/**
 * Some servers read the project without a word of it, and answer meanwhile as if there were nothing: one that is new is asked
 * again. What is wrong with a file may well be nothing, and is waited for elsewhere.
 */
async function patiently(question: Question, clock: Clock): Promise<Reply> {
  const { operation, server, signal } = question;
  for (let asked = 1; ; asked++) {
    const reply = await ask(question);
    const isKnown = reply.lines.length > 0 || operation === 'diagnostics';
    if (isKnown || server.age > SETTLED_MS || asked >= MAX_ASKED) return reply;
    await clock.sleep(AGAIN_MS, signal);
  }
}

function keysOf(path: string, cwd: string, rows: readonly ServerRow[]): readonly string[] {
  return rowsFor(path, rows).map(({ name }) => `${name}\n${cwd}`);
}

async function positionOf(
  input: JsonObject,
  path: string,
  { files }: ToolContext,
): Promise<Position | undefined> {
  const { line, character, symbol } = input;
  if (typeof line !== 'number') return undefined;
  if (typeof character === 'number') return { line: line - 1, character: character - 1 };
  if (typeof symbol !== 'string' || symbol === '') return undefined;
  const text = linesOf(await readText(path, files))[line - 1];
  const at = text?.indexOf(symbol) ?? -1;
  if (at >= 0) return { line: line - 1, character: at };
  const found = text === undefined ? 'that line is not there' : `the line is: ${text.trim().slice(0, 200)}`;
  throw new ToolFailure(`${JSON.stringify(symbol)} is not in line ${line} of ${path}; ${found}`);
}

function present({ title, lines, truncated }: Reply): ToolOutput {
  const text = lines.length === 0 ? `[Nothing: ${title}]` : lines.join('\n');
  return textOutput(text, { kind: 'matches', title, count: lines.length, truncated, lines });
}

function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}

/** Relative inside `cwd`; control characters cannot make a line look like another. */
function shownPath(path: string, cwd: string): string {
  const way = relative(cwd, path);
  const isInside = way !== '' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return (isInside ? way : path).replace(/[\x00-\x1f\x7f-\x9f]/g, '\ufffd');
}
