// One conversation while it is open: its tape, the model's view of it, and whatever may change while it lives. Every
// change is written before it is believed, and prompts take their turn in the order they came.

import type { Declaration } from '../core/agent.ts';
import type { Address, SessionInfo } from '../core/conversation.ts';
import { type ShellRecord, VIOLATION_ENTRY } from '../core/custom.ts';
import { CrabError } from '../core/errors.ts';
import type { AgentWorkerCompleted, SandboxViolated } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import type { Job } from '../core/job.ts';
import type { Message } from '../core/message.ts';
import type { Effort, Model } from '../core/model.ts';
import {
  type Access,
  type Gate,
  type GateRequest,
  isSessionOnly,
  PERMISSION_MODES,
  type PermissionMode,
  type Rule,
  stricterMode,
} from '../core/permission.ts';
import type { Remember } from '../core/question.ts';
import type { Rewinding } from '../core/rewind.ts';
import type { BudgetSettings } from '../core/settings.ts';
import type { CompactionBody, EntryBody, PartialMessage, Tape, TapeReader, Tapes } from '../core/tape.ts';
import type { Identity, ToolState } from '../core/tool.ts';
import { Accesses } from '../engine/accesses.ts';
import { type Source, uncounted } from '../engine/compaction.ts';
import type { Journal } from '../engine/journal.ts';
import type { RequestStyle } from '../engine/requests.ts';
import { Trimmer } from '../engine/trim.ts';
import type { View } from '../engine/view.ts';
import { Voices } from '../engine/voices.ts';
import { type FilesRecord, filesEntry, isFilesEntry } from '../parts/history/record.ts';
import type { Watch, WatchOptions } from '../parts/history/watch.ts';
import type { OpenJobs } from '../parts/process/jobs.ts';
import { CompactionWish } from './compaction-wish.ts';
import { ConversationSandbox } from './confinement.ts';
import { ANSWERED, ConversationPermissions } from './conversation-permissions.ts';
import {
  anchorEntry,
  approvalEntry,
  EFFORTS,
  grantEntry,
  type History,
  isModeEntry,
  modeEntry,
  promptEntry,
  readHistory,
  restrictionEntry,
  shellEntry,
  shellMessage,
  stateEntry,
  uncompactEntry,
  viewAfter,
} from './history.ts';
import type { RuntimeHost } from './host.ts';
import { OpenQuestions } from './open-questions.ts';
import { Spending } from './spending.ts';
import type { TreeControl } from './tree-control.ts';
import { Turns } from './turns.ts';

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
  /** As in `SessionChoice`. */
  readonly goesOn: boolean;
  /** The pair of names is at another session from here on; absent where nobody asks for its session by the pair. */
  readonly moveHead?: (sessionId: string) => Promise<void>;
  /** Whose task it carries out. */
  readonly parent?: Conversation;
}

/** Where the state of the tools keeps the names of those that were found. */
const OFFERED_TOOLS = 'crab.offeredTools';

/** And that of the call before which results are snipped. */
const SNIP_BEFORE = 'crab.snipBefore';

interface Lasting {
  readonly isOfCommands: boolean;
  /** Resolves when its last record is noted. */
  readonly over: Promise<void>;
}

