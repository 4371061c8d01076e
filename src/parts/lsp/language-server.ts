// One language server over one root, from its first message to its last. Questions go out when it has read the file
// in question and has nothing more to load; that it hangs, ends or talks nonsense is told to whoever asked.

import { ToolFailure } from '../../core/errors.ts';
import type { Clock, Files, RunningProcess } from '../../core/host.ts';
import type { Watch, WatchedChange, WatchFiles } from '../../core/watch.ts';
import { type Connection, connect, ServerGone, ServerTimeout } from './connection.ts';
import { Documents, type OpenDocument, readText } from './documents.ts';
import { type Diagnostic, fields, items, readDiagnostics, uriOf } from './protocol.ts';
import { PublishedDiagnostics } from './published.ts';
import type { ServerRow } from './server-table.ts';

const INITIALIZE_MS = 45_000;
const REQUEST_MS = 30_000;
/** Longest wait for what a server loads before it can answer well; it answers less well after that. */
const LOADING_MS = 30_000;
const SHUTDOWN_MS = 1000;

/** Time-outs in a row after which a server is taken for dead. */
const MAX_TIMEOUTS = 2;

const MAX_DIAGNOSTICS = 200;

/** Changes that are kept for a server that may want to know of them. */
const MAX_UNTOLD = 1000;

/** `FileChangeType` of the protocol. */
const CHANGE_TYPES = { added: 1, changed: 2, removed: 3 } as const;

export interface ServerOptions {
  readonly row: ServerRow;
  readonly root: string;
  readonly child: RunningProcess;
  readonly clock: Clock;
  readonly watch: WatchFiles;
}

export interface Asking {
  readonly files: Files;
  readonly signal: AbortSignal;
  /** Somebody has just written the file that is asked about. */
  readonly wasSaved?: boolean;
}

export class LanguageServer {
  readonly row: ServerRow;
  readonly root: string;
  /** As in `Connection`. */
  readonly closed: Promise<string>;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #connection: Connection;
  readonly #documents = new Documents();
  readonly #published: PublishedDiagnostics;
  readonly #loading = new Set<unknown>();
  #loaded = Promise.withResolvers<void>();
  #capabilities: Readonly<Record<string, unknown>> = {};
  readonly #watchFiles: WatchFiles;
  readonly #life = new AbortController();
  #watch: Watch | undefined;
  /** It leaves watching the files to us. */
  #isTold = false;
  /** What has changed before it said so. */
  #untold: WatchedChange[] = [];
  #timeouts = 0;

  constructor({ row, root, child, clock, watch }: ServerOptions) {
    this.row = row;
    this.root = root;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#connection = connect(child, row.name, clock);
    this.closed = this.#connection.closed;
    this.#published = new PublishedDiagnostics(clock);
    this.#watchFiles = watch;
    this.closed.finally(() => this.#life.abort());
    this.#listen();
  }

  get isOpen(): boolean {
    return this.#connection.fault() === undefined;
  }

  /** Milliseconds since it was started. */
  get age(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  /** Throws `ToolFailure`; the server is gone then. */
  async initialize({ signal }: Pick<Asking, 'signal'>): Promise<void> {
    const { initializationOptions } = this.row;
    try {
      // Before it reads anything, so that no change falls between its reading and the first look.
      this.#watch = await this.#watchFiles(
        { root: this.root, wants: (path) => this.#isOwn(path), batch: (changes) => this.#changed(changes) },
        this.#life.signal,
      );
      const answer = await this.#connection.request(
        'initialize',
        {
          // Nobody to watch over it: its whole tree is ended by whoever started it.
          processId: null,
          clientInfo: { name: 'crab' },
          rootUri: uriOf(this.root),
          rootPath: this.root,
          workspaceFolders: [folderOf(this.root)],
          capabilities: CAPABILITIES,
          ...(initializationOptions !== undefined && { initializationOptions }),
        },
        { signal, timeoutMs: INITIALIZE_MS },
      );
      this.#capabilities = fields(fields(answer)['capabilities']);
      this.#connection.notify('initialized', {});
    } catch (error) {
      await this.#connection.close();
      throw error;
    }
  }

  /** Whether it said that it can do what the capability of this name stands for. */
  can(capability: string): boolean {
    const value = this.#capabilities[capability];
    return value !== undefined && value !== null && value !== false;
  }

  /** The file as the server sees it when the next question arrives. */
  async open(path: string, { files, signal }: Asking): Promise<OpenDocument> {
    const document = this.#tell(path, await readText(path, files));
    await this.#whenLoaded(signal);
    return document;
  }

  #tell(path: string, text: string, again = false): OpenDocument {
    const document = this.#documents.next(path, this.#languageOf(path), text, again);
    if (document.isNews) this.#published.expect(path, document.version);
    this.#documents.tell(this.#connection, document);
    return document;
  }

  /** Tells it what has changed on disk since it was last told: of the open files, and of the others if it wants to know. */
  async refresh({ files }: Pick<Asking, 'files'>): Promise<void> {
    for (const path of this.#documents.paths()) {
      const text = await readText(path, files).catch(() => undefined);
      if (text === undefined) this.#documents.close(this.#connection, path);
      else this.#tell(path, text);
    }
    await this.#watch?.flush();
  }

