// A prompt for the model: gathers what this conversation gives a run (model, tools, gate, tape, questions) and hands
// it to the engine. The model is found before anything is written, so that a missing key leaves nothing behind.

import type { Event, RunEnd } from '../core/event.ts';
import { messageText, type UserMessage } from '../core/message.ts';
import type { ToolSchema } from '../core/model.ts';
import type { Question } from '../core/question.ts';
import { redactedValue } from '../core/redact.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import type { CallEnvironment } from '../engine/call.ts';
import { composePrompt } from '../engine/prompt.ts';
import { type Emit, type Query, query } from '../engine/query.ts';
import type { Catalogue } from './catalogue.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { type StructuredOutput, structuredOutput } from './structured.ts';
import { watchedTools } from './watched-tools.ts';

export interface PromptRun {
  readonly host: RuntimeHost;
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
  readonly message: UserMessage;
  readonly signal: AbortSignal;
}

export async function* runPrompt(run: PromptRun): AsyncGenerator<readonly Event[], void> {
  const { host, conversation, catalogue, signal } = run;
  const model = await conversation.model();
  const redact = host.redact ?? ((text: string) => text);
  const message = withoutSecrets(await preprocessed(run), redact);
  const { outputSchema } = conversation.declaration;
  const structured = outputSchema === undefined ? undefined : structuredOutput(outputSchema);
  const offered = offeredTools(run, structured);
  const { agent, sender, session, cwd, mode } = conversation.identity;
  const { provider, id } = model.info;
  yield [
    {
      type: 'runStart',
      agent,
      sender,
      session,
      cwd,
      model: { provider, id },
      ...(model.credential !== undefined && { credential: model.credential }),
      mode,
      tools: offered.schemas.map((tool) => tool.name),
    },
  ];
  const { declaration } = conversation;
  const system = conversation.systemPrompt(() =>
    redact(composePrompt(declaration.instructions, catalogue.tools, catalogue.promptParts)),
  );
  conversation.useModel(model);
  const spec: Query = {
    prompt: message,
    view: conversation.view,
    journal: conversation.journal,
    system,
    tools: offered.schemas,
    calls: (emit) => callEnvironment(run, offered.byName, emit),
    limits: declaration.limits,
    clock: host.clock,
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
    accounts: conversation.spending,
    trimmer: conversation.trimmer,
    accesses: async (messages) => {
      await conversation.accesses.learn(messages, {
        tools: offered.byName,
        identity: () => conversation.identity,
      });
      return conversation.accesses;
    },
    compaction: compactionOffer(run, offered.byName),
    beforeStop: (text) => beforeStop(run, text),
    signal,
    ...(structured !== undefined && { finish: structured.finish }),
  };
  try {
    for await (const events of query(spec)) {
      const last = events.at(-1);
      const all = last?.type === 'runEnd' ? [...complaints(host, last), ...events] : events;
      tell(run, all);
      yield all;
    }
  } finally {
    await host.sweep();
    await conversation.flush();
  }
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
  tools: ReadonlyMap<string, Tool>,
): NonNullable<Query['compaction']> {
  const { compaction } = conversation;
  return {
    isAsked: () => compaction.isAsked,
    asked: () => compaction.asked(),
    run: async (told) => {
      const { compact } = await import('./compaction.ts');
      await compact({ host, conversation, tools, focus: compaction.take(), ...told });
    },
  };
}

interface OfferedTools {
  readonly schemas: readonly ToolSchema[];
  readonly byName: ReadonlyMap<string, Tool>;
}

function offeredTools({ catalogue }: PromptRun, structured: StructuredOutput | undefined): OfferedTools {
  if (structured === undefined) return { schemas: catalogue.schemas, byName: catalogue.toolsByName };
  const { name, description, input } = structured.tool;
  return {
    schemas: [...catalogue.schemas, { name, description, input }],
    byName: new Map([...catalogue.toolsByName, [name, structured.tool]]),
  };
}

function callEnvironment(run: PromptRun, tools: ReadonlyMap<string, Tool>, emit: Emit): CallEnvironment {
  const { host, conversation, catalogue } = run;
  const redact = host.redact ?? ((text: string) => text);
  const { canAsk } = conversation.declaration;
  const ask = async (question: Question, signal: AbortSignal) => {
    // Whoever listens may answer while handling the event, so the wait begins before the question leaves.
    const answered = conversation.ask(question, signal);
    emit({ type: 'question', question });
    const answer = await answered;
    const allowed = answer.kind === 'permission' ? { allowed: answer.allowed } : {};
    emit({ type: 'questionAnswered', id: question.id, ...allowed });
    return answer;
  };
  const oneByOne = createQueue();
  return {
    tools: watchedTools(tools, conversation),
    gate: conversation.gate,
    extensions: catalogue.extensions,
    identity: () => conversation.identity,
    askPermission: canAsk
      ? (question, signal) => oneByOne(() => ask({ ...question, id: host.newId() }, signal))
      : undefined,
    grant: (request) => conversation.grant(request),
    ...(host.redact !== undefined && { redact: host.redact }),
    spill: (callId, text) => conversation.spill(`${callId}.txt`, text),
    context: (call, signal): ToolContext => ({
      callId: call.id,
      identity: conversation.identity,
      signal,
      exec: host.exec,
      files: host.files,
      state: conversation.toolState,
      withheld: () => conversation.withheld(call.name),
      scratch: () => conversation.scratch(),
      output: (delta) =>
        emit({ type: 'toolOutputDelta', id: call.id, delta: redact(delta) }, { droppable: true }),
      progress: (display) =>
        emit(
          { type: 'toolProgress', id: call.id, display: redactedValue(display, redact) },
          { droppable: true },
        ),
      ask: (body) => {
        if (!canAsk) return Promise.reject(new Error('Nobody can be asked here.'));
        const question: Question = { ...body, id: host.newId(), callId: call.id };
        return oneByOne(() => ask(question, signal));
      },
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
