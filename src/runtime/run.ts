// A prompt for the model: gathers what this conversation gives a run (model, tools, gate, tape, questions) and hands
// it to the engine. The model is found before anything is written, so that a missing key leaves nothing behind.

import type { AgentProfile } from '../core/agent.ts';
import { messageOf } from '../core/errors.ts';
import type { Event, RunEnd } from '../core/event.ts';
import { type Message, messageText, type UserMessage } from '../core/message.ts';
import type { Model, ToolSchema } from '../core/model.ts';
import type { Prompt } from '../core/platform.ts';
import type { Question } from '../core/question.ts';
import { redactedValue } from '../core/redact.ts';
import type { ToolContext, ToolDirectory } from '../core/tool.ts';
import type { Usage } from '../core/usage.ts';
import type { CallEnvironment } from '../engine/call.ts';
import { composePrompt } from '../engine/prompt.ts';
import { type Emit, type Query, query } from '../engine/query.ts';
import { isSameName } from '../engine/tool-name.ts';
import { guestFraming, hasGuests, PRIMARY_FRAMING } from '../engine/voices.ts';
import { createDenialTracker } from '../parts/permissions/denials.ts';
import type { Catalogue } from './catalogue.ts';
import { confinedTools } from './confined-tools.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { jobNews } from './job-news.ts';
import { type OfferedTools, offeredTools } from './offered-tools.ts';
import { findProfile, peersOf } from './peers.ts';
import type { Spending } from './spending.ts';
import { structuredOutput } from './structured.ts';
import { boundedBy, budgetOf, notesOf, runSubrun, type Surroundings } from './subrun.ts';
import { watchedTools } from './watched-tools.ts';

export interface PromptRun {
  readonly surroundings: Surroundings;
  /** The name of the agent that answers in place of the conversation's own. */
  readonly prompt: Pick<Prompt, 'guest'>;
  readonly host: RuntimeHost;
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
  readonly message: UserMessage;
  readonly signal: AbortSignal;
}

export async function* runPrompt(run: PromptRun): AsyncGenerator<readonly Event[], void> {
  const { host, conversation, catalogue, signal } = run;
  const guest = guestOf(run);
  const model = await (guest === undefined ? conversation.model() : guest.voice.model());
  const redact = host.redact ?? ((text: string) => text);
  const message = withoutSecrets(await preprocessed(run), redact);
  const { declaration } = conversation;
  const structured =
    declaration.outputSchema === undefined || guest !== undefined
      ? undefined
      : structuredOutput(declaration.outputSchema);
  const offered = offeredTools({
    conversation,
    catalogue,
    ...(structured !== undefined && { ending: structured.tool }),
  });
  const tools = guest === undefined ? offered.schemas : () => [];
  const sent = () => {
    const schemas = tools();
    if (guest === undefined) conversation.useTools(schemas.map(({ name }) => name));
    return schemas;
  };
  const notes = guest === undefined ? [] : notesOf(guest.profile, conversation);
  yield [startOf(conversation, guest?.voice.guest, model, tools()), ...notes, ...resumed(conversation)];
  const spec: Query = {
    accounts: conversation.spending,
    ...(guest?.voice ?? ownVoice(run, redact)),
    prompt: message,
    view: conversation.view,
    tools: sent,
    calls: (emit, spent) => callEnvironment(run, guest === undefined ? offered : undefined, { emit, spent }),
    clock: host.clock,
    trimmer: conversation.trimmer,
    snipBefore: () => conversation.snippedBefore,
    accesses: async (messages) => {
      await conversation.accesses.learn(messages, {
        tools: offered.byName,
        identity: () => conversation.identity,
      });
      return conversation.accesses;
    },
    compaction: compactionOffer(run, offered),
    ...(declaration.limits.context?.tellsResults === true && {
      digests: (await import('./digests.ts')).digestsOf(host, conversation),
    }),
    signal,
    ...(structured !== undefined && { finish: structured.finish }),
  };
  if (guest === undefined) conversation.useModel(model);
  try {
    for await (const events of query(spec)) {
      const last = events.at(-1);
      const all = last?.type === 'runEnd' ? [...events.slice(0, -1), ...atEnd(run, last)] : events;
      tell(run, all);
      yield all;
    }
  } finally {
    await conversation.endOfRun();
    await host.sweep();
    await conversation.flush();
  }
}