  #changed(changes: readonly WatchedChange[]): void {
    if (!this.#isTold) {
      if (this.#untold.length < MAX_UNTOLD) this.#untold.push(...changes);
      return;
    }
    this.#connection.notify('workspace/didChangeWatchedFiles', {
      changes: changes.map(({ path, kind }) => ({ uri: uriOf(path), type: CHANGE_TYPES[kind] })),
    });
  }

  #isOwn(path: string): boolean {
    return Object.keys(this.row.languages).some((ending) => path.endsWith(ending));
  }

  async request(method: string, params: unknown, { signal }: Pick<Asking, 'signal'>): Promise<unknown> {
    try {
      const answer = await this.#connection.request(method, params, { signal, timeoutMs: REQUEST_MS });
      this.#timeouts = 0;
      return answer;
    } catch (error) {
      if (error instanceof ServerTimeout && ++this.#timeouts >= MAX_TIMEOUTS) await this.#connection.close();
      throw error;
    }
  }

  /** What is wrong with a file, as it is on disk. Undefined when it did not say so in `ms`. */
  async diagnostics(path: string, ms: number, asking: Asking): Promise<readonly Diagnostic[] | undefined> {
    const { signal } = asking;
    const { uri, text, isNews } = await this.open(path, asking);
    if (asking.wasSaved === true) this.#saved(uri);
    if (this.can('diagnosticProvider')) return this.#pulled(uri, ms, signal);
    // It speaks when it is told something, and what it said may have been true before other files changed.
    if (!isNews) this.#tell(path, text, true);
    return this.#published.settled(path, ms, signal);
  }

  async #pulled(
    uri: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<readonly Diagnostic[] | undefined> {
    const params = { textDocument: { uri } };
    try {
      const answer = await this.#connection.request('textDocument/diagnostic', params, { signal, timeoutMs });
      return readDiagnostics(fields(answer)['items'], MAX_DIAGNOSTICS);
    } catch (error) {
      if (error instanceof ServerTimeout) return undefined;
      throw error;
    }
  }

  /** Some servers check more when a file is saved. */
  #saved(uri: string): void {
    const sync = this.#capabilities['textDocumentSync'];
    if (fields(sync)['save']) this.#connection.notify('textDocument/didSave', { textDocument: { uri } });
    if (this.#isTold)
      this.#connection.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type: 2 }] });
  }

  /** Asks it to end, and ends it. Never rejects. */
  async close(): Promise<void> {
    if (this.isOpen) {
      const { signal } = new AbortController();
      const asked = this.#connection.request('shutdown', undefined, { signal, timeoutMs: SHUTDOWN_MS });
      await asked.then(
        () => this.#connection.notify('exit'),
        () => {},
      );
    }
    await this.#connection.close();
    await this.closed;
  }

  #listen(): void {
    const on = this.#connection;
    on.onNotification('textDocument/publishDiagnostics', (params) => this.#published.take(params));
    on.onNotification('$/progress', (params) => this.#progress(params));
    on.onRequest('window/workDoneProgress/create', () => null);
    on.onRequest('window/showMessageRequest', () => null);
    on.onRequest('workspace/workspaceFolders', () => [folderOf(this.root)]);
    // Nothing is set, and nothing is changed behind the back of the permission system.
    on.onRequest('workspace/configuration', (params) => items(fields(params)['items']).map(() => null));
    on.onRequest('workspace/applyEdit', () => ({ applied: false }));
    on.onRequest('workspace/diagnostic/refresh', () => null);
    on.onRequest('client/unregisterCapability', () => null);
    on.onRequest('client/registerCapability', (params) => {
      const wanted = items(fields(params)['registrations']).map((one) => fields(one)['method']);
      if (wanted.includes('workspace/didChangeWatchedFiles')) this.#tellChanges();
      return null;
    });
    on.listen();
  }

  #tellChanges(): void {
    this.#isTold = true;
    const untold = this.#untold;
    this.#untold = [];
    if (untold.length > 0) this.#changed(untold);
  }

  #progress(params: unknown): void {
    const { token, value } = fields(params);
    const { kind } = fields(value);
    if (kind === 'begin' && this.#loading.size < 100) this.#loading.add(token);
    if (kind !== 'end') return;
    this.#loading.delete(token);
    if (this.#loading.size > 0) return;
    this.#loaded.resolve();
    this.#loaded = Promise.withResolvers();
  }

  async #whenLoaded(signal: AbortSignal): Promise<void> {
    if (this.#loading.size === 0) return;
    const over = new AbortController();
    const late = this.#clock.sleep(LOADING_MS, AbortSignal.any([signal, over.signal]));
    late.catch(() => {});
    await Promise.race([this.#loaded.promise, late, this.closed]);
    over.abort();
    // What did not end in that time may never end.
    this.#loading.clear();
  }

  #languageOf(path: string): string {
    const ending = Object.keys(this.row.languages).find((each) => path.endsWith(each));
    if (ending === undefined)
      throw new ToolFailure(`${path} is no file of the language server ${this.row.name}.`);
    return this.row.languages[ending] ?? '';
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof ServerGone;
}

function folderOf(root: string) {
  return { uri: uriOf(root), name: root.split(/[/\\]/).at(-1) || root };
}

const CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    didChangeWatchedFiles: { dynamicRegistration: true },
    symbol: {},
  },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: {},
    diagnostic: {},
    definition: { linkSupport: true },
    implementation: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
  },
};