export class Conversation {
  readonly address: Address;
  readonly declaration: Declaration;
  readonly spending: Spending;
  /** How many others wait for it, one for the other. */
  readonly depth: number;
  /** The conversation that the first task came from, whose sender's money is spent; its own when it is no task. */
  readonly origin: Address;
  readonly voices = new Voices();
  /** The folder that the conversation was opened in. */
  readonly home: string;
  /** Tasks in the background that are over and that nobody was told of. */
  #completed: AgentWorkerCompleted[] = [];
  /** Messages that the session had when it was opened, until that was told. */
  #resumed: number;
  /** Notices that were given here and in the conversations that it waits for. */
  readonly #noticed: Set<string>;
  readonly #parent: Conversation | undefined;
  readonly #host: RuntimeHost;
  readonly #newTape: () => Promise<Tape>;
  readonly #tapes: Tapes;
  readonly #moveHead: ConversationOptions['moveHead'];
  /** What past calls touched. */
  readonly accesses = new Accesses();
  readonly jobs: OpenJobs;
  /** Watches of calls whose jobs go on. */
  readonly #lasting = new Map<Watch, Lasting>();
  readonly sandbox: ConversationSandbox;
  readonly trimmer = new Trimmer();
  readonly compaction = new CompactionWish();
  readonly questions = new OpenQuestions();
  readonly turns = new Turns();
  readonly permissions: ConversationPermissions;
  readonly #scratchName: string;
  /** What the sandbox took away stays when the conversation ends: it may be all there is of it. */
  readonly #keptName: string;
  #tape: Tape;
  #cwd: string;
  #view!: View;
  #state!: Map<string, unknown>;
  /** Values of tools that go to the tape with the next message. */
  #unsaved: Record<string, unknown> = {};
  /** Entries that the next message must follow. */
  #before: EntryBody[] = [];
  #recordedModel: string | undefined;
  /** Names, in order. */
  #recordedTools: string | undefined;
  #recordedPrompt: { readonly cwd: string; readonly text: string } | undefined;
  #mode: PermissionMode;
  /** By a command in this conversation; what the declaration names was chosen before it. */
  #chosenModel: string | undefined;
  #chosenEffort: Effort | undefined;
  #recordedEffort: Effort | undefined;
  #fast: boolean;
  #resolved: { readonly name: string | undefined; readonly model: Model } | undefined;
  /** The value in the state that `#offered` was made from. */
  #offeredNames: unknown;
  #offered: ReadonlySet<string> = new Set();

