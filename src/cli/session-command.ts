// `crab session`: what a person does with sessions beside talking in them. Each command is loaded when it is given.

import { createTapes } from '../parts/tape/tapes.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';
import { progressOn } from './progress.ts';
import { parseSession, type SessionRun } from './session-call.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand } from './subcommand.ts';

const HELP = `Usage: crab session COMMAND

  list                          the sessions of this folder, the last written first
  show [SESSION]                what it is, and its last messages
  tree [SESSION]                what was said on every branch, with the ids of the entries

  fork SESSION [ENTRY]          a new session that begins with its branch, up to ENTRY
  clone SESSION                 a new session with all of it
  label SESSION ENTRY LABEL     mark an entry; LABEL - takes the mark away
  move SESSION ENTRY            go on from an entry; start means from nothing
  rename SESSION NAME
  delete SESSION...             into the trash; restore brings it back
  restore SESSION...

  export [SESSION]              a page (html), markdown, jsonl, or the files of pi and claude
  import FILE|DIR...            sessions of pi, Claude Code, Codex, plain chat logs, or Crab's own

  template save NAME [SESSION [ENTRY]]    keep it, up to ENTRY, to begin others with: crab --template NAME
  template list|show|delete|restore       what is kept so

  verify [SESSION...]           check every line of these sessions, or of all
  repair SESSION                write what is good into a sound file; the damaged one is kept beside it

  SESSION is an id or the beginning of one, a name, or a path; without it, the newest of this folder.
  ENTRY is an id, one of its ends, or a label, as the tree shows them.

  --json              list, show, tree, fork, clone, import, verify, repair: JSON
  --all               list: of every folder; tree: bookkeeping, too
  --folder DIR        list: of this folder
  --trash             list: what was deleted
  --agent NAME        list: of this agent
  --limit N           list: sessions, show: messages (default 20), tree: entries
  --offset N          list, show: pass over so many
  --name NAME         fork, clone: what to call it
  --format FORMAT     export: html, markdown, jsonl, pi or claude; else as FILE ends, else html
  -o, --output FILE   export: into a new file
  --with-secrets      export: leave what looks like a key as it is
  --from KIND         import: tape (Crab and pi), claude, codex or chat; else by what stands in it
  --summary TEXT      move: what the model is told of the way that is left
  --no-messages       template save: only how it begins, and nothing that was said
  --model, --effort, --permission-mode, --append-system-prompt    template save: how it begins
  --force             template save: in place of the one of that name
`;

const COMMANDS: Readonly<Record<string, () => Promise<SessionRun>>> = {
  list: async () => (await import('./session-look.ts')).listSessions,
  show: async () => (await import('./session-look.ts')).showSession,
  tree: async () => (await import('./session-look.ts')).showTree,
  fork: async () => (await import('./session-change.ts')).forkSession,
  clone: async () => (await import('./session-change.ts')).cloneSession,
  label: async () => (await import('./session-change.ts')).labelEntry,
  move: async () => (await import('./session-change.ts')).moveSession,
  rename: async () => (await import('./session-change.ts')).renameSession,
  delete: async () => (await import('./session-change.ts')).deleteSessions,
  export: async () => (await import('./session-export.ts')).exportSession,
  import: async () => (await import('./session-import.ts')).importSessions,
  verify: async () => (await import('./session-check.ts')).verifySessions,
  repair: async () => (await import('./session-check.ts')).repairSession,
  template: async () => (await import('./session-template.ts')).templateCommand,
  restore: async () => (await import('./session-change.ts')).restoreSessions,
};

/** Returns the exit status. */
export async function sessionCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = parseSession(argv);
  const { values } = asked;
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  const hint = 'Run `crab session --help`; for a prompt that begins so, use `crab -p`.';
  const chosen = await chosenCommand(
    { name: 'session', commands: COMMANDS, help: HELP, hint },
    asked,
    stdout,
  );
  if (typeof chosen === 'number') return chosen;
  const { run: load, words } = chosen;
  const tapes = createTapes({ home: crabHome(env), clock: systemClock, random: Math.random });
  const run = await load();
  // Whoever dies in the middle of a copy leaves half of it behind.
  const stop = stopOnSignals(() => {});
  try {
    return await run({
      words,
      flags: values,
      tapes,
      env,
      progress: progressOn(stderr),
      signal: stop.signal,
      print: (text) => stdout.write(text),
      printJson: (value) => stdout.write(`${JSON.stringify(value, null, 2)}\n`),
      warn: (text) => stderr.write(`crab: ${text}\n`),
    });
  } finally {
    stop.release();
  }
}
