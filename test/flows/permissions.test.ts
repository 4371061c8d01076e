// What runs and what is refused where nobody can be asked: by mode, by rule, by place. A refusal reaches the model as
// the result of its call, the program as `permission_denials`, and the script as an exit code.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PermissionMode } from '../../src/core/permission.ts';
import type { Reply, ScriptedCall } from '../../src/dev/scenario.ts';
import type { RunOptions } from '../support/crab.ts';
import { type FlowWire, type Journey, journey, linesOf, onEachWire, resultOf } from '../support/journey.ts';
import { tempWorkspace } from '../support/workspace.ts';

const FILES = {
  'a.txt': 'hello\n',
  'run.mjs': "console.log('ran');\n",
  'package.json': '{"scripts":{"test":"node run.mjs"}}\n',
};

const bash = (command: string): ScriptedCall => ({ name: 'bash', input: { command } });
const read = (path: string): ScriptedCall => ({ name: 'read', input: { path } });
const write = (path: string): ScriptedCall => ({ name: 'write', input: { path, content: 'mine\n' } });

/** Each call in a message of its own, then a word. */
const oneByOne = (calls: readonly ScriptedCall[]): readonly Reply[] => [
  ...calls.map((call) => ({ calls: [call] })),
  { text: 'That is all.' },
];

interface Attempt {
  readonly code: number | null;
  /** Of each call in order whether it was refused. */
  readonly verdicts: readonly ('ran' | 'refused')[];
  /** What the model was told of each. */
  readonly told: readonly string[];
  readonly at: Journey;
}

/** Lets the model make calls one by one and hands what came of them to `look`. */
async function attempt(
  wire: FlowWire,
  calls: readonly ScriptedCall[],
  args: readonly string[],
  look: (attempt: Attempt) => void | Promise<void>,
  more: Partial<RunOptions> = {},
): Promise<void> {
  await using at = await journey(wire, { script: oneByOne(calls), files: FILES });
  await writeFile(join(at.work.path, '../secret.txt'), 'secret\n');
  const exit = await at.run(['-p', 'go', '--output-format', 'json', ...args], more);
  const { permission_denials } = resultOf(exit);
  const denied = new Set((permission_denials as { tool_use_id: string }[]).map((each) => each.tool_use_id));
  const told =
    at
      .asked()
      .at(-1)
      ?.messages.flatMap((said) => (said.role === 'result' ? [said] : [])) ?? [];
  await look({
    code: exit.code,
    verdicts: told.map(({ id }) => (denied.has(id) ? 'refused' : 'ran')),
    told: told.map(({ text }) => text),
    at,
  });
}

const DEEDS = {
  'read a file': read('a.txt'),
  'run a command that reads': bash('cat a.txt | wc -l'),
  'write a file': write('new.txt'),
  'run a command that writes': bash('mkdir made'),
  'run a program of the folder': bash('node run.mjs'),
  'read outside': read('../secret.txt'),
  'read outside by command': bash('cat ../secret.txt'),
  'write outside': write('../outside.txt'),
  'write to .git': write('.git/hooks/pre-commit'),
  'become root': bash('sudo -n true'),
} as const satisfies Record<string, ScriptedCall>;

type Deed = keyof typeof DEEDS;

const READS: readonly Deed[] = ['read a file', 'run a command that reads'];

/** No mode lifts the sandbox: only `--sandbox off` does. */
const OUT_OF_THE_SANDBOX: readonly Deed[] = ['write outside', 'write to .git'];

const ALLOWED: Readonly<Record<PermissionMode, readonly Deed[]>> = {
  plan: READS,
  default: READS,
  acceptEdits: [...READS, 'write a file'],
  trustProject: [...READS, 'write a file', 'run a command that writes', 'run a program of the folder'],
  dontAsk: READS,
  bypassPermissions: Object.keys(DEEDS) as Deed[],
};

for (const mode of Object.keys(ALLOWED) as PermissionMode[])
  onEachWire(`mode ${mode}: what may happen`, async (wire) => {
    const args = mode === 'default' ? [] : ['--permission-mode', mode];
    await attempt(wire, Object.values(DEEDS), args, ({ verdicts, at }) => {
      const names = Object.keys(DEEDS) as Deed[];
      const ran = names.filter((_, index) => verdicts[index] === 'ran');
      assert.deepEqual(
        ran,
        [...names].filter((name) => ALLOWED[mode].includes(name)),
      );
      const made = ['new.txt', 'made', '../outside.txt', '.git/hooks/pre-commit'];
      const deeds: readonly Deed[] = [
        'write a file',
        'run a command that writes',
        'write outside',
        'write to .git',
      ];
      assert.deepEqual(
        made.filter((name) => existsSync(at.work.file(name))),
        made.filter((_, index) => {
          const deed = deeds[index] ?? 'read a file';
          return ALLOWED[mode].includes(deed) && !OUT_OF_THE_SANDBOX.includes(deed);
        }),
        'and what was refused left nothing',
      );
    });
  });