function startOf(
  conversation: Conversation,
  guest: string | undefined,
  { info: { provider, id }, credential }: Model,
  tools: readonly ToolSchema[],
): Event {
  const { agent, sender, session, cwd, mode } = conversation.identity;
  return {
    type: 'runStart',
    agent,
    ...(guest !== undefined && { guest }),
    sender,
    session,
    cwd,
    model: { provider, id },
    ...(credential !== undefined && { credential }),
    mode,
    tools: tools.map((tool) => tool.name),
  };
}

function resumed(conversation: Conversation): readonly Event[] {
  const messages = conversation.takeResumed();
  const { session } = conversation.identity;
  return messages === 0 ? [] : [{ type: 'sessionResumed', session, messages }];
}

type Voice = Pick<
  Query,
  'system' | 'model' | 'style' | 'fallbacks' | 'limits' | 'journal' | 'told' | 'guest'
> &
  Pick<Query, 'beforeStop' | 'news'>;

/** The conversation's own agent. */
function ownVoice(run: PromptRun, redact: (text: string) => string): Voice {
  const { host, conversation, catalogue } = run;
  const { declaration, voices } = conversation;
  const system = conversation.systemPrompt(() =>
    redact(composePrompt(declaration.instructions, catalogue.shown, catalogue.promptParts)),
  );
  return {
    system: hasGuests(conversation.view.messages()) ? `${system}\n\n${PRIMARY_FRAMING}` : system,
    model: async () => {
      const next = await conversation.model();
      conversation.useModel(next);
      return next;
    },
    fallbacks: (declaration.agent.fallbackModels ?? []).map((name) => ({
      name,
      find: () => host.models.resolve(name),
    })),
    style: () => conversation.style(),
    limits: declaration.limits,
    journal: conversation.journal,
    told: (messages) => voices.forPrimary(messages),
    beforeStop: (text) => beforeStop(run, text),
    news: () => jobNews(host, conversation),
  };
}

interface Guest {
  readonly profile: AgentProfile;
  /** With a budget of its own within that of the conversation. */
  readonly voice: Voice & { readonly guest: string; readonly accounts: Spending };
}

/** Throws `CrabError` (`agent-unknown`). Undefined where the conversation's own agent answers. */
function guestOf({ conversation, host, prompt }: PromptRun): Guest | undefined {
  const { declaration, voices, journal } = conversation;
  const { agent: primary } = conversation.address;
  if (prompt.guest === undefined || prompt.guest === primary) return undefined;
  const profile = findProfile(declaration, prompt.guest);
  const { agent, limits = {} } = profile;
  const { name, effort } = agent;
  const redact = host.redact ?? ((text: string) => text);
  const { environment, files } = declaration.instructions;
  const own = { append: [], files, environment, ...(profile.prompt !== '' && { system: profile.prompt }) };
  const style = { conversation: `${conversation.info.id}:${name}` };
  const voice = {
    guest: name,
    system: redact(`${composePrompt(own, [])}\n\n${guestFraming(name, primary)}`),
    model: () => (agent.model === undefined ? conversation.model() : host.models.resolve(agent.model)),
    style: () => ({ ...style, ...(effort !== undefined && { effort }) }),
    limits: boundedBy(declaration.limits, limits),
    accounts: conversation.spendingWithin(budgetOf(limits), conversation.spending),
    // What of it has arrived is nobody's until it is whole (law 4).
    journal: { append: journal.append, partial: () => {} },
    told: (messages: readonly Message[]) => voices.forGuest(messages),
  };
  return { profile, voice };
}

