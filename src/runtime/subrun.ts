// A task that one agent gives to another: a conversation of its own on the same host, with a session that names the one
// it belongs to. Nobody gets further by delegating: rules, folders, mode and budgets are those of whoever gives the task,
// and its questions are put as his.

import type { AgentLimits, AgentProfile, Declaration, Limits } from '../core/agent.ts';
import type { Address } from '../core/conversation.ts';
import { asCrabError, messageOf, ToolFailure } from '../core/errors.ts';
import type { Event, RunEnd } from '../core/event.ts';
import { countModels } from '../core/model-usage.ts';
import { stricterMode } from '../core/permission.ts';
import type { OpenReply, OpenRequest, Platform } from '../core/platform.ts';
import type { Answer, Question } from '../core/question.ts';
import type { BudgetSettings } from '../core/settings.ts';
import type { Subrun } from '../core/tool.ts';
import { NO_USAGE, type Usage } from '../core/usage.ts';
import type { Catalogue } from './catalogue.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { findProfile } from './peers.ts';

/** Agents that give each other tasks, one below the other. */
const MAX_DEPTH = 3;

/** The platform that the conversation is open in. */
export interface Surroundings extends Pick<Platform, 'prompt' | 'answer' | 'leave'> {
  open(request: OpenRequest, parent: Conversation): Promise<Pick<OpenReply, 'address' | 'notices'>>;
}

export interface SubrunOptions {
  readonly host: RuntimeHost;
  readonly surroundings: Surroundings;
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
  readonly callId: string;
  emit(event: Event): void;
  /** What was spent while the caller waited. */
  spent(usage: Usage): void;
  ask(question: Question): Promise<Answer>;
}

/** Ends with `runEnd`. Throws `ToolFailure` when it cannot begin. */
export async function* runSubrun(
  options: SubrunOptions,
  subrun: Subrun,
  signal: AbortSignal,
): AsyncGenerator<readonly Event[], void> {
  const { host, surroundings, conversation, callId, emit } = options;
  const { agent: name, prompt: text, title: task } = subrun;
  const profile = profileOf(conversation, name);
  const cwd = await folderFor(options, subrun);
  const id = host.newId();
  const request = await requestFor(options, { profile, subrun, id });
  const { address, notices } = await opened(surroundings, request, conversation);
  const agent = profile.agent.name;
  emit({ type: 'agentWorkerStarted', id, callId, agent, task });
  for (const event of [...notesOf(profile, conversation), ...notices.map(warning)]) emit(event);
  const startedAt = host.clock.monotonic();
  const models = new Map<string, Usage>();
  let end: RunEnd | undefined;
  try {
    for await (const events of surroundings.prompt(address, { text, cwd, plain: true }, signal)) {
      for (const event of events) {
        countModels(models, event);
        if (event.type === 'question') void putOn(options, { address, task }, event.question);
        if (event.type === 'runEnd') end = event;
      }
      host.overheard?.(address, events);
      yield events;
    }
  } finally {
    await surroundings.leave(address).catch(() => {});
    const { outcome = 'cancelled', text: result = '', usage = NO_USAGE } = end ?? {};
    const durationMs = host.clock.monotonic() - startedAt;
    const completed = {
      type: 'agentWorkerCompleted',
      id,
      agent,
      task,
      outcome,
      result,
      usage,
      durationMs,
    } as const;
    if (subrun.isBackground) conversation.noteCompleted(completed);
    else {
      options.spent(usage);
      emit({ ...completed, models: Object.fromEntries(models) });
    }
    host.delegated?.({ agent, result, origin: conversation.origin });
  }
}

function profileOf({ declaration, depth }: Conversation, name: string): AgentProfile {
  if (depth >= MAX_DEPTH)
    throw new ToolFailure(`Tasks are passed on ${MAX_DEPTH} times at most: do this one yourself.`);
  try {
    return findProfile(declaration, name);
  } catch (error) {
    const { message, hint } = asCrabError(error);
    throw new ToolFailure(`${message} ${hint}`, { cause: error });
  }
}

/** What the agent's file asks for in vain, once for a conversation and all that has to do with it. */
export function notesOf({ agent, notes = [] }: AgentProfile, conversation: Conversation): readonly Event[] {
  return conversation.newNotices(notes.map((note) => `${agent.name}: ${note}`)).map(warning);
}

function warning(text: string): Event {
  return { type: 'notice', level: 'warning', text };
}

async function opened(
  surroundings: Surroundings,
  request: OpenRequest,
  parent: Conversation,
): Promise<Pick<OpenReply, 'address' | 'notices'>> {
  try {
    return await surroundings.open(request, parent);
  } catch (error) {
    throw new ToolFailure(`The agent ${request.agent} cannot begin: ${messageOf(error)}`, { cause: error });
  }
}

