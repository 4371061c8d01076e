import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTool, isSameName } from './tool-name.ts';

const TOOLS = new Map([
  ['bash', { name: 'bash' }],
  ['shell.exec', { name: 'bash' }],
  ['read_file', { name: 'read' }],
  ['mcp__a__b_c', { name: 'mcp__a__b_c' }],
  ['mcp__a_b__c', { name: 'mcp__a_b__c' }],
]);

const found = (name: string) => findTool(TOOLS, name)?.name;

test('a name in other letters, or as a provider lets it through, is the same name', () => {
  assert.deepEqual(['bash', 'BASH', 'shell_exec', 'ShellExec', 'functions.bash'].map(found), [
    'bash',
    'bash',
    'bash',
    'bash',
    'bash',
  ]);
  assert.deepEqual(['ReadFile', 'read-file', 'READ_FILE'].map(found), ['read', 'read', 'read']);
});

test('what could mean two tools means none, and an exact name always means its own', () => {
  assert.equal(found('mcp__a__b_c'), 'mcp__a__b_c');
  assert.equal(found('mcp_a_b_c'), undefined);
});

test('another name is another tool', () => {
  assert.deepEqual(['bas', 'bash2', '', '___', 'ба́sh'].map(found), Array(5).fill(undefined));
  assert.equal(isSameName('__', '..'), false);
});