function atEnd({ host, conversation }: PromptRun, end: RunEnd): readonly Event[] {
  const { id: session, path } = conversation.info;
  const isLost = end.error?.code === 'storage-full' || end.error?.code === 'storage-failed';
  const saved: readonly Event[] = path === undefined || isLost ? [] : [{ type: 'sessionSaved', session }];
  return [...complaints(host, end), ...conversation.takeCompleted(), ...saved, end];
}

/**
 * By the end of a run its requests are in the ledger, or somebody is told why they are not. Whoever hears that the
 * session could not be written knows enough of that disk.
 */
function complaints({ ledger }: RuntimeHost, last: RunEnd): readonly Event[] {
  ledger.flush();
  const text = ledger.complaint();
  const isTold = last.error?.code === 'storage-full' || last.error?.code === 'storage-failed';
  return text === undefined || isTold ? [] : [{ type: 'notice', level: 'warning', text }];
}

/** Extensions hear of events after the fact; what they make of them delays nobody. */
function tell({ catalogue, conversation }: PromptRun, events: readonly Event[]): void {
  for (const extension of catalogue.extensions)
    extension.onEvents?.(events, conversation.identity).catch(() => {});
}

async function preprocessed({ catalogue, conversation, message }: PromptRun): Promise<UserMessage> {
  let result = message;
  for (const extension of catalogue.extensions) {
    if (extension.preprocess === undefined) continue;
    const text = await extension.preprocess(messageText(result), conversation.identity);
    if (text === undefined) continue;
    const shown = typeof result.content === 'string' ? [] : result.content.filter((b) => b.type !== 'text');
    result = { ...result, content: shown.length === 0 ? text : [{ type: 'text', text }, ...shown] };
  }
  return result;
}

/** A key that somebody pasted into a prompt is none of the model's business, nor of the tape's (law 10). */
function withoutSecrets(message: UserMessage, redact: (text: string) => string): UserMessage {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: redact(content) };
  const clean = content.map((block) =>
    block.type === 'text' ? { ...block, text: redact(block.text) } : block,
  );
  return { ...message, content: clean };
}

async function beforeStop({ catalogue, conversation }: PromptRun, text: string): Promise<string | undefined> {
  for (const extension of catalogue.extensions) {
    const more = await extension.beforeStop?.(conversation.identity, text);
    if (more !== undefined) return more.retry;
  }
  return undefined;
}

/** Nothing to compact is no reason to end a run, nor is a summary that nobody could write. */
function compactionOffer(
  { host, conversation }: PromptRun,
  offered: OfferedTools,
): NonNullable<Query['compaction']> {
  const { compaction } = conversation;
  return {
    isAsked: () => compaction.isAsked,
    asked: () => compaction.asked(),
    run: async (told) => {
      const { compact } = await import('./compaction.ts');
      await compact({ host, conversation, offered, focus: compaction.take(), ...told });
    },
  };
}

const NO_TOOLS: ToolDirectory = { list: () => [], offer: () => {} };

interface Told {
  readonly emit: Emit;
  /** The usage of a run that a call waited for, or of a question that it put to a model. */
  readonly spent: (usage: Usage) => void;
}

