// The platform in this process, with everything that it needs of this machine.

import { createWakeups } from '../parts/schedule/wakeups.ts';
import { createPlatform } from '../runtime/platform.ts';
import { keyFileOf } from './arguments.ts';
import { systemClock } from './clock.ts';
import { consolidating } from './consolidation.ts';
import { createHost } from './host.ts';
import { asRecorded, trafficFor } from './record-flags.ts';
import type { Workplace, WorkplaceOptions } from './workplace.ts';

export async function embed(options: WorkplaceOptions): Promise<Workplace> {
  const { args, env, settings, isInteractive, warn } = options;
  const traffic = await trafficFor({ args, env, warn });
  const wakeups = isInteractive ? createWakeups(systemClock) : undefined;
  const keyFile = keyFileOf(args);
  const host = createHost({ env, settings, keyFile, traffic, ...(wakeups && { wakeups }), warn });
  const own = createPlatform(host);
  // A recording holds what was asked for, and nothing that depends on what is remembered elsewhere.
  const platform =
    traffic === undefined ? consolidating(own, { host, settings, endsWithClose: true, warn }) : own;
  return {
    platform,
    files: host.files,
    clock: host.clock,
    ...(wakeups && { onWakeup: (listener) => wakeups.listen(listener) }),
    prepare: host.prepare,
    tapes: async () => host.tapes,
    modelName: (name) =>
      host.models.resolve(name).then(
        ({ info }) => `${info.provider}/${info.id}`,
        () => undefined,
      ),
    recorded: (open) => asRecorded(open, traffic, host.tapes, warn),
    killAll: () => host.killAll(),
    async close() {
      wakeups?.close();
      await platform.close();
      traffic?.close();
    },
  };
}
