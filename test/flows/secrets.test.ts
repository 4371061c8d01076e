// Law 10 on the built program: more than fifty kinds of secret are planted as Crab's own credentials, everything that
// talks to Crab repeats them in every way that it can, and then everything that Crab produced is searched: output, error
// text, tapes, files of long output, what the provider was sent, and the environment and arguments of its children.

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { formsOf } from '../../src/core/redact.ts';
import type { Fault, Reply } from '../../src/dev/scenario.ts';
import type { CrabExit } from '../support/crab.ts';
import { type Journey, journey, WIRES } from '../support/journey.ts';
import { SECRET_SAMPLES } from '../support/secret-samples.ts';
import { filesBelow } from '../support/session-files.ts';

const SECRETS = SECRET_SAMPLES.map(({ secret }) => secret);
const ALL = SECRETS.join('\n');

/** Variables that Crab knows as keys of providers. */
const AS_VARIABLES = Object.fromEntries(SECRETS.map((secret, at) => [`OPENROUTER_API_KEY_${at}`, secret]));

/** Says which secret is found, in which form, and where. */
function assertClean(where: string, text: string, secrets: readonly string[] = SECRETS): void {
  for (const secret of secrets)
    for (const form of formsOf(secret))
      if (text.includes(form)) {
        const at = text.indexOf(form);
        assert.fail(`${form} is in ${where}: ${JSON.stringify(text.slice(Math.max(0, at - 80), at + 40))}`);
      }
}

