// Tidying memory, by hand and at the end of conversations: a conversation of its own that is kept nowhere, with the one command
// that merges notes, paid and recorded like any other. At the end it happens where the person has set `memory_consolidate`.

import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { noteMark } from '../core/memory.ts';
import type { OpenRequest, Platform } from '../core/platform.ts';
import { SANDBOX_OFF } from '../core/sandbox.ts';
import type { Settings } from '../core/settings.ts';
import type { Memories, OwnScope } from '../parts/memory/scopes.ts';
import { consolidationDue } from '../policy/memory.ts';
import type { LocalHost } from './host.ts';

const OWN_SCOPES: readonly OwnScope[] = ['project', 'user'];

const DEFAULT_USD = 0.05;
/** Somebody may be waiting for a process to leave. */
const TIMEOUT_MS = 60_000;

export interface Merging {
  readonly scope: OwnScope;
  readonly dryRun?: boolean;
  /** US dollars that it may cost. */
  readonly usd?: number;
  readonly signal: AbortSignal;
}

export interface Merged {
  /** What the command said. */
  readonly text: string;
  readonly isChanged: boolean;
  readonly costUsd: number;
}

type Host = Pick<LocalHost, 'memories' | 'clock' | 'overheard'>;

/** `open`: of a conversation with the same agent and folder. Throws `CrabError`. */
export async function merged(
  platform: Platform,
  host: Pick<Host, 'overheard'>,
  open: OpenRequest,
  { scope, dryRun = false, usd, signal }: Merging,
): Promise<Merged> {
  const { sender, name, ...request } = open;
  const { address } = await platform.open({
    ...request,
    session: { kind: 'memory' },
    declaration: declarationFor(open, usd),
  });
  let costUsd = 0;
  let isChanged = false;
  let end: Extract<Event, { type: 'runEnd' }> | undefined;
  try {
    const line = `,consolidate ${scope}${dryRun ? ' ?' : ''}`;
    for await (const events of platform.prompt(address, { text: line }, signal)) {
      host.overheard?.(address, events);
      for (const event of events) {
        if (event.type === 'requestEnd') costUsd += event.usage.cost.total;
        if (event.type === 'memorySaved') isChanged = true;
        if (event.type === 'runEnd') end = event;
      }
    }
  } finally {
    await platform.leave(address);
  }
  if (end?.outcome === 'command') return { text: end.text, isChanged, costUsd };
  const { code, message, hint } = end?.error ?? { code: 'interrupted', message: 'Interrupted.' };
  throw new CrabError(code, message, hint === undefined ? {} : { hint });
}

/** Nothing is run in it, so that nothing need be confined; the person's budgets hold, and the smaller one for itself. */
function declarationFor({ declaration }: OpenRequest, usd: number | undefined): OpenRequest['declaration'] {
  const { budget = {} } = declaration.limits;
  const runUsd = Math.min(usd ?? Number.POSITIVE_INFINITY, budget.runUsd ?? Number.POSITIVE_INFINITY);
  const limits = { ...declaration.limits, budget: { ...budget, ...(Number.isFinite(runUsd) && { runUsd }) } };
  return { ...declaration, mode: 'plan', sandbox: SANDBOX_OFF, canAsk: false, limits };
}

export interface ConsolidatingOptions {
  readonly host: Host;
  readonly settings: Settings;
  /** What is still open when all is closed has come to its end with it. */
  readonly endsWithClose: boolean;
  warn(text: string): void;
}

interface Tracked {
  readonly open: OpenRequest;
  /** Its last run came to its end. */
  readonly isWell: boolean;
}

/** The same platform, where the end of a conversation is a moment to tidy the memory that it used. */
export function consolidating(inner: Platform, options: ConsolidatingOptions): Platform {
  const { host, settings, endsWithClose, warn } = options;
  if (settings.policy.memoryConsolidate !== true) return inner;
  const tracked = new Map<string, Tracked>();
  const working = new Set<Promise<void>>();
  const stop = new AbortController();
  const keyOf = ({ agent, sender }: { agent: string; sender: string }) => `${agent}\n${sender}`;

  async function tidy({ open, isWell }: Tracked, signal: AbortSignal): Promise<void> {
    if (!isWell) return;
    const usd = settings.policy.memoryConsolidateUsd ?? DEFAULT_USD;
    for (const scope of OWN_SCOPES) {
      if (signal.aborted || !(await isDue(host.memories, scope, open, host.clock.now()))) continue;
      const { text, isChanged, costUsd } = await merged(inner, host, open, { scope, usd, signal });
      if (isChanged) warn(`memory of the ${scope}: ${text.replaceAll('\n', ' ')} ($${costUsd.toFixed(4)})`);
    }
  }

  /** Never rejects: a conversation does not fail because its memory could not be tidied. */
  async function tidied(one: Tracked, signal: AbortSignal): Promise<void> {
    try {
      await tidy(one, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    } catch (error) {
      const isOthers = error instanceof CrabError && error.code === 'memory-taken';
      if (!isOthers && !signal.aborted)
        warn(`the memory was not tidied: ${error instanceof Error ? error.message : error}`);
    }
  }

  return {
    ...inner,
    async open(request) {
      const reply = await inner.open(request);
      tracked.set(keyOf(reply.address), { open: request, isWell: false });
      return reply;
    },
    async *prompt(address, prompt, signal) {
      for await (const events of inner.prompt(address, prompt, signal)) {
        const last = events.at(-1);
        const known = tracked.get(keyOf(address));
        if (last?.type === 'runEnd' && known !== undefined)
          tracked.set(keyOf(address), { ...known, isWell: last.outcome === 'done' });
        yield events;
      }
    },
    async leave(address, how) {
      await inner.leave(address, how);
      const left = tracked.get(keyOf(address));
      tracked.delete(keyOf(address));
      if (left === undefined) return;
      const work = tidied(left, stop.signal).finally(() => working.delete(work));
      working.add(work);
    },
    async close() {
      if (endsWithClose) {
        const { stopOnSignals } = await import('./signals.ts');
        const interrupt = stopOnSignals(() => {});
        for (const one of tracked.values()) await tidied(one, interrupt.signal);
        interrupt.release();
      }
      stop.abort(new CrabError('interrupted', 'Interrupted.'));
      await Promise.all(working);
      await inner.close();
    },
  };
}

async function isDue(
  memories: Memories,
  scope: OwnScope,
  { agent, cwd }: OpenRequest,
  now: number,
): Promise<boolean> {
  const notes = (await memories.of(scope, { agent, cwd }).entries()).filter(({ kind }) => kind === 'note');
  const store = await memories.consolidations(scope, { agent, cwd });
  return consolidationDue({ marks: notes.map(noteMark), last: await store.last(), now });
}
