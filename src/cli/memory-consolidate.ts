// `crab memory consolidate`: the same that may happen at the end of a conversation, at once and for whoever asks for it.

import { DEFAULT_AGENT } from '../core/agent.ts';
import type { OwnScope } from '../parts/memory/scopes.ts';
import { createPlatform } from '../runtime/platform.ts';
import { readArguments } from './arguments.ts';
import { merged } from './consolidation.ts';
import type { Environment } from './home.ts';
import { createHost } from './host.ts';
import { openRequest } from './request.ts';
import { loadSettings } from './settings.ts';
import { stopOnSignals } from './signals.ts';

export interface ByHand {
  readonly env: Environment;
  readonly agent: string;
  readonly scopes: readonly OwnScope[];
  readonly dryRun: boolean;
  print(text: string): Promise<void>;
  warn(text: string): void;
}

export async function consolidateByHand({ env, agent, scopes, dryRun, print, warn }: ByHand): Promise<void> {
  const args = readArguments(agent === DEFAULT_AGENT ? [] : [`--agent=${agent}`]);
  const settings = await loadSettings({ args, env, warn });
  const host = createHost({ env, settings, warn });
  const platform = createPlatform(host);
  const stop = stopOnSignals(() => host.killAll());
  try {
    const { files, clock } = host;
    const open = await openRequest({ args, env, settings, files, now: clock.now(), canAsk: false, warn });
    for (const scope of scopes) {
      const { text, costUsd } = await merged(platform, host, open, { scope, dryRun, signal: stop.signal });
      await print(`${text}\n${costUsd > 0 ? `It cost $${costUsd.toFixed(4)}.\n` : ''}`);
    }
  } finally {
    await platform.close();
    stop.release();
  }
}