/** Everything that was produced, but for the places that a person put a secret in. */
async function assertAllClean(
  at: Journey,
  exit: CrabExit,
  secrets: readonly string[],
  except: RegExp,
): Promise<void> {
  assertClean('standard output', exit.stdout, secrets);
  assertClean('standard error', exit.stderr, secrets);
  for (const path of await filesBelow(at.work.home)) {
    if (!except.test(path)) assertClean(path, await readFile(path, 'latin1'), secrets);
  }
  assertClean(
    'what the model was sent',
    JSON.stringify(at.provider.requests.map(({ body }) => body)),
    secrets,
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Where a child would show a secret: in its own environment and arguments, and in those of Crab. */
const LOOK_AT_CHILDREN =
  "tr '\\0' '\\n' < /proc/$$/environ > seen; tr '\\0' '\\n' < /proc/$$/cmdline >> seen; tr '\\0' '\\n' < /proc/$PPID/cmdline >> seen; " +
  'printf "children show %s\\n" "$(grep -cF -f secrets.txt seen)"';

/** What long output was written to lies below the temporary folder until the session is closed. */
const LOOK_AT_SCRATCH = 'printf "files show %s\\n" "$(cat "$TMPDIR"/crab-*/* | grep -cF -f secrets.txt)"';

const ECHOES: readonly Reply[] = [
  {
    thinking: `Let me think about ${ALL}`,
    text: `The keys are ${ALL}, and encoded ${SECRETS.map((secret) => base64(`user:${secret}`)).join(' ')}`,
    chunk: 7,
    calls: [
      { name: 'bash', input: { command: `cat secrets.txt; echo ${SECRETS[0]}; ${LOOK_AT_CHILDREN}` } },
      { name: 'read', input: { path: 'secrets.txt' } },
      { name: 'grep', input: { pattern: '.', path: 'secrets.txt' } },
      { name: 'bash', input: { command: 'cat encoded.txt; cat secrets.txt >&2; exit 3' } },
    ],
  },
  {
    calls: [
      {
        name: 'bash',
        input: { command: 'for i in 1 2 3 4 5 6 7 8 9; do cat secrets.txt padding.txt; done' },
      },
    ],
  },
  { calls: [{ name: 'bash', input: { command: LOOK_AT_SCRATCH } }] },
  { calls: [{ name: 'read', input: { path: `/nowhere/${SECRETS[1]}` } }] },
  { calls: [{ name: `tool_${SECRETS[9]}`, input: { [SECRETS[2] ?? '']: SECRETS[3] } }] },
  { text: `So far: ${ALL}.`, fault: { errorEvent: { type: 'api_error', message: `It broke on ${ALL}` } } },
];

const FILES = {
  'secrets.txt': `${ALL}\n`,
  'encoded.txt': SECRETS.flatMap((secret) => formsOf(secret)).join('\n'),
  'padding.txt': `${'All work and no play. '.repeat(300)}\n`,
  'AGENTS.md': `Never say ${ALL}.`,
};

const FORMATS = ['text', 'json', 'stream-json'] as const;

for (const [at, format] of FORMATS.entries()) {
  const wire = WIRES[at % WIRES.length] ?? 'anthropic';
  test(`what a model, its tools and its files say of ${SECRETS.length} keys is seen nowhere, as ${format} (${wire})`, async () => {
    await using trip = await journey(wire, { script: ECHOES, files: FILES });
    const tmp = join(trip.work.home, 'tmp');
    await mkdir(tmp);
    const partial = format === 'stream-json' ? ['--include-partial-messages'] : [];
    const args = ['-p', '--verbose', '--output-format', format, ...partial];
    const exit = await trip.run([...args, '--dangerously-skip-permissions'], {
      // Not as an argument, where Crab's children would see it.
      stdin: `Look at ${ALL}`,
      env: { ...AS_VARIABLES, TMPDIR: tmp, CRAB_MAX_RETRIES: '0' },
    });
    const results = (await trip.sessions())
      .flatMap(({ spoken }) => spoken)
      .map((spoken) => JSON.stringify(spoken));
    const told = results.join('\n');
    for (const finding of ['children show 0', 'files show 0', '[redacted]'])
      assert.ok(told.includes(finding), finding);
    await assertAllClean(trip, exit, SECRETS, /nothing is left out/);
  });
}

test('the search finds a secret that is not known', async () => {
  const secret = `unknown-${SECRETS[4]}`.slice(0, 30);
  await using at = await journey('anthropic', { script: [{ text: secret }] });
  const exit = await at.run(['-p', 'hi']);
  await assert.rejects(assertAllClean(at, exit, [secret], /nothing is left out/), /is in standard output/);
});

interface Planted {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Files that a person put the secret in. */
  readonly except: RegExp;
}

/** Every place that a credential of one's own can be in. */
const PLACES: Readonly<Record<string, (at: Journey, secret: string) => Promise<Planted>>> = {
  'the environment': async (_, secret) => ({ env: { ANTHROPIC_API_KEY: secret }, except: /nothing/ }),
  'a bearer token': async (_, secret) => ({ env: { ANTHROPIC_AUTH_TOKEN: secret }, except: /nothing/ }),
  'a key file': async (at, secret) => {
    await writeFile(join(at.work.home, 'key'), `${secret}\n`);
    return { args: ['--api-key-file', join(at.work.home, 'key')], except: /home\/key$/ };
  },
  'the sealed store': async (at, secret) => {
    const exit = await at.run(['auth', 'login', 'anthropic'], { stdin: `${secret}\n` });
    assertClean('the login', exit.stdout + exit.stderr, [secret]);
    assert.equal(exit.code, 0, exit.stderr);
    return { except: /nothing/ };
  },
  'auth.json': async (at, secret) => {
    await mkdir(join(at.work.home, '.crab/auth'), { recursive: true });
    const entry = { anthropic: { type: 'api_key', key: secret } };
    await writeFile(join(at.work.home, '.crab/auth/auth.json'), JSON.stringify(entry));
    return { except: /auth\/auth\.json$/ };
  },
  'the keychain': async (at, secret) => {
    const bin = join(at.work.home, 'bin');
    await mkdir(bin);
    const script = `cd '${bin}'; printf '%s\\n' "$*" >> argv\ncase "$1" in store) cat > item ;; lookup) cat item ;; esac`;
    await writeFile(join(bin, 'secret-tool'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'secret-tool'), 0o755);
    const env = { PATH: `${bin}:${process.env['PATH']}` };
    const exit = await at.run(['auth', 'login', 'anthropic', '--store', 'keychain'], { stdin: secret, env });
    assert.equal(exit.code, 0, exit.stderr);
    return { env, except: /nothing/ };
  },
};

const FAULTS: readonly ((secret: string) => Fault)[] = [
  (secret) => ({ status: 401, message: `invalid x-api-key: ${secret}` }),
  (secret) => ({ status: 400, message: `you sent Basic ${base64(`user:${secret}`)}` }),
  (secret) => ({ status: 500, body: `<html>${encodeURIComponent(secret)} ${secret}</html>` }),
  (secret) => ({ status: 403, body: { error: { message: JSON.stringify({ header: secret }) } } }),
  (secret) => ({ status: 429, headers: { 'retry-after': secret, 'x-request-id': secret }, message: secret }),
  (secret) => ({
    status: 302,
    headers: { location: `https://${secret}@x.example.com/${secret}?key=${secret}` },
  }),
  (secret) => ({ errorEvent: { type: `error_${secret}`, message: `no ${secret}` } }),
];

const MODES = [
  ['--verbose'],
  ['--output-format', 'json'],
  ['--output-format', 'stream-json', '--verbose'],
] as const;

const places = Object.entries(PLACES);

test(`each of ${SECRETS.length} kinds of key is Crab’s own, and what a provider answers with it in is told without it`, async (t) => {
  for (const [number, { vendor, secret }] of SECRET_SAMPLES.entries()) {
    const [place, plant] = places[number % places.length] ?? assert.fail();
    const fault = FAULTS[number % FAULTS.length]?.(secret) ?? assert.fail();
    await t.test(`${vendor}, in ${place}`, async () => {
      await using at = await journey('anthropic', { script: [{ text: `I know ${secret}.`, fault }] });
      const { env, args = [], except } = await plant(at, secret);
      const mode = MODES[number % MODES.length] ?? [];
      const exit = await at.run(['-p', 'hi', ...mode, ...args], {
        env: { ANTHROPIC_API_KEY: '', CRAB_MAX_RETRIES: '0', ...env },
      });
      const [request] = at.provider.requests;
      const sent = request?.headers['x-api-key'] ?? request?.headers.authorization?.replace('Bearer ', '');
      assert.equal(sent, secret);
      assert.notEqual(exit.code, 0);
      await assertAllClean(at, exit, [secret], except);
    });
  }
});

test('a key that is no argument of Crab is refused as one, and not repeated', async () => {
  await using at = await journey('anthropic', { script: [] });
  for (const args of [
    ['--api-key', SECRETS[0] ?? ''],
    ['auth', 'login', 'anthropic', SECRETS[0] ?? ''],
    ['auth', SECRETS[0] ?? ''],
  ]) {
    const exit = await at.run(args);
    assert.equal(exit.code, 2);
    assertClean('the complaint', exit.stdout + exit.stderr, SECRETS.slice(0, 1));
  }
});
