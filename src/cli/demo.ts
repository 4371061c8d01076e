// `crab demo`: the main job from beginning to end, with no key and no network. The model's side is a script on a
// loopback server; the request path, the tools, the files, the processes and the tape are the ones that every run uses.
// The demo believes nothing that was said: it runs the test itself at the end.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CrabError, EXIT } from '../core/errors.ts';
import { startFakeProvider } from '../dev/fake-provider.ts';
import { parseScenario } from '../dev/parse-scenario.ts';
import { createExec } from '../parts/process/exec.ts';
import { readArguments } from './arguments.ts';
import { systemClock } from './clock.ts';
import { DEMO_FILES, DEMO_PROMPT, DEMO_SCENARIO, DEMO_TEST_COMMAND } from './demo-project.ts';
import type { Environment } from './home.ts';
import { localModels } from './local-servers.ts';
import { print } from './print.ts';

const HELP = `Usage: crab demo

  Copies a small project with a failing test to a temporary folder and lets Crab mend it. The model is scripted and
  runs on this machine; everything else is real. No key, no network, nothing outside the temporary folder.
`;

export async function demo(argv: readonly string[], env: Environment): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(HELP);
    return EXIT.success;
  }
  if (argv[0] !== undefined) throw new CrabError('usage', `\`crab demo\` takes no ${argv[0]}.`);
  const { root, project } = await copyProject();
  const provider = await startFakeProvider({
    scenario: parseScenario(DEMO_SCENARIO, 'demo'),
    keepBodies: false,
  });
  const own: Environment = {
    ...env,
    CRAB_HOME: join(root, 'home'),
    PATH: `${await ownNode(root)}:${env.PATH ?? ''}`,
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'demo',
    ANTHROPIC_AUTH_TOKEN: undefined,
    ANTHROPIC_MODEL: undefined,
  };
  try {
    introduce(project);
    process.chdir(project);
    const code = await print({ args: demoArguments(), words: [DEMO_PROMPT], env: own });
    const green = code === EXIT.success && (await testPasses(project, own));
    await conclude(green, root, env);
    return green ? EXIT.success : EXIT.failure;
  } finally {
    await provider.close();
  }
}

async function copyProject(): Promise<{ readonly root: string; readonly project: string }> {
  const root = await mkdtemp(join(tmpdir(), 'crab-demo-'));
  const project = join(root, 'slug');
  for (const [name, text] of Object.entries(DEMO_FILES)) {
    const path = join(project, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { root, project };
}

/** A folder in which `node` is the program that runs us, so that the test needs nothing that we do not have. */
async function ownNode(root: string): Promise<string> {
  const folder = join(root, 'bin');
  await mkdir(folder);
  const script = `#!/bin/sh\nBUN_BE_BUN=1 exec '${process.execPath.replaceAll("'", `'\\''`)}' "$@"\n`;
  await writeFile(join(folder, 'node'), script, { mode: 0o755 });
  return folder;
}

function demoArguments(): ReturnType<typeof readArguments> {
  return readArguments([
    '--verbose',
    '--model=anthropic/scripted',
    '--permission-mode=acceptEdits',
    `--allowedTools=Bash(${DEMO_TEST_COMMAND})`,
    '--name=demo',
  ]);
}

async function testPasses(cwd: string, env: Environment): Promise<boolean> {
  const exec = createExec({ env, clock: systemClock });
  const never = new AbortController().signal;
  const result = await exec({ argv: ['sh', '-c', DEMO_TEST_COMMAND], cwd, timeoutMs: 30_000 }, never);
  say(`\nThe demo runs the test itself, to be sure:\n\n${indent(result.stdout.text)}`);
  return result.exitCode === 0;
}

function introduce(project: string): void {
  say(`A demonstration. The model's side is scripted and served on this machine; the tools, files, processes, the
session file and the wire are real. Crab may edit files here and run \`${DEMO_TEST_COMMAND}\`, nothing else.

  folder   ${project}
  prompt   ${DEMO_PROMPT}
`);
}

async function conclude(green: boolean, root: string, env: Environment): Promise<void> {
  say(green ? '\nGreen: the bug is mended.' : '\nNot green: the test still fails. Please report this.');
  say(`The project and the session file are in ${root}; remove it when you like.\n\n${await nextSteps(env)}`);
}

async function nextSteps(env: Environment): Promise<string> {
  const found = (await localModels()).map((model) => `  crab -m ${model}    (found: it is running here)`);
  const key = env.ANTHROPIC_API_KEY ?? env.OPENAI_API_KEY;
  const hosted =
    key !== undefined && key !== ''
      ? ['  crab "explain this project"             a key is set already']
      : ['  export ANTHROPIC_API_KEY=...            or OPENAI_API_KEY=...', '  crab "explain this project"'];
  const local =
    found.length > 0 ? found : ['  OPENAI_BASE_URL=http://localhost:11434/v1 crab    a local server, no key'];
  return ['Now with a real model:', ...hosted, ...local, '  crab --help'].join('\n');
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '  ');
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
