// One conversation while it is open: its tape, the model's view of it, and whatever may change while it lives. Every
// change is written before it is believed, and prompts take their turn in the order they came.

import type { Declaration } from '../core/agent.ts';
import type { Address, SessionInfo } from '../core/conversation.ts';
import type { ShellRecord } from '../core/custom.ts';
import { CrabError } from '../core/errors.ts';
import type { Control } from '../core/extension.ts';
import type { Message } from '../core/message.ts';
import type { Effort, Model } from '../core/model.ts';
import {
  type Access,
  type Gate,
  type GateRequest,
  PERMISSION_MODES,
  type PermissionMode,
} from '../core/permission.ts';
import type { Answer, Question } from '../core/question.ts';
import type { Rewinding } from '../core/rewind.ts';
import type { CompactionBody, EntryBody, PartialMessage, Tape, TapeReader, Tapes } from '../core/tape.ts';
import type { Identity, ToolState } from '../core/tool.ts';
import { Accesses } from '../engine/accesses.ts';
import { type Source, uncounted } from '../engine/compaction.ts';
import type { Journal } from '../engine/journal.ts';
import type { RequestStyle } from '../engine/requests.ts';
import { Trimmer } from '../engine/trim.ts';
import type { View } from '../engine/view.ts';
import { type FilesRecord, filesEntry, isFilesEntry } from '../parts/history/record.ts';
import type { Watch, WatchOptions } from '../parts/history/watch.ts';
import { createGate, type PermissionGate } from '../parts/permissions/gate.ts';
import { CompactionWish } from './compaction-wish.ts';
import {
  anchorEntry,
  EFFORTS,
  grantEntry,
  type History,
  promptEntry,
  readHistory,
  shellEntry,
  shellMessage,
  stateEntry,
  uncompactEntry,
  viewAfter,
} from './history.ts';
import type { RuntimeHost } from './host.ts';
import { Spending } from './spending.ts';
import type { TreeControl } from './tree-control.ts';

export interface ConversationOptions {
  readonly host: RuntimeHost;
  readonly declaration: Declaration;
  readonly cwd: string;
  readonly tape: Tape;
  readonly address: Address;
  /** Opens the session that takes this one's place. */
  readonly newTape: () => Promise<Tape>;
  /** Where the sessions of this conversation are kept. */
  readonly tapes: Tapes;
}

interface OpenQuestion {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
}

export class Conversation {
  readonly address: Address;
  readonly declaration: Declaration;
  readonly cwd: string;
  readonly spending: Spending;
  readonly #host: RuntimeHost;
  readonly #newTape: () => Promise<Tape>;
  readonly #tapes: Tapes;
  /** What past calls touched. */
  readonly accesses = new Accesses();
  readonly trimmer = new Trimmer();
  readonly compaction = new CompactionWish();
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #scratchName: string;
  #tape: Tape;
  #gate!: PermissionGate;
  #view!: View;
  #state!: Map<string, unknown>;
  /** Values of tools that go to the tape with the next message. */
  #unsaved: Record<string, unknown> = {};
  /** Entries that the next message must follow. */
  #before: EntryBody[] = [];
  #recordedModel: string | undefined;
  #recordedPrompt: { readonly cwd: string; readonly text: string } | undefined;
  #mode: PermissionMode;
  /** By a command in this conversation; what the declaration names was chosen before it. */
  #chosenModel: string | undefined;
  #chosenEffort: Effort | undefined;
  #recordedEffort: Effort | undefined;
  #fast: boolean;
  #resolved: { readonly name: string | undefined; readonly model: Model } | undefined;
  #turn: Promise<void> = Promise.resolve();
  #turns = 0;

