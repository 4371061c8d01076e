// What permissions ask about before it is written is what the sandbox keeps from commands, and the other way round.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  INSTRUCTING_FILES,
  INSTRUCTING_FOLDERS,
  STARTING_FILES,
  STARTING_FOLDERS,
} from '../../src/core/protected.ts';
import { protectedComponent } from '../../src/parts/permissions/path-scope.ts';
import { isProtectedFile, isProtectedFolder } from '../../src/parts/sandbox/protected.ts';

const FOLDERS = [...STARTING_FOLDERS, ...INSTRUCTING_FOLDERS];
const FILES = [...STARTING_FILES, ...INSTRUCTING_FILES];

test('every protected name is protected from file tools and from commands, in any case', () => {
  const open = [
    ...FOLDERS.filter((name) => protectedComponent(`a/${name.toUpperCase()}/b`) === undefined),
    ...FOLDERS.filter((name) => !isProtectedFolder(name.toUpperCase(), 'a')),
    ...FILES.filter((name) => protectedComponent(`a/${name.toUpperCase()}`) === undefined),
    ...FILES.filter((name) => !isProtectedFile(name.toUpperCase(), 'a', 'b')),
  ];
  assert.deepEqual(open, []);
  assert.ok(FOLDERS.length > 10 && FILES.length > 15);
});

test('other names are not', () => {
  assert.equal(protectedComponent('src/claude/agents.ts'), undefined);
  assert.deepEqual(
    [isProtectedFolder('claude', 'src'), isProtectedFile('agents.ts', 'claude', 'src')],
    [false, false],
  );
});
