// What `crab --help` says: made from the table of flags, so that it lists what is accepted and nothing else.

import { EXIT } from '../core/errors.ts';
import { FLAGS, type Flag } from './flags.ts';

const WIDTH = 36;

const INTRODUCTION = `Crab: the agent you own. It reads, runs and changes code in the folder you are in.

Usage
  crab                              talk to it, line by line (crab chat does so from a pipe, too)
  crab "fix the failing test"       one prompt, one answer; the same as crab -p "..."
  git diff | crab -p "review this"  standard input joins the prompt
  crab --continue                   go on where you were in this folder; --resume lets you choose
  crab search parser error          find what was said in any session; crab search --help
  crab tools                        what a model can do, and one tool in full: crab tools NAME
  crab session ...                  list, show, fork, export, import and mend what was said before
  crab worktree ...                 list and clear away worktrees that conversations left; --help
  crab auth login openai            keep a key or a login safe; also logout and status (crab auth --help)
  crab usage                        what requests cost, by day, model, session; crab usage --help
  crab doctor                       what this machine can do for it, the sandbox above all
  crab models                       what can be asked, and what it costs
  crab permissions ...              what may happen without a question, and why; --help
  crab trust                        let this project's own settings allow things; crab trust --help
  crab daemon run                   conversations that outlive their terminals; crab daemon --help
  crab watch                        what is said in all of the daemon's conversations
  crab rpc METHOD JSON              any message to the daemon, for scripts; crab rpc --help
  crab serve                        let clients on other machines in; crab serve --help
  crab demo                         see it work: no key, no network
  crab dev fake-provider ...        a scripted model server for your own tests

First steps
  export ANTHROPIC_API_KEY=...      or OPENAI_API_KEY=..., or crab auth login
  export OPENAI_BASE_URL=http://localhost:11434/v1    for a local server; needs no key

In a line
  ,help  ,tools  ,handoff           commands, answered without a model (/help is the same)
  ,git status                       any other line with a comma runs in the shell; one that fails
                                    is handed to the model
  !make  !!man make                 always the shell; !! keeps nothing
  the end\\                          a backslash at the end goes on in the next line
  Ctrl-C  Ctrl-D                    stop what runs (twice: leave); leave`;

const MODES = `Permission modes
  plan               read only; everything else is refused
  default            reading in the folder is free; changes and commands are asked about
  acceptEdits        as default, and files in the folder may be edited
  trustProject       as acceptEdits, and ordinary commands that stay in the folder may run
  dontAsk            what would be asked about is refused, unless --allowedTools names it
  bypassPermissions  everything runs, except what --disallowedTools names
  Where nobody can be asked (print mode), a question is a refusal. Standard error and the JSON result
  (permission_denials) say which call it was and what would allow it. No rule allows what can destroy
  without a way back (rm -rf, sudo, code in the command): that is always asked about. Files that
  hold secrets (.env, keys) are read only with a rule that names them, such as Read(.env).

Rules
  Bash(npm test)     this command            Bash(npm run *)   it with any arguments; each part of a
                                             chain (&&, |, ;) needs a rule of its own
  Read  Edit  Bash   the whole tool          Edit(src/**)      files below src
  Read(.env)         any file of that name   Read(//etc/**)    below /etc; ~/ is the home folder`;

const ENVIRONMENT = `Environment
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL
  OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL
  DEEPSEEK_API_KEY, MISTRAL_API_KEY, OPENROUTER_API_KEY, OLLAMA_BASE_URL and so on: docs/guide/providers.md
                     lists every provider with its variables
  CRAB_API_KEY_HELPER_TTL_MS   how long the answer of apiKeyHelper is used (default 300000)
  CRAB_MAX_RETRIES   tries again after a failure, 0 to 10 (default 4)
  CRAB_REMOTE_TOKEN  what --remote shows to an address; docs/guide/remote.md has the other ways
  CRAB_HOME          where sessions and caches are kept (default ~/.crab)
  NO_COLOR           no colours`;

const EXIT_MEANING: Record<keyof typeof EXIT, string> = {
  success: 'done',
  failure: 'the agent or a tool failed',
  usage: 'the command line is wrong',
  auth: 'no key, or a refused one',
  rateLimit: 'rate limit or quota',
  budget: 'the budget is used up',
  context: 'too long for the model',
  refused: 'the last step was refused',
  network: 'network or provider unreachable',
  session: 'the session cannot be opened or written',
  input: 'the prompt or input is unusable',
  turnLimit: 'the turn limit was reached',
  idle: 'no sign of life for too long',
  interrupted: 'interrupted (Ctrl-C)',
  terminated: 'terminated',
};

export function helpText(): string {
  return [INTRODUCTION, ...flagGroups(), MODES, ENVIRONMENT, exitCodes()].join('\n\n').concat('\n');
}

function flagGroups(): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const flag of FLAGS as readonly Flag[]) {
    const rows = groups.get(flag.group) ?? [];
    rows.push(...flagRows(flag));
    groups.set(flag.group, rows);
  }
  return [...groups].map(([group, rows]) => [group, ...rows].join('\n'));
}

function flagRows(flag: Flag): readonly string[] {
  const letter = flag.also?.find((name) => name.length === 1);
  const value =
    flag.value === undefined ? '' : flag.optional === true ? ` [${flag.value}]` : ` ${flag.value}`;
  const left = `  ${letter === undefined ? '' : `-${letter}, `}--${flag.name}${value}`;
  const choices = flag.choices === undefined ? '' : `: ${flag.choices.join(', ')}`;
  const lines = wrap(`${flag.help}${choices}${flag.many === true ? ' (may be repeated)' : ''}`, 106 - WIDTH);
  const first = left.length < WIDTH ? [left.padEnd(WIDTH) + (lines.shift() ?? '')] : [left];
  return [...first, ...lines.map((line) => ' '.repeat(WIDTH) + line)];
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function exitCodes(): string {
  const rows = (Object.keys(EXIT) as (keyof typeof EXIT)[]).map(
    (name) => `  ${String(EXIT[name]).padEnd(4)} ${EXIT_MEANING[name]}`,
  );
  return ['Exit codes', ...rows].join('\n');
}