onEachWire('without the sandbox, mode bypassPermissions does everything', async (wire) => {
  const args = ['--permission-mode', 'bypassPermissions', '--sandbox', 'off'];
  await attempt(wire, Object.values(DEEDS), args, ({ verdicts, at }) => {
    assert.deepEqual(
      verdicts,
      Array.from(Object.keys(DEEDS), () => 'ran'),
    );
    for (const name of ['../outside.txt', '.git/hooks/pre-commit']) assert.ok(existsSync(at.work.file(name)));
  });
});

onEachWire('a refusal is told to the model, to the program and by the exit code', async (wire) => {
  await using at = await journey(wire, { script: oneByOne([write('new.txt')]), files: FILES });
  const exit = await at.run(['-p', 'go', '--output-format', 'stream-json']);
  const { is_error, exit_code, result, error, permission_denials } = resultOf(exit);
  const input = { path: 'new.txt', content: 'mine\n' };
  const denial = { tool_name: 'write', tool_use_id: 'call_1_1', tool_input: input };
  assert.deepEqual(
    { code: exit.code, is_error, exit_code, result, error: Object(error).code, permission_denials },
    {
      code: 7,
      is_error: true,
      exit_code: 7,
      result: 'That is all.',
      error: 'permission-refused',
      permission_denials: [denial],
    },
  );
  const told = at.asked().at(-1)?.messages.at(-1);
  assert.ok(told?.role === 'result');
  assert.match(told.text, /Nobody can be asked here, so it is refused\.$/);
  assert.match(told.text, /--permission-mode acceptEdits/, 'and says what would allow it');
  const line = linesOf(exit).find(({ subtype }) => subtype === 'permission_denied') ?? {};
  const { uuid: _, session_id: __, ...rest } = line;
  assert.deepEqual(rest, { type: 'system', subtype: 'permission_denied', ...denial, reason: told.text });
});

onEachWire('in text mode the answer comes all the same, and the refusal on standard error', async (wire) => {
  await using at = await journey(wire, { script: oneByOne([bash('mkdir made')]), files: FILES });
  const exit = await at.run(['-p', 'go']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 7, stdout: 'That is all.\n' });
  assert.match(exit.stderr, /^⊘ bash was refused: .+\ncrab: .+ \[permission-refused\]\n/);
});

onEachWire('a run that went on behind a refusal is a success that names it', async (wire) => {
  await attempt(wire, [write('new.txt'), read('a.txt')], [], ({ code, verdicts, told }) => {
    assert.deepEqual({ code, verdicts }, { code: 0, verdicts: ['refused', 'ran'] });
    assert.equal(told[1], '1\thello');
  });
});

onEachWire('a refused command keeps the ones behind it in its message from running', async (wire) => {
  const script = [{ calls: [bash('mkdir made'), bash('cat a.txt')] }, { text: 'Done.' }];
  await using at = await journey(wire, { script, files: FILES });
  await at.run(['-p', 'go']);
  const told = at.asked().at(-1)?.messages.at(-1);
  assert.deepEqual(told, {
    role: 'result',
    id: 'call_1_2',
    text: 'Not run: an earlier command of this message failed.',
  });
});

const LISTS: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: 'a flag for each rule', args: ['--allowedTools', 'Bash(npm test)', '--allowedTools', 'Write'] },
  { name: 'commas', args: ['--allowedTools', 'Bash(npm test),Write'] },
  { name: 'blanks', args: ['--allowedTools', 'Bash(npm test) Write'] },
  { name: 'the other spelling', args: ['--allowed-tools=Bash(npm test), write'] },
];

for (const { name, args } of LISTS)
  onEachWire(`rules can be listed with ${name}`, async (wire) => {
    const calls = [bash('npm test'), write('new.txt'), bash('npm publish')];
    await attempt(wire, calls, args, ({ verdicts, told }) => {
      assert.deepEqual(verdicts, ['ran', 'ran', 'refused']);
      assert.match(told[0] ?? '', /^ran$/m);
    });
  });