  constructor(options: ConversationOptions) {
    const { host, declaration, cwd, tape } = options;
    this.address = options.address;
    this.declaration = declaration;
    this.cwd = cwd;
    this.#host = host;
    this.#newTape = options.newTape;
    this.#tapes = options.tapes;
    this.#tape = tape;
    this.#mode = declaration.mode;
    this.#fast = declaration.agent.fast === true;
    this.#scratchName = `crab-${tape.header.id}`;
    this.#load();
    this.spending = new Spending({
      ledger: host.ledger,
      limits: declaration.limits.budget ?? {},
      now: () => host.clock.now(),
      identity: () => this.identity,
      tape: () => this.#tape,
    });
  }

  #load(): void {
    const { declaration, cwd } = this;
    const host = this.#host;
    const history = readHistory(this.#tape);
    this.#gate = createGate({
      cwd,
      directories: [...declaration.directories, host.scratch.path(this.#scratchName)],
      rules: declaration.rules,
      resolve: (path) => host.files.resolve(path),
      ...(host.homeFolder !== undefined && { home: host.homeFolder }),
    });
    this.#view = history.view;
    this.#state = history.state;
    this.#unsaved = {};
    this.#recordedModel = history.model;
    this.#recordedEffort = history.effort;
    this.#recordedPrompt = history.prompt;
    for (const rule of history.grants)
      this.#gate.allow({ decision: 'allow', text: rule, source: 'an answer of this session' });
  }

  get info(): SessionInfo {
    return this.#tape.info();
  }

  get tape(): TapeReader {
    return this.#tape;
  }

  get notices(): readonly string[] {
    return this.#tape.notices;
  }

