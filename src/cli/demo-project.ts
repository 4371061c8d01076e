// The example that `crab demo` works on: a small program with a real bug, a test that finds it, and the script of a
// model that mends it. Only the model's side is scripted; what its calls do and find is not.

export const DEMO_FILES: Readonly<Record<string, string>> = {
  'README.md': `# slug

Turns a title into the last part of an address: \`slug('Hello, World!')\` is \`hello-world\`.

    node test.mjs
`,
  'slug.mjs': `// The last part of an address, made from a title.
export function slug(title) {
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-');
}
`,
  'test.mjs': `import { slug } from './slug.mjs';

const cases = [
  ['Hello', 'hello'],
  ['Hello, World!', 'hello-world'],
  ['  Crabs & Tides  ', 'crabs-tides'],
  ['Crème brûlée', 'creme-brulee'],
];

let failed = 0;
for (const [title, expected] of cases) {
  const actual = slug(title);
  const ok = actual === expected;
  if (!ok) failed++;
  console.log(\`\${ok ? 'ok    ' : 'FAILED'} \${JSON.stringify(title)} -> \${actual}\${ok ? '' : \` (expected \${expected})\`}\`);
}
console.log(failed === 0 ? 'All tests pass.' : \`\${failed} of \${cases.length} tests fail.\`);
process.exitCode = failed === 0 ? 0 : 1;
`,
};

export const DEMO_PROMPT = 'The test of this project fails. Find out why and fix it.';

export const DEMO_TEST_COMMAND = 'node test.mjs';

/** A scenario of the fake provider (docs/guide/fake-provider.md). */
export const DEMO_SCENARIO = JSON.stringify({
  replies: [
    {
      text: 'I look at the project and run its test.',
      chunk: 8,
      calls: [
        { name: 'ls', input: { path: '.' } },
        { name: 'read', input: { path: 'slug.mjs' } },
        { name: 'read', input: { path: 'test.mjs' } },
        { name: 'bash', input: { command: DEMO_TEST_COMMAND } },
      ],
    },
    {
      text: 'Every character that is no letter or digit becomes a dash of its own, accents included, and the ends are not trimmed. I take the accents off first, let one dash stand for a whole run, and trim.',
      chunk: 8,
      calls: [
        {
          name: 'edit',
          input: {
            path: 'slug.mjs',
            edits: [
              {
                old_string: "    .normalize('NFKD')\n",
                new_string: "    .normalize('NFKD')\n    .replace(/\\p{M}/gu, '')\n",
              },
              {
                old_string: ".replace(/[^a-z0-9]/g, '-');",
                new_string: ".replace(/[^a-z0-9]+/g, '-')\n    .replace(/^-|-$/g, '');",
              },
            ],
          },
        },
        { name: 'bash', input: { command: DEMO_TEST_COMMAND } },
      ],
    },
    {
      text: 'Fixed in slug.mjs:\n\n- accents are taken off before anything else, so `è` stays an `e`;\n- one dash stands for a whole run of other characters;\n- dashes at the ends are trimmed.\n\nI ran `node test.mjs` before (it failed) and after: all four cases pass.',
      chunk: 8,
    },
  ],
});
