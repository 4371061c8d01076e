// Every tool over files once through the program: what the model is told, and what is on disk afterwards. The deferred
// ones may be called without having been found.

import assert from 'node:assert/strict';
import { readFile, symlink } from 'node:fs/promises';
import { png } from '../support/images.ts';
import { journey, onEachWire } from '../support/journey.ts';
import { pdf } from '../support/pdf.ts';

const CELL = {
  cell_type: 'code',
  id: 'c1',
  metadata: {},
  execution_count: 1,
  outputs: [],
  source: ['1 + 1'],
};
const NOTEBOOK = JSON.stringify({ cells: [CELL], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1);

const FILES = {
  'a.ts': 'one\ntwo\nthree\n',
  'b.md': '# b\n',
  'long.log': Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`).join(''),
  'latin.txt': Buffer.from('Gr\xfc\xdfe\n', 'latin1'),
  'crlf.txt': Buffer.from('\ufeffa\r\nb\r\n'),
  'evil.txt': 'see \x1b[2J\u202e this\n',
  'paper.pdf': pdf(['First page', 'Second page']),
  'locked.pdf': pdf(['First page'], { locked: true }),
  'dot.png': png(2, 2),
  'cut.png': png(2, 2).subarray(0, 30),
  'n.ipynb': NOTEBOOK,
  'cafe\u0301.txt': 'coffee\n',
  'tool.bin': new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]),
};

const PATCH = `*** Begin Patch
*** Update File: a.ts
@@
 TWO
-three
+3
*** Add File: new/c.ts
+c
*** Delete File: b.md
*** End Patch`;

interface Step {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly told: RegExp | string;
}

const STEPS: readonly Step[] = [
  {
    name: 'read',
    input: { file_path: 'a.ts', offset: 2, limit: 1 },
    told: /^2\ttwo\n\[Lines 2–2 of 3\. Go on/,
  },
  { name: 'read', input: { path: 'latin.txt' }, told: '1\tGrüße\n[Encoding: windows-1252]' },
  { name: 'read', input: { path: 'evil.txt' }, told: /^1\tsee <U\+001B>\[2J<U\+202E> this\n\[Characters/ },
  {
    name: 'read',
    input: { path: 'paper.pdf', pages: '2' },
    told: '--- Page 2 ---\nSecond page\n[Page 2 of 2.]',
  },
  {
    name: 'read',
    input: { path: 'locked.pdf' },
    told: /locked\.pdf cannot be read: it is encrypted with a password/,
  },
  { name: 'read', input: { path: 'dot.png' }, told: /^\[image\/png, 2 × 2 pixels, \d+ bytes\]/ },
  { name: 'read', input: { path: 'cut.png' }, told: /cut\.png: the image\/png image is damaged/ },
  { name: 'read', input: { path: 'tool.bin' }, told: /it is an ELF program of 8 bytes, not text/ },
  { name: 'read', input: { path: '.' }, told: /it is a folder, not a file/ },
  { name: 'read', input: { path: 'link' }, told: /refused|outside the workspace/ },
  { name: 'read', input: { path: 'caf\u00e9.txt' }, told: /the same letters in another Unicode form/ },
  { name: 'read', input: { path: 'n.ipynb' }, told: /^--- Cell 1 \(code, id c1, run 1\) ---\n1 \+ 1\n/ },
  {
    name: 'notebook_edit',
    input: { notebook_path: 'n.ipynb', cell_id: 'c1', new_source: '2 + 2' },
    told: 'Replaced cell 1 of n.ipynb, which has 1 cells.',
  },
  {
    name: 'MultiEdit',
    input: {
      path: 'a.ts',
      edits: [
        { old_string: 'one', new_string: '1' },
        { old_string: 'two', new_string: 'TWO' },
      ],
    },
    told: /^Edited a\.ts, lines 1, 2 \(2 replacements, \+2 −2\)/,
  },
  {
    name: 'edit',
    input: { path: 'crlf.txt', old_string: 'b', new_string: 'c' },
    told: /^Edited crlf\.txt, line 2/,
  },
  { name: 'write', input: { path: 'long.log', content: 'x' }, told: /exists and you have not read it/ },
  {
    name: 'apply_patch',
    input: { input: PATCH },
    told: 'Applied the patch:\nM a.ts (+1 −1)\nA new/c.ts (+1 −0)\nD b.md (+0 −1)',
  },
  {
    name: 'excerpt',
    input: { path: 'long.log', head: 1, tail: 1 },
    told: '1\tline 1\n[… 198 lines (1676 bytes) left out, of 200 lines …]\n200\tline 200',
  },
  {
    name: 'Grep',
    input: { pattern: 'TWO|^c$', type: 'ts', output_mode: 'content' },
    told: 'a.ts:2: TWO\nnew/c.ts:1: c',
  },
  { name: 'Glob', input: { pattern: '**/*.ts' }, told: /^(?:a\.ts\nnew\/c\.ts|new\/c\.ts\na\.ts)$/ },
  { name: 'LS', input: { path: 'new' }, told: 'c.ts' },
];

onEachWire('each file tool does its work and tells the model of it', async (wire) => {
  const script = [...STEPS.map(({ name, input }) => ({ calls: [{ name, input }] })), { text: 'Done.' }];
  await using at = await journey(wire, { script, files: FILES });
  await symlink('/etc/passwd', at.work.file('link'));
  const exit = await at.run(['-p', 'work with the files', '--permission-mode', 'acceptEdits']);
  assert.deepEqual([exit.code, exit.stdout], [0, 'Done.\n'], exit.stderr);

  const told = at
    .asked()
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'result' ? [message.text] : []));
  assert.equal(told?.length, STEPS.length);
  for (const [index, step] of STEPS.entries()) {
    const text: string = told?.[index] ?? '';
    if (typeof step.told === 'string') assert.equal(text, step.told);
    else assert.match(text, step.told, `${step.name} ${JSON.stringify(step.input)}`);
  }
  assert.equal(await at.work.read('a.ts'), '1\nTWO\n3\n');
  assert.equal(await at.work.read('new/c.ts'), 'c\n');
  assert.equal(await at.work.read('crlf.txt'), '\ufeffa\r\nc\r\n');
  assert.deepEqual(JSON.parse(await at.work.read('n.ipynb')).cells[0].source, ['2 + 2']);
  await assert.rejects(readFile(at.work.file('b.md')), { code: 'ENOENT' });
  assert.doesNotMatch(JSON.stringify(told), /root:/);
});

onEachWire(
  'a search shows so much by default, less as file.search, and says what to do for more',
  async (wire) => {
    const calls = [
      { name: 'grep', input: { pattern: 'x' } },
      { name: 'file.search', input: { pattern: 'x' } },
      { name: 'file.search', input: { pattern: 'x', limit: 60 } },
      { name: 'grep', input: { pattern: 'x', limit: 1001 } },
    ];
    await using at = await journey(wire, { script: [{ calls }], files: { 'x.txt': 'x\n'.repeat(1001) } });
    await at.run(['-p', 'search']);
    const told = at.asked()[1]?.messages.flatMap((each) => (each.role === 'result' ? [each.text] : [])) ?? [];
    assert.deepEqual(
      told.map((text) => text.split('\n').at(-1)),
      [
        '[Only the first 100 matching lines are shown. Narrow it with path or glob, or raise limit.]',
        '[Only the first 50 matching lines are shown. Narrow it with path or glob, or raise limit.]',
        '[Only the first 60 matching lines are shown. Narrow it with path or glob, or raise limit.]',
        '[Only the first 1000 matching lines are shown. Narrow it with path or glob.]',
      ],
    );
  },
);

onEachWire('folders whose names have brackets are found by patterns that spell them', async (wire) => {
  const calls = [
    { name: 'find', input: { pattern: 'app/[id]/*' } },
    { name: 'grep', input: { pattern: 'page', glob: '[id].ts' } },
  ];
  const files = { 'app/[id]/page.tsx': 'page\n', 'app/i/page.tsx': 'page\n', 'src/[id].ts': 'page\n' };
  await using at = await journey(wire, { script: [{ calls }], files });
  await at.run(['-p', 'search']);
  const told = at.asked()[1]?.messages.flatMap((each) => (each.role === 'result' ? [each.text] : [])) ?? [];
  assert.deepEqual(told[0]?.split('\n').sort(), ['app/[id]/page.tsx', 'app/i/page.tsx']);
  assert.equal(told[1], 'src/[id].ts:1: page');
});

onEachWire('what few conversations need is not sent with every request', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'Hello.' }] });
  await at.run(['-p', 'hello']);
  const sent = at.asked()[0]?.tools ?? [];
  for (const name of ['read', 'write', 'edit', 'grep', 'find', 'ls']) assert.ok(sent.includes(name), name);
  for (const name of ['notebook_edit', 'apply_patch', 'excerpt']) assert.ok(!sent.includes(name), name);
});
