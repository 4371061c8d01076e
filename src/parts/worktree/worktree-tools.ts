// The tools for worktrees: work in a copy of the repository on a branch of its own, beside the person's files. This is their
// face; what they do is loaded with the first call.

import type { Tool } from '../../core/tool.ts';
import type { CopiesOptions } from './copies.ts';

const calls = () => import('./worktree-calls.ts');

export function createWorktreeTools(options: CopiesOptions): readonly Tool[] {
  return [enterTool(options), exitTool(options), listTool(options), removeTool(options)];
}

function enterTool(options: CopiesOptions): Tool {
  return {
    name: 'enter_worktree',
    aliases: ['EnterWorktree', 'worktree'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Makes a git worktree on a new branch from the current commit and goes on working there; one of that name that ' +
      'is there already is entered again. Only when the user wants a worktree.',
    keywords: ['isolated', 'copy', 'repository', 'separate', 'branch', 'parallel', 'checkout'],
    input: {
      type: 'object',
      properties: { name: { type: 'string', description: 'Letters, digits, - and _' } },
      required: ['name'],
    },
    plan: async () => ({
      access: { kind: 'write', paths: [options.folder] },
      parallel: false,
      repeatable: false,
    }),
    run: async (input, context) => (await calls()).enterWorktree(options, input, context),
    show: async ({ name }) => ({ kind: 'markdown', text: `worktree ${name}` }),
  };
}

function exitTool(options: CopiesOptions): Tool {
  return {
    name: 'exit_worktree',
    aliases: ['ExitWorktree'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Goes back from a worktree to the folder of the conversation. `keep` leaves the copy and its branch; `remove` ' +
      'deletes both, which the user must agree to when changes or commits would be lost.',
    keywords: ['leave', 'remove', 'merge'],
    input: {
      type: 'object',
      properties: { action: { type: 'string', enum: ['keep', 'remove'] } },
      required: ['action'],
    },
    plan: async ({ action }) => ({
      access: action === 'remove' ? { kind: 'write', paths: [options.folder] } : { kind: 'none' },
      parallel: false,
      repeatable: false,
    }),
    run: async ({ action }, context) => (await calls()).exitWorktree(options, action === 'remove', context),
    show: async ({ action }) => ({ kind: 'markdown', text: `${action} the worktree` }),
  };
}

function listTool(options: CopiesOptions): Tool {
  return {
    name: 'list_worktrees',
    aliases: ['ListWorktrees', 'worktree_list'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Lists the worktrees of the repository: path, branch, what would be lost with each, and whose conversation is in ' +
      'it or left it behind.',
    keywords: ['leftover', 'copies', 'branches'],
    input: { type: 'object', properties: {} },
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
    run: async (_input, context) => (await calls()).listWorktrees(options, context),
    show: async () => ({ kind: 'markdown', text: 'the worktrees' }),
  };
}

function removeTool(options: CopiesOptions): Tool {
  return {
    name: 'remove_worktree',
    aliases: ['RemoveWorktree', 'worktree_remove'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Removes a worktree that no conversation is in, with its branch. The user must agree when changes or commits ' +
      'would be lost.',
    keywords: ['delete', 'clean', 'leftover'],
    input: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    },
    plan: async () => ({
      access: { kind: 'write', paths: [options.folder] },
      parallel: false,
      repeatable: false,
    }),
    run: async (input, context) => (await calls()).removeWorktree(options, input, context),
    show: async ({ name }) => ({ kind: 'markdown', text: `remove the worktree ${name}` }),
  };
}
