// What of the files a call may change, by what it declares. Apart from what watches them, which most calls need not load.

import type { Access } from '../../core/permission.ts';

/** How far a call may reach, by what it declares. */
export function reachOf(access: Access): 'nothing' | 'paths' | 'anything' {
  switch (access.kind) {
    case 'none':
    case 'read':
    case 'network':
      return 'nothing';
    case 'write':
      return 'paths';
    case 'command':
    case 'external':
    case 'spawn':
      return 'anything';
  }
}
