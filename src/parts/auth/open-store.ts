// The store of a home, with the keychain of this system.

import type { Exec } from '../../core/host.ts';
import { authFolder } from './index-file.ts';
import { createKeychain } from './keychain.ts';
import { createStore, type LockStore, type Store } from './store.ts';

export interface StoreHost {
  /** `$CRAB_HOME`. */
  readonly home: string;
  /** Must not change what a program prints. */
  readonly exec: Exec;
  readonly lock: LockStore;
  readonly platform: NodeJS.Platform;
}

export function openStore({ home, exec, lock, platform }: StoreHost): Store {
  const folder = authFolder(home);
  return createStore({ folder, keychain: createKeychain({ platform, exec, folder }), lock });
}
