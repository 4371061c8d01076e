// Finding a tool by saying what is wanted, in the words that models use, among all the tools that there are.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rankTools } from '../parts/discover/rank-tools.ts';
import { allTools } from './all-tools.ts';

/** What is asked for, and the tool that must be among the first three. */
const WANTED: readonly (readonly [query: string, tool: string])[] = [
  ['run something every morning', 'cron_create'],
  ['schedule a recurring job', 'cron_create'],
  ['repeat this prompt daily at 9am', 'cron_create'],
  ['list scheduled jobs', 'cron_list'],
  ['cancel a scheduled prompt', 'cron_delete'],
  ['remind me in ten minutes', 'schedule_wakeup'],
  ['check back later', 'schedule_wakeup'],
  ['rename symbol', 'lsp'],
  ['find all references of a function', 'lsp'],
  ['go to definition', 'lsp'],
  ['who calls this method', 'lsp'],
  ['type errors and compiler diagnostics', 'lsp'],
  ['take a screenshot', 'browser_take_screenshot'],
  ['screenshot of the desktop', 'computer'],
  ['control mouse and keyboard', 'computer'],
  ['list open windows', 'computer'],
  ['click a button on a web page', 'browser_click'],
  ['fill in a form field', 'browser_type'],
  ['open a website in a browser', 'browser_navigate'],
  ['go back to the previous page', 'browser_navigate_back'],
  ['run javascript in the page', 'browser_evaluate'],
  ['console errors of the web page', 'browser_console_messages'],
  ['switch browser tab', 'browser_tabs'],
  ['edit a jupyter notebook cell', 'notebook_edit'],
  ['apply a unified diff', 'apply_patch'],
  ['change several files at once', 'apply_patch'],
  ['first and last lines of a big file', 'excerpt'],
  ['read the output of a background process', 'task_output'],
  ['kill a background command', 'task_stop'],
  ['stop the dev server', 'task_stop'],
  ['answer an interactive prompt', 'task_input'],
  ['type into a running terminal', 'task_input'],
  ['wait until the server is ready', 'monitor'],
  ['watch a log file for errors', 'monitor'],
  ['wait a minute', 'sleep'],
  ['pause for some seconds', 'sleep'],
  ['plan before coding', 'enter_plan_mode'],
  ['check that the plan was carried out', 'verify_plan'],
  ['update the plan file', 'write_plan'],
  ['tasks with dependencies', 'task_create'],
  ['mark a task as done', 'task_update'],
  ['show all tasks', 'task_list'],
  ['notify the user', 'brief'],
  ['send a message to the person while working', 'brief'],
  ['give the user a file to download', 'send_user_file'],
  ['name this conversation', 'set_title'],
  ['free context window space', 'snip'],
  ['change the model setting', 'config'],
  ['isolated copy of the repository', 'enter_worktree'],
  ['work on a separate git branch', 'enter_worktree'],
  ['leave the worktree', 'exit_worktree'],
  ['which worktrees are there', 'list_worktrees'],
  ['clean up leftover worktrees', 'remove_worktree'],
  ['do this on a remote machine', 'remote_trigger'],
];

const found = (async () => {
  const home = join(tmpdir(), 'crab-no-home');
  const tools = await allTools({ HOME: home, CRAB_HOME: home });
  return tools
    .filter(({ isDeferred }) => isDeferred === true)
    .map(({ name, aliases = [], description, keywords = [], input }) => ({
      ...{ name, aliases, description, keywords, input, isOffered: false },
    }));
})();

for (const [query, tool] of WANTED)
  test(`"${query}" finds ${tool}`, async () => {
    const names = rankTools(query, await found).map(({ name }) => name);
    assert.ok(names.slice(0, 3).includes(tool), `found ${names.slice(0, 5).join(', ')}`);
  });