const COMPOUND: readonly { readonly command: string; readonly runs: boolean }[] = [
  { command: 'npm test', runs: true },
  { command: 'npm test && cat a.txt', runs: true },
  { command: 'npm test | tail -1', runs: true },
  { command: 'npm test && mkdir made', runs: false },
  { command: 'npm test; mkdir made', runs: false },
  { command: 'mkdir made || npm test', runs: false },
  { command: 'npm test > made', runs: false },
  { command: 'npm test $(mkdir made)', runs: false },
  { command: 'npm test `mkdir made`', runs: false },
  { command: 'npm testing', runs: false },
  { command: 'npm test &', runs: true },
  { command: 'npm test\nmkdir made', runs: false },
  { command: 'npm test "', runs: false },
  { command: 'eval "mkdir made"', runs: false },
];

onEachWire('a rule for one command allows no other beside it', async (wire) => {
  const calls = COMPOUND.map(({ command }) => bash(command));
  await attempt(wire, calls, ['--allowedTools', 'Bash(npm test)'], ({ verdicts, at }) => {
    assert.deepEqual(
      COMPOUND.map(({ command }, index) => ({ command, verdict: verdicts[index] })),
      COMPOUND.map(({ command, runs }) => ({ command, verdict: runs ? 'ran' : 'refused' })),
    );
    assert.equal(existsSync(at.work.file('made')), false);
  });
});

onEachWire('a command that is not understood is refused, and the model learns why', async (wire) => {
  const calls = [bash('cat a.txt $(('), bash('cd() { cat a.txt; }; cd src'), bash('cat "a.txt')];
  await attempt(wire, calls, ['--permission-mode', 'trustProject'], ({ code, verdicts, told }) => {
    assert.deepEqual({ code, verdicts }, { code: 7, verdicts: ['refused', 'refused', 'refused'] });
    for (const text of told) assert.match(text, /Nobody can be asked here/);
  });
});

onEachWire('deny wins over everything, the mode that asks nothing included', async (wire) => {
  const args = ['--disallowedTools', 'Bash(rm *),Read(secrets/**)', '--allowedTools', 'Bash,Read'];
  const calls = [bash('rm a.txt'), bash('true && rm -f a.txt'), read('secrets/key'), read('a.txt')];
  for (const mode of ['default', 'bypassPermissions'])
    await attempt(wire, calls, ['--permission-mode', mode, ...args], ({ verdicts, told, at }) => {
      assert.deepEqual({ mode, verdicts }, { mode, verdicts: ['refused', 'refused', 'refused', 'ran'] });
      for (const text of told.slice(0, 3)) assert.match(text, /--disallowedTools/);
      assert.ok(existsSync(at.work.file('a.txt')));
    });
});

onEachWire('a search shows nothing of a file that may not be read', async (wire) => {
  const args = ['--disallowedTools', 'Read(package.json)'];
  const calls = [{ name: 'grep', input: { pattern: 'hello|scripts' } }, bash('grep -r scripts .')];
  await attempt(wire, calls, args, ({ verdicts, told }) => {
    assert.deepEqual(verdicts, ['ran', 'refused']);
    assert.equal(told[0], 'a.txt:1: hello\n[Files that a permission rule withholds were left out.]');
    assert.match(told[1] ?? '', /the rule Read\(package\.json\)/);
  });
});

onEachWire('a tool that is denied as a whole is not run in any mode', async (wire) => {
  const args = ['--dangerously-skip-permissions', '--disallowedTools', 'Bash'];
  await attempt(wire, [bash('mkdir made')], args, ({ code, verdicts }) => {
    assert.deepEqual({ code, verdicts }, { code: 7, verdicts: ['refused'] });
  });
});

onEachWire('a tool that is not offered cannot be called', async (wire) => {
  await attempt(wire, [bash('mkdir made'), read('a.txt')], ['--tools', 'read'], ({ told, at }) => {
    assert.deepEqual(told, ['bash is outside of the scope of crab. The tools are: read.', '1\thello']);
    assert.deepEqual(at.asked()[0]?.tools, ['read']);
  });
});

onEachWire('another folder is opened by --add-dir, to read and to write as the mode says', async (wire) => {
  await using other = await tempWorkspace({ 'b.txt': 'other\n' }, { git: false });
  const calls = [read(other.file('b.txt')), write(other.file('c.txt')), read(join(other.path, '../home'))];
  await attempt(wire, calls, ['--permission-mode', 'acceptEdits'], ({ verdicts }) => {
    assert.deepEqual(verdicts, ['refused', 'refused', 'refused']);
  });
  const args = ['--permission-mode', 'acceptEdits', '--add-dir', other.path];
  await attempt(wire, calls, args, ({ verdicts, told }) => {
    assert.deepEqual(verdicts, ['ran', 'ran', 'refused']);
    assert.equal(told[0], '1\tother');
  });
  assert.equal(await other.read('c.txt'), 'mine\n');
});

