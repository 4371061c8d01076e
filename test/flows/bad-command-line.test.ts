// A command line that cannot be meant: refused before anything is started, with the nearest thing that would do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, type Complaint, setting } from './bad-setting.ts';

type Row = readonly [args: string, says: string | RegExp, fix?: string | RegExp];

const USAGE: readonly Row[] = [
  ['--modle x hi', 'Unknown flag --modle.', 'Did you mean --model? Run `crab --help` for the list.'],
  ['--zzzzzzzz hi', 'Unknown flag --zzzzzzzz.', 'Run `crab --help` for the list.'],
  ['-z hi', 'Unknown flag -z.', /Run `crab --help` for the list\./],
  ['-modl=x hi', 'Unknown flag -modl.', /Did you mean --model\?/],
  ['-px hi', 'Unknown flag -px.', /Did you mean -p\?/],
  ['hi --model', '--model needs a value: --model MODEL.'],
  ['--model --verbose hi', '--model needs a value: --model MODEL.'],
  ['--verbose=yes hi', '--verbose takes no value.'],
  ['--model a --model b hi', '--model is given twice: a and b.'],
  ['-m a --model=b hi', '--model is given twice: a and b.'],
  [
    '--effort lwo hi',
    '--effort lwo is not known.',
    'Did you mean low? Use one of off, low, medium, high, max.',
  ],
  ['--permission-mode acceptedits hi', /acceptedits is not known/, /^Did you mean acceptEdits\? Use one of/],
  ['--output-format xml hi', /xml is not known/, 'Use one of text, json, stream-json.'],
  ['--input-format yaml', /yaml is not known/, 'Use one of text, stream-json.'],
  ['--continue --resume 01ABC hi', '--continue and --resume cannot be used together.', 'Choose one of them.'],
  ['--no-session --session-id x hi', /cannot be used together/, 'Choose one of them.'],
  ['--system-prompt a --system-prompt-file b hi', /cannot be used together/, 'Choose one of them.'],
  ['--permission-mode plan --dangerously-skip-permissions hi', /cannot be used together/, /Choose one/],
  ['--prompt a b', '--prompt and a prompt argument cannot be used together.'],
  ['--input-format stream-json hi', /prompts come on standard input, not as arguments/],
  ['--input-format stream-json --prompt hi', /cannot be used together/, 'Choose one of them.'],
  ['--include-partial-messages hi', /needs --output-format stream-json/],
  ['--replay-user-messages --output-format json hi', /needs --output-format stream-json/],
  ['--max-turns 0 hi', '--max-turns 0 is not a whole number of at least 1.'],
  ['--max-turns 1.5 hi', '--max-turns 1.5 is not a whole number of at least 1.'],
  ['--max-turns=-3 hi', '--max-turns -3 is not a whole number of at least 1.'],
  ['--max-turns= hi', '--max-turns "" is not a whole number of at least 1.'],
  ['--max-turns many hi', '--max-turns many is not a whole number of at least 1.'],
  ['--max-budget-usd -1 hi', '--max-budget-usd -1 is not a number of at least 0.'],
  ['--max-budget-usd NaN hi', '--max-budget-usd NaN is not a number of at least 0.'],
  ['--timeout -1 hi', '--timeout -1 is not a number from 0 to 2147483.'],
  ['--timeout 1e99 hi', '--timeout 1e99 is not a number from 0 to 2147483.'],
  ['--timeout Infinity hi', '--timeout Infinity is not a number from 0 to 2147483.'],
  ['--add-dir missing hi', /--add-dir .*\/missing is not a folder\./],
  ['--system-prompt-file missing hi', /^--system-prompt-file: Cannot read .*\/missing: it does not exist\.$/],
  [
    '--append-system-prompt-file . hi',
    /^--append-system-prompt-file: Cannot read .*: it is a folder, not a file\.$/,
  ],
  ['--json-schema { hi', /^--json-schema is not valid JSON: /],
  ['--json-schema [] hi', '--json-schema must be a JSON object.'],
  ['--json-schema @missing hi', /^--json-schema: Cannot read .*\/missing: it does not exist\.$/],
  ['--resume', '--resume needs an id here: there is nobody to choose from a list.'],
  ['--resume --print hi', '--resume needs an id here: there is nobody to choose from a list.'],
  ['--tools Raed hi', 'There is no tool Raed.', 'Did you mean Read?'],
  ['chat hi', '`crab chat` takes no prompt.', 'Leave out `chat` for a single answer.'],
  ['dev fake', 'There is no `crab dev fake`.', 'There is `crab dev fake-provider`.'],
  ['dev fake-provider', '--script FILE is missing.', 'Run `crab dev --help`.'],
  ['dev fake-provider --script missing', /^--script: Cannot read .*\/missing: it does not exist\.$/],
  ['dev fake-provider --script x --port 65536', '--port 65536 is not a port: 0 to 65535.', /crab dev --help/],
  ['demo loudly', '`crab demo` takes no loudly.'],
];

const OTHERS: readonly (readonly [args: string, complaint: Complaint])[] = [
  ['--session-id abc hi', { code: 'session-id-invalid', says: /abc is not a ULID/ }],
  ['--session= hi', { code: 'usage', says: '--session needs a value: --session PATH.' }],
  ['--model= hi', { code: 'usage', says: '--model needs a value: --model MODEL.' }],
  [
    '--resume zzz hi',
    { code: 'session-unknown', says: 'No session’s id begins with zzz, and none is called so.' },
  ],
  ['--session no.jsonl hi', { code: 'session-unknown', says: /There is no session file .*\/no\.jsonl\./ }],
  ['--continue hi', { code: 'session-unknown', says: /to continue\.$/, fix: /Leave out --continue/ }],
];

const ROWS: readonly (readonly [args: string, complaint: Complaint])[] = [
  ...USAGE.map(([args, says, fix]) => [args, { code: 'usage', says, ...(fix && { fix }) }] as const),
  ...OTHERS,
];

test('a command line that cannot be meant is refused, and nothing is begun', async (t) => {
  await using at = await setting();
  for (const [args, complaint] of ROWS)
    await t.test(`crab ${args}`, async () => assertRefused(await at.run(args.split(' ')), complaint, at));
});

test('what looks like a flag behind -- is a prompt, and so is a lone dash', async () => {
  await using at = await setting();
  for (const args of [['--', '--modle'], ['-']])
    assert.deepEqual(await at.run([...args, '--no-session'].toSorted()), {
      code: 0,
      signal: null,
      stdout: 'Here I am.\n',
      stderr: '',
    });
});
