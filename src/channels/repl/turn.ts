// One prompt of the REPL: its events go to the screen, its questions to whoever types.

import type { Address } from '../../core/conversation.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Clock } from '../../core/host.ts';
import type { Platform, Prompt } from '../../core/platform.ts';
import { runEnd } from '../../core/run-end.ts';
import { createActivity } from '../../faces/activity.ts';
import type { Screen } from './screen.ts';
import { tellWaits } from './waits.ts';

export interface Turn {
  readonly platform: Platform;
  readonly address: Address;
  readonly screen: Screen;
  readonly clock: Clock;
  /** Tells of long waits; only a person wants to know. */
  readonly tellsWaits: boolean;
  /** Called with every batch once it is on the screen. */
  readonly onEvents: (events: readonly Event[]) => Promise<void>;
}

/** Resolves with the end of the run, which is on the screen. Rejects only when the screen is gone. */
export async function runTurn(turn: Turn, prompt: Prompt, stop: AbortController): Promise<RunEnd> {
  const { platform, address, screen, clock } = turn;
  const over = new AbortController();
  const activity = createActivity(clock.monotonic());
  const say = (line: string): Promise<void> => screen.say(screen.paint.dim(line));
  if (turn.tellsWaits) void tellWaits(clock, activity, say, over.signal);
  let gone: CrabError | undefined;
  let end: RunEnd | undefined;
  try {
    for await (const batch of platform.prompt(address, prompt, stop.signal)) {
      activity.see(batch, clock.monotonic());
      const last = batch.at(-1);
      if (last?.type === 'runEnd') end = last;
      // The run is cancelled and heard out even if nobody can see it any more.
      await screen.show(batch).catch((thrown: unknown) => {
        gone ??= asCrabError(thrown);
        stop.abort(gone);
      });
      await turn.onEvents(batch);
    }
  } catch (thrown) {
    stop.abort(thrown);
    end = runEnd('failed', { error: asCrabError(thrown) });
    await screen.show([end]);
  } finally {
    over.abort();
  }
  if (gone) throw gone;
  return end ?? runEnd('failed', { error: new CrabError('internal', 'The run ended without saying how.') });
}