const WRONG: readonly { readonly args: readonly string[]; readonly says: RegExp }[] = [
  {
    args: ['--permission-mode', 'acceptEdit'],
    says: /acceptEdit is not known\. \[usage\]\nDid you mean acceptEdits\?/,
  },
  { args: ['--permission-mode', 'yolo'], says: /Use one of plan, default, acceptEdits/ },
  { args: ['--allowedTools', 'Bash(npm test'], says: /--allowedTools.*a parenthesis is not closed/ },
  { args: ['--disallowedTools', 'Bash()'], says: /--disallowedTools.*the parentheses are empty/ },
  { args: ['--add-dir', 'missing'], says: /missing is not a folder/ },
  {
    args: ['--permission-mode', 'plan', '--dangerously-skip-permissions'],
    says: /cannot be used together/,
  },
];

onEachWire(
  'a mode, a rule or a folder that cannot be meant is refused before anything is sent',
  async (wire) => {
    await using at = await journey(wire, { script: [] });
    for (const { args, says } of WRONG) {
      const exit = await at.run(['-p', 'go', ...args]);
      assert.deepEqual({ args, code: exit.code, stdout: exit.stdout }, { args, code: 2, stdout: '' });
      assert.match(exit.stderr, says);
    }
    assert.deepEqual(at.asked(), []);
  },
);

onEachWire(
  'a rule about bash or edit holds for every tool that runs commands or edits files',
  async (wire) => {
    const monitor: ScriptedCall = { name: 'monitor', input: { command: 'touch b.txt', timeout: 1 } };
    const path: ScriptedCall = { name: 'monitor', input: { path: 'a.txt', timeout: 1 } };
    const patch = '*** Begin Patch\n*** Add File: c.txt\n+mine\n*** End Patch';
    const calls = [monitor, path, { name: 'apply_patch', input: { patch } }, read('a.txt')];
    const anything = '--dangerously-skip-permissions';
    const verdicts = async (rules: string) => {
      let found: readonly string[] = [];
      await attempt(wire, calls, [anything, '--disallowedTools', rules], (made) => {
        found = made.verdicts;
        for (const name of ['b.txt', 'c.txt'].filter((_, at) => made.verdicts[at * 2] === 'refused'))
          assert.equal(existsSync(made.at.work.file(name)), false, name);
      });
      return found;
    };
    assert.deepEqual(await verdicts('Bash(touch *),Edit'), ['refused', 'ran', 'refused', 'ran']);
    assert.deepEqual(await verdicts('Bash'), ['refused', 'ran', 'ran', 'ran']);
    assert.deepEqual(await verdicts('Bash(rm *)'), ['ran', 'ran', 'ran', 'ran']);
  },
);

onEachWire('where there is no bash, nothing else runs commands either', async (wire) => {
  const monitor: ScriptedCall = { name: 'monitor', input: { command: 'touch b.txt' } };
  await attempt(wire, [monitor], ['--dangerously-skip-permissions', '--tools', 'monitor'], ({ told, at }) => {
    assert.match(told[0] ?? '', /^There is no bash here/);
    assert.equal(existsSync(at.work.file('b.txt')), false);
  });
});

onEachWire(
  'the rule that a refusal names allows the call, also through a link out of the folder',
  async (wire) => {
    const calls = [read('out/secret.txt'), { name: 'find', input: { pattern: '*.txt', path: 'out' } }];
    await using at = await journey(wire, { script: oneByOne(calls), files: FILES });
    await writeFile(join(at.work.path, '../secret.txt'), 'secret\n');
    await symlink('..', at.work.file('out'));
    const told = async (...args: readonly string[]) => {
      await at.run(['-p', 'go', ...args]);
      const { messages = [] } = at.asked().at(-1) ?? {};
      return messages.flatMap((said) => (said.role === 'result' ? [said.text] : []));
    };
    const refused = await told();
    const rules = refused.map(
      (text) => /--allowedTools "([^"]+)" would allow it/.exec(text)?.[1] ?? assert.fail(text),
    );
    const allowed = await told('--allowedTools', rules.join(','));
    assert.deepEqual(allowed[0], '1\tsecret');
    assert.match(allowed[1] ?? '', /^out\/work\/a\.txt$/m);
  },
);
