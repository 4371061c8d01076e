// `npm ci` refuses a lockfile that leaves out a binary for another platform, and npm writes such lockfiles.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { missingEntries } from '../../scripts/lockfile.ts';
import { ROOT } from './planted-tree.ts';

test('the lockfile names every binary of every platform; `node scripts/lockfile.ts` adds what is missing', async () => {
  const lockfile = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  assert.deepEqual(missingEntries(lockfile), {});
});

test('what is missing is described by its name', () => {
  const tool = {
    version: '2.0.0',
    dev: true,
    optionalDependencies: {
      '@tool/linux-x64-gnu': '2.0.0',
      '@tool/linux-arm64-musl': '2.0.0',
      '@tool/win32-x64': '2.0.0',
    },
  };
  const packages = {
    '': {},
    'node_modules/tool': tool,
    'node_modules/@tool/linux-x64-gnu': { version: '2.0.0' },
  };
  const common = { version: '2.0.0', dev: true, optional: true };
  assert.deepEqual(missingEntries({ packages }), {
    'node_modules/@tool/linux-arm64-musl': { ...common, cpu: ['arm64'], libc: ['musl'], os: ['linux'] },
    'node_modules/@tool/win32-x64': { ...common, cpu: ['x64'], os: ['win32'] },
  });
});
