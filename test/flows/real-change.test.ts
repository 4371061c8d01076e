// The main job from a prompt to a changed repository: the model looks around, edits, writes and runs a command, and
// what it says at the end is all that standard output holds.

import assert from 'node:assert/strict';
import { journey, onEachWire, onlySession } from '../support/journey.ts';
import { assistant, call, result, user } from '../support/spoken.ts';

const ADD = `export function add(a, b) {
  return a - b;
}
`;

const TEST = `import { add } from './src/add.mjs';

if (add(2, 3) !== 5) throw new Error('2 + 3 is ' + add(2, 3));
console.log('ok');
`;

const FILES = { 'src/add.mjs': ADD, 'test.mjs': TEST, 'README.md': '# sums\n' };

const PROMPT = 'add() is wrong: mend it and write down what you did';

const CALLS = {
  read: call('call_1_1', 'read', { path: 'src/add.mjs' }),
  grep: call('call_1_2', 'grep', { pattern: 'add\\(', glob: '*.mjs' }),
  edit: call('call_2_1', 'edit', {
    path: 'src/add.mjs',
    old_string: 'return a - b;',
    new_string: 'return a + b;',
  }),
  write: call('call_2_2', 'write', { path: 'NOTES.md', content: 'add() added the negative.\n' }),
  test: call('call_3_1', 'bash', { command: 'node test.mjs' }),
};

const SCRIPT = [
  { text: 'I look first.', calls: [CALLS.read, CALLS.grep] },
  { text: 'A minus where a plus belongs.', calls: [CALLS.edit, CALLS.write] },
  { calls: [CALLS.test] },
  { text: 'Mended; the test says {{result}}.' },
];

const DIFF = `diff --git a/NOTES.md b/NOTES.md
new file mode 100644
index 0000000..4dd3579
--- /dev/null
+++ b/NOTES.md
@@ -0,0 +1 @@
+add() added the negative.
diff --git a/src/add.mjs b/src/add.mjs
index 29b3851..7d65831 100644
--- a/src/add.mjs
+++ b/src/add.mjs
@@ -1,3 +1,3 @@
 export function add(a, b) {
-  return a - b;
+  return a + b;
 }`;

onEachWire('a prompt changes the repository, and standard output holds the answer alone', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT, files: FILES, git: true });
  const rules = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash(node test.mjs)'];
  const exit = await at.run(['-p', PROMPT, ...rules]);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Mended; the test says ok.\n', stderr: '' });

  await at.work.git('add', '--all');
  assert.equal(await at.work.git('diff', '--cached'), DIFF);
  assert.equal(await at.work.git('log', '--format=%s'), 'first', 'and nothing was committed');

  const said = [
    user(PROMPT),
    assistant('I look first.', CALLS.read, CALLS.grep),
    result('call_1_1', '1\texport function add(a, b) {\n2\t  return a - b;\n3\t}'),
    result(
      'call_1_2',
      "src/add.mjs:1: export function add(a, b) {\ntest.mjs:3: if (add(2, 3) !== 5) throw new Error('2 + 3 is ' + add(2, 3));",
    ),
    assistant('A minus where a plus belongs.', CALLS.edit, CALLS.write),
    result(
      'call_2_1',
      'Edited src/add.mjs, line 2 (+1 −1).\n1\texport function add(a, b) {\n2\t  return a + b;\n3\t}',
    ),
    result('call_2_2', 'Created NOTES.md (1 line).'),
    assistant('', CALLS.test),
    result('call_3_1', 'ok'),
    assistant('Mended; the test says ok.'),
  ];
  const { spoken, header } = await onlySession(at);
  assert.deepEqual(spoken, said, 'the tape holds all of it');
  assert.equal(header.cwd, at.work.path);
  assert.deepEqual(
    at.asked().map(({ messages }) => messages),
    [1, 4, 7, 9].map((length) => said.slice(0, length)),
    'and each request held what was said before it',
  );
  assert.deepEqual(at.provider.violations, []);
});

onEachWire('the log of a run goes to standard error when it is asked for', async (wire) => {
  await using at = await journey(wire, { script: SCRIPT, files: FILES });
  const { code, stdout, stderr } = await at.run([
    '--verbose',
    '--dangerously-skip-permissions',
    '-p',
    PROMPT,
  ]);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'Mended; the test says ok.\n' });
  const heads = stderr.match(/^[●✓ ]+ ?(?:read|grep|edit|write|bash)\b/gm) ?? [];
  const calls = heads.filter((head) => head.startsWith('●'));
  assert.deepEqual(calls, ['● read', '● grep', '● edit', '● write', '● bash']);
  assert.equal(heads.length, 10, 'and each has its result');
});