  constructor(options: ConversationOptions) {
    const { host, declaration, cwd, tape } = options;
    this.address = options.address;
    this.declaration = declaration;
    this.home = cwd;
    this.#cwd = cwd;
    this.#host = host;
    this.#newTape = options.newTape;
    this.#tapes = options.tapes;
    this.#moveHead = options.moveHead;
    this.#tape = tape;
    const { parent } = options;
    this.#parent = parent;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.origin = parent?.origin ?? options.address;
    this.#noticed = parent === undefined ? new Set() : parent.#noticed;
    this.#resumed = tape.info().messages;
    this.#mode = declaration.mode;
    this.#fast = declaration.agent.fast === true;
    this.#scratchName = `crab-${tape.header.id}`;
    this.#keptName = `${this.#scratchName}-kept-${host.clock.now().toString(36)}`;
    this.jobs = host.jobs(() => this.scratch());
    const scratch = host.scratch.path(this.#scratchName);
    this.permissions = new ConversationPermissions({ host, declaration, scratch, home: cwd });
    const { mode } = this.#load();
    if (options.goesOn && mode !== undefined) this.#mode = stricterMode(mode, declaration.modeCeiling);
    this.sandbox = new ConversationSandbox({
      host,
      request: {
        policy: declaration.sandbox,
        scratch: () => this.scratch(),
        kept: () => host.scratch.make(this.#keptName),
      },
      place: () => ({
        cwd: this.#cwd,
        directories: this.permissions.directories,
      }),
      onlyReads: (request) => this.permissions.onlyReads(request),
    });
    this.spending = this.spendingWithin(declaration.limits.budget ?? {}, parent?.spending);
  }

  /** What is spent counts for the parent, too, and its budgets hold. */
  spendingWithin(limits: BudgetSettings, parent: Spending | undefined): Spending {
    return new Spending({
      ledger: this.#host.ledger,
      limits,
      now: () => this.#host.clock.now(),
      identity: () => ({
        ...this.identity,
        sender: this.origin.sender,
        ...(this.#parent !== undefined && { paidBy: this.#parent.#payingSession }),
      }),
      tape: () => this.#tape,
      ...(parent !== undefined && { parent }),
    });
  }

  get #payingSession(): string {
    return this.#parent === undefined ? this.#tape.header.id : this.#parent.#payingSession;
  }

  /** Those of them that were not given yet, here or in a conversation that has to do with this one. */
  newNotices(texts: readonly string[]): readonly string[] {
    const fresh = texts.filter((text) => !this.#noticed.has(text));
    for (const text of fresh) this.#noticed.add(text);
    return fresh;
  }

  /** Told of with the next request. */
  noteCompleted(event: AgentWorkerCompleted): void {
    this.#completed.push(event);
  }

  takeCompleted(): readonly AgentWorkerCompleted[] {
    const completed = this.#completed;
    if (completed.length > 0) this.#completed = [];
    return completed;
  }

  /** The messages that the session had when it was opened; 0 when that was asked for before. */
  takeResumed(): number {
    const resumed = this.#resumed;
    this.#resumed = 0;
    return resumed;
  }

  #load(): History {
    const history = readHistory(this.#tape);
    this.#view = history.view;
    this.#state = history.state;
    this.#unsaved = {};
    this.#recordedModel = history.model;
    this.#recordedTools = history.tools?.join(' ');
    this.#recordedEffort = history.effort;
    this.#recordedPrompt = history.prompt;
    this.permissions.load(history);
    return history;
  }

  /** Where relative paths begin, and the workspace that permissions are judged by. */
  get cwd(): string {
    return this.#cwd;
  }

  /** As `setFolder` in `ToolControl`. */
  goTo(path: string | undefined): void {
    this.#cwd = path ?? this.home;
    this.permissions.goTo(this.#cwd);
    this.sandbox.moved();
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
    const { header, path } = this.#tape;
    const isPassing = path === undefined && { isPassing: true };
    const origin = this.#parent !== undefined && { origin: this.origin };
    return { agent, sender, session: header.id, ...isPassing, cwd: this.cwd, mode: this.#mode, ...origin };
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

  /** `tell` takes what a person should know beside the verdict. */
  gate(tell: (notice: string) => void): Gate {
    return async (request) => this.sandbox.judge(request, await this.permissions.check(request), tell);
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

  get snippedBefore(): string | undefined {
    const id = this.#state.get(SNIP_BEFORE);
    return typeof id === 'string' ? id : undefined;
  }

  snipBefore(callId: string): void {
    this.toolState.set(SNIP_BEFORE, callId);
  }

  /** Names of deferred tools that the model is sent, in the order in which they were found. */
  get offered(): ReadonlySet<string> {
    const names = this.#state.get(OFFERED_TOOLS);
    if (names !== this.#offeredNames) {
      this.#offeredNames = names;
      this.#offered = new Set(Array.isArray(names) ? names.map(String) : []);
    }
    return this.#offered;
  }

  offer(names: readonly string[]): void {
    if (names.length > 0) this.toolState.set(OFFERED_TOOLS, [...this.offered, ...names]);
  }

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
  async watch(access: Access, options: Omit<WatchOptions, 'owner'>): Promise<Watch | undefined> {
    const watch = await this.#host.histories?.watch(this.#tape, access, options);
    // What jobs did before the call stands before what the call does.
    await this.#noteLasting({ look: false });
    return watch;
  }

  /** Jobs go on behind the call that began them, and so does its watch. */
  watchOn(watch: Watch, jobs: readonly Job[]): void {
    const isOfCommands = jobs.every(({ kind }) => kind === 'command');
    const over = Promise.all(jobs.map(({ id }) => this.jobs.over(id))).then(() => this.#endLasting(watch));
    this.#lasting.set(watch, { isOfCommands, over });
  }

  /**
   * A program may go on for days beside a person who edits files: what it changes between two runs counts as hers. Other
   * agents end, and are watched until they do.
   */
  async endOfRun(): Promise<void> {
    for (const [watch, { isOfCommands }] of this.#lasting) if (isOfCommands) await this.#endLasting(watch);
  }

  async #endLasting(watch: Watch): Promise<void> {
    if (!this.#lasting.has(watch)) return;
    const record = await watch.end();
    // Noted once, though its jobs may have ended meanwhile.
    if (this.#lasting.delete(watch)) this.noteFiles(record);
  }

  async #noteLasting(options: { readonly look: boolean }): Promise<void> {
    for (const watch of this.#lasting.keys()) this.noteFiles(await watch.soFar(options));
  }

  /** Goes to the tape with the call's result. */
  noteViolation({ type: _, ...data }: SandboxViolated): void {
    this.#before.push({ type: 'custom', customType: VIOLATION_ENTRY, data });
  }

  /** Goes to the tape with the call's result. */
  noteFiles(record: FilesRecord | undefined): void {
    if (record !== undefined) this.#before.push(filesEntry(record));
  }

  /** Writes what was noted of calls and no message followed, as when a run was stopped or a job ended after it. */
  async flush(): Promise<void> {
    const entries = this.#before.filter(happened);
    if (entries.length === 0) return;
    this.#before = this.#before.filter((entry) => !happened(entry));
    await this.#tape.append(entries).synced;
  }

  async rewinding(): Promise<Rewinding> {
    const histories = this.#host.histories;
    if (histories === undefined) throw new CrabError('rewind-unknown', 'No history is kept here.');
    await this.#noteLasting({ look: true });
    await this.flush();
    const rewinding = await histories.rewinding(this.#tape);
    const moved = async <T>(doing: Promise<T>): Promise<T> => {
      try {
        return await doing;
      } finally {
        // What was put back is not the work of a job.
        for (const watch of this.#lasting.keys()) await watch.soFar({ look: true });
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

  /** Notes the tools that the next request sends, when they are others than before. */
  useTools(names: readonly string[]): void {
    const text = names.join(' ');
    if (this.#recordedTools === text) return;
    this.#recordedTools = text;
    this.#before.push({ type: 'active_tools_change', tools: names });
  }

  /** What the model is told besides prompts: the entry, and the message that it is read as. */
  async say(entry: EntryBody, message: Message): Promise<void> {
    const { synced } = this.#tape.append([entry]);
    this.#view.add(message);
    await synced;
  }

  /** A shell line of the person's own, kept for the model to see. */
  async keepShell(record: ShellRecord): Promise<void> {
    await this.say(shellEntry(record), shellMessage(record, this.#host.clock.now()));
  }

  /** As in `CallEnvironment`. Throws `CrabError` (`storage-failed`) when it holds for this session alone. */
  async approved(request: GateRequest, remember: Remember | undefined): Promise<void> {
    await this.sandbox.permit(request);
    if (remember !== undefined && this.sandbox.remember(request)) return;
    const rule = await this.permissions.grantFor(request);
    if (rule === undefined) return;
    if (remember === undefined) {
      this.#before.push(approvalEntry(rule.text));
      return;
    }
    const lasts = remember === 'always' && !isSessionOnly(request.access);
    this.permissions.add(rule, lasts);
    await this.#tape.append([grantEntry(rule.text)]).synced;
    if (lasts) await this.#host.keepRule?.(this.cwd, rule.text);
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
        const { modeCeiling } = this.declaration;
        if (stricterMode(mode, modeCeiling) !== mode)
          throw new CrabError('usage', `The agent ${this.address.agent} may use ${modeCeiling} at most.`, {
            hint: 'Its definition says so, or whoever gave it its task.',
          });
        if (mode === this.#mode) return;
        this.#mode = mode;
        return this.#noteMode();
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
      case 'addRule':
        return this.#addRule({ decision: control.decision, text: control.rule, source: ANSWERED });
      case 'addDirectory':
        return this.#addDirectory(control.path);
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

  /** A session that nothing was said in gets no file for it. */
  async #noteMode(): Promise<void> {
    const entry = modeEntry(this.#mode);
    if (this.#tape.leafId === null) this.#before.push(entry);
    else await this.#tape.append([entry]).synced;
  }

  /** Writes the mode that was chosen before anything was said. */
  async keepMode(): Promise<void> {
    const entry = this.#before.findLast(isModeEntry);
    if (entry !== undefined) await this.#tape.append([entry]).synced;
  }

  async #addRule(rule: Rule): Promise<void> {
    const { decision, text } = rule;
    this.permissions.add(rule);
    const entry = decision === 'allow' ? grantEntry(text) : restrictionEntry({ decision, rule: text });
    await this.#tape.append([entry]).synced;
  }

  async #addDirectory(path: string): Promise<void> {
    const { files } = this.#host;
    if ((await files.info(path))?.kind !== 'directory')
      throw new CrabError('usage', `${path} is not a folder.`);
    const folder = await files.resolve(path);
    this.permissions.include(folder);
    this.sandbox.moved();
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
    await this.#moveHead?.(next.header.id);
    await this.#tape.close();
    this.#tape = next;
    this.#load();
    if (this.#mode !== this.declaration.mode) this.#before.push(modeEntry(this.#mode));
  }

  scratch(): Promise<string> {
    return this.#host.scratch.make(this.#scratchName);
  }

  spill(file: string, text: string): Promise<string> {
    return this.#host.scratch.write(this.#scratchName, file, text);
  }

  async close(): Promise<void> {
    await this.jobs.close();
    for (const { over } of [...this.#lasting.values()]) await over;
    await this.sandbox.close();
    await this.flush();
    await this.#tape.close();
    await this.#host.scratch.remove(this.#scratchName);
  }
}

/** What is true whether or not a message follows; a choice of the model is only worth a line with its answer. */
function happened(entry: EntryBody): boolean {
  return isFilesEntry(entry) || (entry.type === 'custom' && entry.customType === VIOLATION_ENTRY);
}
