// `crab permissions`: the policy without a conversation, for a person who wants to know what holds and why.

import { promises as fs } from 'node:fs';
import { resolve } from 'node:path';
import { CrabError, EXIT } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { visibleLine } from '../faces/visible.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { fileText } from './file-text.ts';
import { type Environment, workingFolder } from './home.ts';
import { createDesk, type Desk, type Workplace } from './permissions-desk.ts';
import { explainedJson, explainedText, explainLines } from './permissions-explain.ts';
import { loadSettings } from './settings.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand, subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab permissions COMMAND

  list                    the mode, every rule and where it comes from, and whether this project is trusted
  explain 'CMD'           what would be decided on a command, and which rule or fact decides
  explain TOOL '{INPUT}'  the same for another tool's call, such as read '{"path": ".env"}'
  explain --json -        reads one JSON object a line, {"cmd", "cwd"} or {"tool", "input", "cwd"}, and writes one a
                          line: {"verdict", "effect", "reason", "rule"}, or {"error"} for a line that is none
  test FILE               checks a policy: one test a line, \`allow npm test\`, \`ask:dangerous rm -rf x\`,
                          \`deny @read {"path": ".env"}\`, \`mode acceptEdits\` for those below, # for remarks
  suggest                 rules for what you said yes to again and again; never for what is dangerous

  --cwd DIR               as if in this folder
  --json                  list, explain, suggest: JSON
  --permission-mode MODE, --allowedTools RULES, --disallowedTools RULES, --add-dir DIR, --config FILE,
  --profile NAME, --trust as for a conversation
`;

/** Flags that mean here what they mean for a conversation. */
const SHARED = [
  'permission-mode',
  'allowedTools',
  'disallowedTools',
  'add-dir',
  'config',
  'profile',
] as const;

const FLAGS = {
  json: { type: 'boolean' },
  trust: { type: 'boolean' },
  cwd: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  'permission-mode': { type: 'string' },
  allowedTools: { type: 'string', multiple: true },
  disallowedTools: { type: 'string', multiple: true },
  'add-dir': { type: 'string', multiple: true },
  config: { type: 'string', multiple: true },
  profile: { type: 'string' },
} as const;

interface Call {
  readonly words: readonly string[];
  readonly json: boolean;
  readonly desk: Desk;
  readonly place: Workplace;
  readonly env: Environment;
  readonly stdout: Sink;
}

export async function permissionsCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = subcommandArguments('permissions', argv, FLAGS);
  const { values } = asked;
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  const chosen = await chosenCommand({ name: 'permissions', commands: COMMANDS, help: HELP }, asked, stdout);
  if (typeof chosen === 'number') return chosen;
  const { run, words } = chosen;
  const warn = (text: string) => void stderr.write(`crab: ${text}\n`).catch(() => {});
  const args = sharedArguments(values);
  const cwd = await folderOf(values.cwd);
  const desk = createDesk({
    args,
    env,
    settings: await loadSettings({ args, env, warn }),
    directories: args.values('add-dir').map((path) => resolve(path)),
    warn,
  });
  return run({ words, json: values.json === true, desk, place: await desk.at(cwd), env, stdout });
}

type Values = ReturnType<typeof subcommandArguments<typeof FLAGS>>['values'];

function sharedArguments(values: Values): Arguments {
  const given = SHARED.flatMap((name) => {
    const value = values[name];
    const all = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return all.map((one) => `--${name}=${one}`);
  });
  return readArguments([...given, ...(values.trust === true ? ['--trust'] : [])]);
}

async function folderOf(given: string | undefined): Promise<string> {
  const cwd = resolve(workingFolder(), given ?? '.');
  const info = await fs.stat(cwd).catch(() => undefined);
  if (info?.isDirectory() !== true) throw usage(`--cwd ${given} is not a folder.`);
  return cwd;
}

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<number>>> = {
  async list({ words, json, place, stdout }) {
    if (words.length > 0) throw usage('`crab permissions list` takes no words.');
    const { mode, rules, directories, project } = place.policy;
    if (json) {
      const { root, trusted } = project;
      const shown = { mode, rules, directories, project: { root, trusted: trusted ?? null } };
      await stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return EXIT.success;
    }
    const width = Math.min(60, Math.max(0, ...rules.map(({ text }) => text.length)));
    const state = project.trusted === undefined ? 'never decided' : project.trusted ? 'yes' : 'no';
    const ordered = (['deny', 'ask', 'allow'] as const).flatMap((decision) =>
      rules.filter((rule) => rule.decision === decision),
    );
    const rows = [
      `mode     ${mode}`,
      `trusted  ${state} (${visibleLine(project.root, 500)})`,
      ...directories.map((path) => `folder   ${visibleLine(path, 500)}`),
      ...ordered.map(
        ({ decision, text, source }) =>
          `${decision.padEnd(7)}  ${visibleLine(text, 500).padEnd(width)}  ${visibleLine(source, 500)}`,
      ),
      ...(rules.length === 0 ? ['There are no rules: the mode decides.'] : []),
    ];
    await stdout.write(`${rows.join('\n')}\n`);
    return EXIT.success;
  },

  async explain({ words, json, desk, place, stdout }) {
    const [first, input, ...more] = words;
    if (first === undefined || more.length > 0)
      throw usage('`crab permissions explain` takes a command in quotes, a tool and its input, or --json -.');
    if (first === '-') {
      if (!json || input !== undefined) throw usage('Standard input is read with --json - alone.');
      await explainLines(process.stdin, desk, place.cwd, stdout);
      return EXIT.success;
    }
    const request =
      input === undefined
        ? desk.command(first, place)
        : await desk.call(first, inputOf(input), place).catch((cause) => {
            throw usage(`${first} cannot be called so: ${cause.message}`);
          });
    const explained = await place.gate.explain(request);
    await stdout.write(
      json ? `${JSON.stringify(explainedJson(explained))}\n` : explainedText(request, explained),
    );
    return EXIT.success;
  },

  async test({ words, desk, place, stdout }) {
    const [path, ...more] = words;
    if (path === undefined || more.length > 0) throw usage('`crab permissions test` takes one file.');
    const { testPolicy } = await import('./permissions-test.ts');
    const { passed, failed } = await testPolicy(await fileText('The file', path), path, desk, place);
    for (const failure of failed) await stdout.write(`${failure}\n`);
    await stdout.write(`${passed} passed, ${failed.length} failed\n`);
    return failed.length === 0 ? EXIT.success : EXIT.failure;
  },

  async suggest({ words, json, place, env, stdout }) {
    if (words.length > 0) throw usage('`crab permissions suggest` takes no words.');
    const { suggestions, suggestionText } = await import('./permissions-suggest.ts');
    const found = await suggestions(place, env);
    await stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : suggestionText(found));
    return EXIT.success;
  },
};

function inputOf(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, never>>;
  } catch (cause) {
    throw new CrabError('usage', 'The input of a tool is a JSON object.', { cause });
  }
  throw usage('The input of a tool is a JSON object.');
}

const usage = (message: string) => subcommandUsage('permissions', message);