  get identity(): Identity {
    const { agent, sender } = this.address;
    return { agent, sender, session: this.#tape.header.id, cwd: this.cwd, mode: this.#mode };
  }

  get view(): View {
    return this.#view;
  }

  /** The branch as it is read when the session is opened again. */
  history(): History {
    return readHistory(this.#tape);
  }

  /** The system prompt of this session, once there was one. */
  get promptText(): string | undefined {
    return this.#recordedPrompt?.text;
  }

  /** The entry is written and the view shows it in one step, or neither. Resolves when it is durable. */
  replaceBySummary(entry: CompactionBody, summary: Message, kept: readonly Source[]): Promise<void> {
    const { synced } = this.#tape.append([entry]);
    this.#view.restart([summary, ...kept.map(({ message }) => uncounted(message))]);
    return synced;
  }

  async #uncompact(): Promise<void> {
    const { compacted } = this.history();
    if (compacted === undefined)
      throw new CrabError('usage', 'Nothing was compacted in this session, or a handoff came after it.');
    const { synced } = this.#tape.append([uncompactEntry(compacted.entryId)]);
    this.#view.restart(this.history().view.messages());
    await synced;
  }

  get gate(): Gate {
    return (request) => this.#gate.check(request);
  }

  /** As in `PermissionGate`. */
  onlyReads(request: GateRequest): Promise<boolean> {
    return this.#gate.onlyReads(request);
  }

  /** As in `ToolContext`, of the tool of this name. */
  withheld(tool: string): Promise<((path: string) => boolean) | undefined> {
    return this.#gate.withheld(tool, this.#mode);
  }

  /** A line is being run, or waits for its turn. */
  get isBusy(): boolean {
    return this.#turns > 0;
  }

  /** Prompts run one after another: resolves, with what ends the turn, when everything before has ended. */
  async takeTurn(signal: AbortSignal): Promise<() => void> {
    const before = this.#turn;
    let release: () => void = () => {};
    this.#turns++;
    this.#turn = new Promise((resolve) => {
      release = () => {
        this.#turns--;
        resolve();
      };
    });
    // The queue must not stop at one that gives up waiting.
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    if (!signal.aborted) await Promise.race([before, aborted]);
    if (signal.aborted) {
      before.then(release);
      throw new CrabError('interrupted', 'The prompt was taken back before its turn came.');
    }
    return release;
  }

  /** The model for the next request: what the person chose, what the session used, or the default. */
  async model(): Promise<Model> {
    const { agent } = this.declaration;
    const chosen = this.#chosenModel ?? this.#planModel ?? agent.model;
    const name = chosen ?? this.#recordedModel ?? agent.defaults?.model;
    // Asked before every request; one that could not be found is looked for again.
    if (this.#resolved === undefined || this.#resolved.name !== name)
      this.#resolved = { name, model: await this.#host.models.resolve(name) };
    return this.#resolved.model;
  }

  /** The model that only the mode is the reason for. */
  get #planModel(): string | undefined {
    if (this.#mode !== 'plan' || this.#chosenModel !== undefined) return undefined;
    return this.declaration.agent.planModel;
  }

  get effort(): Effort | undefined {
    const { agent } = this.declaration;
    return this.#chosenEffort ?? agent.effort ?? this.#recordedEffort ?? agent.defaults?.effort;
  }

  get fast(): boolean {
    return this.#fast;
  }

  /** How the next request is asked, noted on the tape where it is another way than before. */
  style(): RequestStyle {
    const { effort } = this;
    if (effort !== undefined && effort !== this.#recordedEffort) {
      this.#recordedEffort = effort;
      this.#before.push({ type: 'thinking_level_change', thinkingLevel: effort });
    }
    return {
      conversation: this.#tape.header.id,
      ...(effort !== undefined && { effort }),
      ...(this.#fast && { fast: true }),
    };
  }

  readonly journal: Journal = {
    append: (messages) => this.#append(messages),
    partial: (message: PartialMessage) => this.#tape.partial(message),
  };

  #append(messages: readonly Message[]): { readonly synced: Promise<void> } {
    const values = Object.keys(this.#unsaved).length === 0 ? [] : [stateEntry(this.#unsaved)];
    const entries = messages.map((message) => ({ type: 'message', message }) as const);
    const appended = this.#tape.append([...this.#before, ...values, ...entries]);
    this.#before = [];
    this.#unsaved = {};
    return appended;
  }

  readonly toolState: ToolState = {
    get: (key) => this.#state.get(key),
    set: (key, value) => {
      this.#state.set(key, value);
      this.#unsaved[key] = value;
    },
  };

  /**
   * The system prompt of this session in this folder: composed once, recorded, and the same from then on, since the
   * provider's cache lives on it. One that the person gives with the command takes its place.
   */
  systemPrompt(compose: () => string): string {
    const { given } = this.declaration.instructions;
    if (this.#recordedPrompt?.cwd === this.cwd && !given) return this.#recordedPrompt.text;
    const text = compose();
    if (this.#recordedPrompt?.text !== text) {
      this.#recordedPrompt = { cwd: this.cwd, text };
      this.#before.push(promptEntry(this.#recordedPrompt));
    }
    return text;
  }

  /** Watches the files that a call may change; undefined where nothing is kept. Its record is for `noteFiles`. */
  watch(access: Access, options: WatchOptions): Promise<Watch | undefined> {
    return this.#host.histories?.watch(this.#tape, access, options) ?? Promise.resolve(undefined);
  }

  /** Goes to the tape with the call's result. */
  noteFiles(record: FilesRecord): void {
    this.#before.push(filesEntry(record));
  }

  /** Writes what was noted and no message followed, as when a run was stopped. */
  async flush(): Promise<void> {
    const entries = this.#before.filter(isFilesEntry);
    if (entries.length === 0) return;
    this.#before = this.#before.filter((entry) => !isFilesEntry(entry));
    await this.#tape.append(entries).synced;
  }

  async rewinding(): Promise<Rewinding> {
    const histories = this.#host.histories;
    if (histories === undefined) throw new CrabError('rewind-unknown', 'No history is kept here.');
    const rewinding = await histories.rewinding(this.#tape);
    const moved = async <T>(doing: Promise<T>): Promise<T> => {
      try {
        return await doing;
      } finally {
        this.#load();
      }
    };
    return {
      ...rewinding,
      rewind: (to, request) => moved(rewinding.rewind(to, request)),
      redo: (options) => moved(rewinding.redo(options)),
    };
  }

  /** Notes the model that the next message comes from, when it is another than before; one of a mode is not kept. */
  useModel({ info }: Model): void {
    if (this.#planModel !== undefined) return;
    const name = `${info.provider}/${info.id}`;
    if (this.#recordedModel === name) return;
    this.#recordedModel = name;
    this.#before.push({ type: 'model_change', provider: info.provider, modelId: info.id });
  }

  /** A shell line of the person's own, kept for the model to see. */
  async keepShell(record: ShellRecord): Promise<void> {
    const { synced } = this.#tape.append([shellEntry(record)]);
    this.#view.add(shellMessage(record, this.#host.clock.now()));
    await synced;
  }

  async grant(request: Parameters<Gate>[0]): Promise<void> {
    const rule = await this.#gate.grantFor(request);
    if (rule === undefined) return;
    this.#gate.allow(rule);
    await this.#tape.append([grantEntry(rule.text)]).synced;
  }

  /** `compact` is only noted here: whoever runs the conversation carries it out. */
  async control(control: Control): Promise<void> {
    switch (control.kind) {
      case 'setMode': {
        const mode = PERMISSION_MODES.find((known) => known === control.mode);
        if (mode === undefined)
          throw new CrabError('usage', `There is no permission mode ${control.mode}.`, {
            hint: `Use one of ${PERMISSION_MODES.join(', ')}.`,
          });
        this.#mode = mode;
        return;
      }
      case 'setModel':
        await this.#host.models.resolve(control.model);
        this.#chosenModel = control.model;
        return;
      case 'setEffort': {
        const effort = EFFORTS.find((known) => known === control.effort);
        if (effort === undefined)
          throw new CrabError('usage', `There is no effort ${control.effort}.`, {
            hint: `Use one of ${EFFORTS.join(', ')}.`,
          });
        this.#chosenEffort = effort;
        return;
      }
      case 'setFast':
        this.#fast = control.fast;
        return;
      case 'setName':
        return this.#tape.append([{ type: 'session_info', name: control.name }]).synced;
      case 'anchor': {
        const { name, summary } = control;
        const { synced } = this.#tape.append([anchorEntry({ name, summary })]);
        this.#view = viewAfter({ name, summary }, this.#host.clock.now());
        return synced;
      }
      case 'compact':
        return this.compaction.ask(control.focus ?? '');
      case 'uncompact':
        return this.#uncompact();
      case 'newSession':
        return this.#goOnIn(await this.#newTape());
      case 'fork':
      case 'moveTo':
      case 'label':
        return this.#controlTree(control);
    }
  }

  async #controlTree(control: TreeControl): Promise<void> {
    const { controlTree } = await import('./tree-control.ts');
    const before = this.#tape;
    const { address, cwd } = this;
    const tape = await controlTree(control, { tape: before, tapes: this.#tapes, address, cwd });
    if (tape !== before) return this.#goOnIn(tape);
    if (control.kind === 'moveTo') this.#load();
  }

  async #goOnIn(next: Tape): Promise<void> {
    await this.#tape.close();
    this.#tape = next;
    this.#load();
  }

  /** Puts a question; the first valid answer wins. Rejects when the signal aborts first. */
  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const close = () => {
        this.#questions.delete(question.id);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        close();
        reject(signal.reason);
      };
      const settle = (answer: Answer) => {
        close();
        resolve(answer);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#questions.set(question.id, { question, settle });
    });
  }

  answer(id: string, answer: Answer): boolean {
    const open = this.#questions.get(id);
    if (open === undefined || open.question.kind !== answer.kind) return false;
    open.settle(answer);
    return true;
  }

  scratch(): Promise<string> {
    return this.#host.scratch.make(this.#scratchName);
  }

  spill(file: string, text: string): Promise<string> {
    return this.#host.scratch.write(this.#scratchName, file, text);
  }

  async close(): Promise<void> {
    await this.#tape.close();
    await this.#host.scratch.remove(this.#scratchName);
  }
}