/** Without tools for a guest. */
function callEnvironment(
  run: PromptRun,
  offered: OfferedTools | undefined,
  { emit, spent }: Told,
): CallEnvironment {
  const { host, conversation, catalogue, surroundings } = run;
  const redact = host.redact ?? ((text: string) => text);
  const { canAsk } = conversation.declaration;
  const ask = async (question: Question, signal: AbortSignal) => {
    // Whoever listens may answer while handling the event, so the wait begins before the question leaves.
    const answered = conversation.questions.ask(question, signal);
    emit({ type: 'question', question });
    const answer = await answered;
    const allowed = answer.kind === 'permission' ? { allowed: answer.allowed } : {};
    emit({ type: 'questionAnswered', id: question.id, ...allowed });
    return answer;
  };
  const oneByOne = createQueue();
  const denials = createDenialTracker();
  const gate = conversation.gate((text) => emit({ type: 'notice', level: 'warning', text }));
  return {
    tools:
      offered === undefined
        ? new Map()
        : confinedTools(watchedTools(offered.byName, conversation), {
            conversation,
            emit,
            blocked: (call) => denials.denied(call).advice,
          }),
    isOutOfScope: (name) =>
      offered !== undefined && [...catalogue.outOfScope].some((known) => isSameName(known, name)),
    introduce: (name) => offered?.introduce(name) ?? false,
    gate,
    extensions: catalogue.extensions,
    identity: () => conversation.identity,
    askPermission: canAsk
      ? (question, signal) => oneByOne(() => ask({ ...question, id: host.newId() }, signal))
      : undefined,
    ruleFor: async (request) => (await conversation.permissions.grantFor(request))?.text,
    riskOf: (request) => conversation.permissions.riskOf(request),
    approved: (request, remember) =>
      // The yes was given: that it cannot be kept for later must not take it back.
      conversation.approved(request, remember).catch((error) => {
        emit({ type: 'notice', level: 'warning', text: `The answer could not be kept: ${messageOf(error)}` });
      }),
    denied: (denied) => denials.denied(denied),
    permitted: () => denials.permitted(),
    ...(host.redact !== undefined && { redact: host.redact }),
    plain: async (text) => {
      const { plainText } = await import('../parts/process/sanitizer.ts');
      return plainText(text);
    },
    spill: (callId, text) => conversation.spill(`${callId}.txt`, text),
    context: (call, signal, paths): ToolContext => ({
      callId: call.id,
      identity: conversation.identity,
      signal,
      clock: host.clock,
      exec: host.exec,
      open: host.open,
      files: paths === undefined ? host.files : (host.files.bound?.(paths) ?? host.files),
      jobs: conversation.jobs,
      tools: offered?.directory ?? NO_TOOLS,
      control: {
        setMode: (mode) => conversation.control({ kind: 'setMode', mode }),
        setName: async (name) => {
          await conversation.control({ kind: 'setName', name });
          emit({ type: 'sessionNamed', session: conversation.identity.session, name });
        },
        snip: async () => conversation.snipBefore(call.id),
        setFolder: async (path) => conversation.goTo(path),
      },
      state: conversation.toolState,
      withheld: () => conversation.permissions.withheld(call.name, conversation.identity.mode),
      permits: (access) =>
        gate({ tool: call.name, input: call.arguments, access, mode: conversation.identity.mode }),
      scratch: () => conversation.scratch(),
      output: (delta) =>
        emit({ type: 'toolOutputDelta', id: call.id, delta: redact(delta) }, { droppable: true }),
      progress: (display) =>
        emit(
          { type: 'toolProgress', id: call.id, display: redactedValue(display, redact) },
          { droppable: true },
        ),
      notify: ({ text, files, urgent }) =>
        emit({ type: 'notification', id: call.id, text: redact(text), files, urgent }),
      ask: (body) => {
        if (!canAsk) return Promise.reject(new Error('Nobody can be asked here.'));
        const question: Question = { ...body, id: host.newId(), callId: call.id };
        return oneByOne(() => ask(question, signal));
      },
      trusted: conversation.declaration.trusted === true && conversation.cwd === conversation.home,
      consult: async (question) => {
        const { consult } = await import('./consult.ts');
        return consult({ host, conversation, emit, spent: (end) => spent(end.usage), signal }, question);
      },
      peers: peersOf(conversation.declaration),
      run: (subrun, stop) => {
        const asked = (question: Question) => oneByOne(() => ask(question, AbortSignal.any([signal, stop])));
        const told = { callId: call.id, emit, spent, ask: asked };
        return runSubrun({ host, surroundings, conversation, catalogue, ...told }, subrun, stop);
      },
      remembered: (event) => emit(event),
    }),
  };
}

/** One task after another: a person is asked one thing at a time. */
function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task, task);
    last = result.catch(() => {});
    return result;
  };
}
