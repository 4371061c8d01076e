// When a conversation is compacted by itself, and when a person is warned that it fills up. The runtime only offers
// compaction; a channel that watches with this asks for it (law 9).

import type { ContextLimits } from '../core/agent.ts';
import type { ContextUsage, Event } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import type { PolicySettings } from '../core/settings.ts';

const COMPACT_AT = 0.8;
const SNIP_AT = 0.7;
const RESERVE_TOKENS = 16_384;
const KEEP_RECENT_TOKENS = 20_000;

/** Shares of the window at which a person is warned. */
const WARN_AT: readonly number[] = [0.9, 0.8];

/** The limits that follow from the settings. Without automatic compaction no request waits for one. */
export function contextLimits(settings: PolicySettings): ContextLimits {
  const { autoCompact = true, compactAt = COMPACT_AT, compactReserveTokens = RESERVE_TOKENS } = settings;
  return {
    snipAt: settings.snipAt ?? SNIP_AT,
    keepRecentTokens: settings.compactKeepRecentTokens ?? KEEP_RECENT_TOKENS,
    ...(settings.tellResults === true && { tellsResults: true }),
    ...(autoCompact && { pauseAt: { share: compactAt, reserveTokens: compactReserveTokens } }),
  };
}

export interface ContextWatch {
  /** Takes what a run said; returns what its person should be told. */
  see(events: readonly Event[]): Promise<readonly Event[]>;
}

/** One for each conversation. */
export function watchContext(control: (control: Control) => Promise<void>): ContextWatch {
  let warned = 0;

  function warning({ tokens, window = Number.POSITIVE_INFINITY }: ContextUsage): readonly Event[] {
    const reached = WARN_AT.find((share) => tokens >= window * share) ?? 0;
    const isNew = reached > warned;
    warned = reached;
    if (!isNew) return [];
    const percent = Math.floor((tokens * 100) / window);
    const text = `The context is ${percent} % full: ${tokens} of ${window} tokens.`;
    return [{ type: 'notice', level: 'warning', text }];
  }

  return {
    async see(events) {
      const told: Event[] = [];
      for (const event of events) {
        if (event.type !== 'contextUsage') continue;
        if (event.waiting === true) await control({ kind: 'compact' });
        else told.push(...warning(event));
      }
      return told;
    },
  };
}