/** The folder is the workspace of whoever works in it, so it lies in that of whoever gives the task. */
async function folderFor({ host, conversation }: SubrunOptions, { cwd }: Subrun): Promise<string> {
  if (cwd === undefined) return conversation.cwd;
  const path = isAbsolute(cwd) ? cwd : `${conversation.cwd}/${cwd}`;
  if ((await host.files.info(path))?.kind !== 'directory') throw new ToolFailure(`${path} is not a folder.`);
  const folder = await host.files.resolve(path);
  const roots = [conversation.cwd, ...conversation.permissions.directories];
  for (const root of roots) if (isInside(await host.files.resolve(root), folder)) return folder;
  throw new ToolFailure(
    `${folder} lies outside of ${roots.join(', ')}: an agent works where the one does that it works for.`,
  );
}

/** Both with every link followed. */
function isInside(root: string, path: string): boolean {
  const below = root.replace(/[/\\]+$/, '');
  return path === root || path.startsWith(`${below}/`) || path.startsWith(`${below}\\`);
}

function isAbsolute(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}

interface Task {
  readonly profile: AgentProfile;
  readonly subrun: Subrun;
  readonly id: string;
}

async function requestFor(
  { conversation, catalogue }: SubrunOptions,
  { profile, subrun, id }: Task,
): Promise<OpenRequest> {
  const { home, tape } = conversation;
  const session =
    tape.path === undefined
      ? ({ kind: 'memory' } as const)
      : ({ kind: 'new', parentSession: tape.path } as const);
  return {
    agent: profile.agent.name,
    sender: `delegate:${id}`,
    // Deny rules of the folder that the conversation was opened in hold wherever it goes on.
    cwd: home,
    session,
    name: subrun.title,
    declaration: await declarationFor(conversation, catalogue, { profile, subrun, id }),
    commands: [],
  };
}

async function declarationFor(
  conversation: Conversation,
  catalogue: Catalogue,
  { profile, subrun }: Task,
): Promise<Declaration> {
  const { declaration, identity, permissions } = conversation;
  const { outputSchema: _, onlyTools, ...rest } = declaration;
  const { agent, prompt, borrows } = profile;
  const { info } = await conversation.model();
  const { fallbackModels, smallModel } = declaration.agent;
  const { effort = agent.effort } = conversation;
  const mode = stricterMode(identity.mode, profile.mode);
  const narrowed = borrows === true ? catalogue.tools.map(({ name }) => name) : onlyTools;
  return {
    ...rest,
    agent: {
      ...(fallbackModels !== undefined && { fallbackModels }),
      ...(smallModel !== undefined && { smallModel }),
      ...(effort !== undefined && { effort }),
      model: `${info.provider}/${info.id}`,
      ...agent,
    },
    mode,
    modeCeiling: mode,
    ...permissions.held,
    ...(narrowed !== undefined && { onlyTools: narrowed }),
    limits: limitsFor(declaration.limits, profile),
    instructions: { ...declaration.instructions, ...(prompt !== '' && { system: prompt }) },
    canAsk: declaration.canAsk && !subrun.isBackground,
  };
}

/** What the caller's budgets leave is looked up with each request: his `Spending` is asked, too. */
function limitsFor(limits: Limits, { limits: own = {} }: AgentProfile): Limits {
  const { turns, delegatedTurns = turns, ...rest } = limits;
  const delegated = delegatedTurns === undefined ? rest : { ...rest, delegatedTurns, turns: delegatedTurns };
  return { ...boundedBy(delegated, own), budget: budgetOf(own) };
}

/** Turns and tokens; money is counted apart for each of them. */
export function boundedBy(limits: Limits, own: AgentLimits): Limits {
  const turns = least(limits.turns, own.turns);
  const maxTokens = least(limits.maxTokens, own.maxTokens);
  return { ...limits, ...(turns !== undefined && { turns }), ...(maxTokens !== undefined && { maxTokens }) };
}

export function budgetOf({ runUsd }: AgentLimits): BudgetSettings {
  return runUsd === undefined ? {} : { runUsd };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Its question is put as the caller's; what is allowed for longer holds for the caller as well. */
async function putOn(
  { surroundings, conversation, callId, ask }: SubrunOptions,
  { address, task }: { readonly address: Address; readonly task: string },
  question: Question,
): Promise<void> {
  const named = (text: string) => `${address.agent} (${task}) asks: ${text}`;
  const asked: Question =
    question.kind === 'permission'
      ? { ...question, callId, reason: named(question.reason) }
      : {
          ...question,
          callId,
          questions: question.questions.map((one) => ({ ...one, text: named(one.text) })),
        };
  try {
    const answer = await ask(asked);
    if (question.kind === 'permission' && answer.kind === 'permission' && answer.allowed) {
      const { rule } = question;
      if (answer.remember !== undefined && rule !== undefined)
        await conversation.control({ kind: 'addRule', decision: 'allow', rule });
    }
    await surroundings.answer(address, question.id, answer);
  } catch {
    // The run that asked was stopped, and whatever it asked with it.
  }
}
