// Every flag of `crab` in one table: the parser, the help and the check for mistyped names all read it. Spellings
// follow the field's where one exists, so that scripts written for another agent need few changes.

export interface Flag {
  readonly name: string;
  /** Other spellings, long or of one letter. */
  readonly also?: readonly string[];
  /** How the value is written in help; absent for a switch. */
  readonly value?: string;
  /** May be given several times. */
  readonly many?: boolean;
  /** The value may be left out. */
  readonly optional?: boolean;
  /** An empty value means nothing: it is a variable that was not set. */
  readonly filled?: boolean;
  readonly choices?: readonly string[];
  readonly group: 'Run' | 'Session' | 'Model' | 'Permissions' | 'Input and output' | 'Prompt' | 'Other';
  readonly help: string;
}

const MODES = ['plan', 'default', 'acceptEdits', 'trustProject', 'dontAsk', 'bypassPermissions'] as const;

export const FLAGS = [
  {
    name: 'print',
    also: ['p'],
    group: 'Run',
    help: 'answer one prompt and leave; implied by a prompt and by standard input from a pipe',
  },
  { name: 'prompt', value: 'TEXT', group: 'Run', help: 'the prompt, as an alternative to an argument' },
  {
    name: 'agent',
    value: 'NAME',
    filled: true,
    group: 'Run',
    help: 'the agent that answers; see `crab agents`',
  },
  {
    name: 'guest',
    value: 'NAME',
    filled: true,
    group: 'Run',
    help: 'this agent answers once, in words, as a guest of the conversation',
  },
  { name: 'max-turns', value: 'N', group: 'Run', help: 'stop after N exchanges with the model' },
  { name: 'max-budget-usd', value: 'USD', group: 'Run', help: 'spend no more than this before Crab ends' },
  {
    name: 'timeout',
    value: 'SECONDS',
    group: 'Run',
    help: 'end a print run after so long without a sign of life (default 120)',
  },
  { name: 'no-auto-compact', group: 'Run', help: 'never summarise older messages unasked; see ,compact' },
  {
    name: 'add-dir',
    value: 'DIR',
    filled: true,
    many: true,
    group: 'Run',
    help: 'treat DIR like the working directory',
  },
  { name: 'continue', also: ['c'], group: 'Session', help: 'go on with the newest session of this folder' },
  {
    name: 'resume',
    also: ['r'],
    value: 'ID',
    optional: true,
    group: 'Session',
    help: 'go on with the session whose id begins so or that is called so; without ID, choose from a list',
  },
  {
    name: 'session',
    value: 'PATH',
    filled: true,
    group: 'Session',
    help: 'go on with the session in this file, or with this id or name',
  },
  {
    name: 'fork',
    also: ['fork-session'],
    group: 'Session',
    help: 'with --continue, --resume or --session: go on in a copy and leave the session as it is',
  },
  {
    name: 'template',
    value: 'NAME',
    filled: true,
    group: 'Session',
    help: 'begin with a prepared conversation; see `crab session template`',
  },
  { name: 'session-id', value: 'ULID', filled: true, group: 'Session', help: 'give the new session this id' },
  { name: 'no-session', also: ['no-session-persistence'], group: 'Session', help: 'keep nothing on disk' },
  { name: 'name', also: ['n'], value: 'NAME', filled: true, group: 'Session', help: 'name the session' },
  {
    name: 'model',
    also: ['m'],
    value: 'MODEL',
    filled: true,
    group: 'Model',
    help: 'PROVIDER/ID, such as openai/gpt-5.1, or ID',
  },
  {
    name: 'fallback-model',
    value: 'MODELS',
    filled: true,
    group: 'Model',
    help: 'where to turn, in order, when the model is overloaded or fails: A,B,C',
  },
  {
    name: 'plan-model',
    value: 'MODEL',
    filled: true,
    group: 'Model',
    help: 'the model while the permission mode is plan',
  },
  {
    name: 'effort',
    also: ['thinking'],
    value: 'LEVEL',
    choices: ['off', 'low', 'medium', 'high', 'max'],
    group: 'Model',
    help: 'how long the model may think',
  },
  { name: 'fast', group: 'Model', help: 'answer sooner for more money, where the provider sells that' },
  { name: 'max-output-tokens', value: 'N', group: 'Model', help: 'the longest answer (default 16384)' },
  {
    name: 'api-key-file',
    value: 'FILE',
    filled: true,
    group: 'Model',
    help: 'take the key of the model from this file',
  },
  {
    name: 'permission-mode',
    value: 'MODE',
    choices: MODES,
    group: 'Permissions',
    help: 'what may happen without a question',
  },
  {
    name: 'dangerously-skip-permissions',
    group: 'Permissions',
    help: 'the same as --permission-mode bypassPermissions',
  },
  {
    name: 'sandbox',
    value: 'MODE',
    choices: ['required', 'preferred', 'off'],
    group: 'Permissions',
    help: 'whether commands are confined: always, where this machine can (the default), or never',
  },
  {
    name: 'allowedTools',
    also: ['allowed-tools'],
    value: 'RULES',
    many: true,
    group: 'Permissions',
    help: 'allow without a question, such as "Bash(npm test)" or "Read,Edit"; see Rules',
  },
  {
    name: 'disallowedTools',
    also: ['disallowed-tools'],
    value: 'RULES',
    many: true,
    group: 'Permissions',
    help: 'refuse always; wins over everything',
  },
  {
    name: 'trust',
    group: 'Permissions',
    help: "obey this project's own settings in this run; crab trust does so for good",
  },
  {
    name: 'tools',
    value: 'NAMES',
    many: true,
    group: 'Permissions',
    help: 'offer the model only these tools',
  },
  {
    name: 'output-format',
    value: 'FORMAT',
    choices: ['text', 'json', 'stream-json'],
    group: 'Input and output',
    help: 'what goes to standard output',
  },
  {
    name: 'input-format',
    value: 'FORMAT',
    choices: ['text', 'stream-json'],
    group: 'Input and output',
    help: 'what standard input holds',
  },
  {
    name: 'attach',
    also: ['image', 'i'],
    value: 'FILE',
    filled: true,
    many: true,
    group: 'Input and output',
    help: 'show the model an image or a PDF with the prompt',
  },
  {
    name: 'json-schema',
    value: 'SCHEMA',
    filled: true,
    group: 'Input and output',
    help: 'end with a value of this shape: JSON, or @FILE',
  },
  {
    name: 'include-partial-messages',
    group: 'Input and output',
    help: 'stream-json: every piece of an answer as it comes',
  },
  {
    name: 'replay-user-messages',
    group: 'Input and output',
    help: 'stream-json: repeat prompts once they are on disk',
  },
  { name: 'verbose', group: 'Input and output', help: 'show tool calls and thinking on standard error' },
  { name: 'system-prompt', value: 'TEXT', group: 'Prompt', help: 'in place of the built-in one' },
  { name: 'system-prompt-file', value: 'FILE', filled: true, group: 'Prompt', help: 'the same, from a file' },
  {
    name: 'append-system-prompt',
    value: 'TEXT',
    many: true,
    group: 'Prompt',
    help: 'after the built-in one',
  },
  {
    name: 'append-system-prompt-file',
    value: 'FILE',
    filled: true,
    many: true,
    group: 'Prompt',
    help: 'the same, from a file',
  },
  { name: 'no-context-files', also: ['nc'], group: 'Prompt', help: 'read no AGENTS.md or CLAUDE.md' },
  {
    name: 'config',
    value: 'FILE',
    filled: true,
    many: true,
    group: 'Other',
    help: 'settings that win over those of $CRAB_HOME/config.toml',
  },
  {
    name: 'profile',
    value: 'NAME',
    filled: true,
    group: 'Other',
    help: 'use [profiles.NAME] of the settings',
  },
  {
    name: 'remote',
    value: 'ADDRESS',
    filled: true,
    group: 'Other',
    help: 'work in a Crab elsewhere: wss://HOST:PORT, or a name of [remotes] in the settings',
  },
  {
    name: 'remote-cwd',
    value: 'DIR',
    filled: true,
    group: 'Other',
    help: 'with --remote: the folder there (default: the home folder of its user)',
  },
  {
    name: 'remote-token-file',
    value: 'FILE',
    filled: true,
    group: 'Other',
    help: 'with --remote: take the token from this file',
  },
  { name: 'daemon', group: 'Other', help: 'work in the running daemon, or fail' },
  { name: 'no-daemon', group: 'Other', help: 'work in this process, whatever runs' },
  {
    name: 'record',
    value: 'FILE',
    filled: true,
    group: 'Other',
    help: 'write what goes to and comes from the provider into a new file, without keys',
  },
  {
    name: 'replay',
    value: 'FILE',
    filled: true,
    group: 'Other',
    help: 'answer from a recording in place of a provider; needs no key and no network',
  },
  { name: 'help', also: ['h'], group: 'Other', help: 'show this' },
  { name: 'version', also: ['v', 'V'], group: 'Other', help: 'show the version' },
] as const satisfies readonly Flag[];

export type FlagName = (typeof FLAGS)[number]['name'];
