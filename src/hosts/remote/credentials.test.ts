import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SignJWT } from 'jose';
import {
  createAuthenticate,
  newSecret,
  signingKey,
  signToken,
  type TokenKey,
  tokenFile,
  verifyingKey,
} from './credentials.ts';
import { OWNER } from './grant.ts';

const folder = mkdtempSync(join(tmpdir(), 'crab-credentials-'));
after(() => rmSync(folder, { recursive: true }));

const NOW = Date.UTC(2030, 0, 1);
const SECONDS = NOW / 1000;

function file(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function pem(key: KeyObject): string {
  return key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }).toString();
}

const ed = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const SECRET = file('secret', 's'.repeat(32));
const SIGNING: readonly (readonly [string, string, string])[] = [
  ['HS256', SECRET, SECRET],
  ['EdDSA', file('ed.key', pem(ed.privateKey)), file('ed.pub', pem(ed.publicKey), 0o644)],
  ['RS256', file('rsa.key', pem(rsa.privateKey)), file('rsa.pub', pem(rsa.publicKey), 0o644)],
];

function judge(keys: readonly TokenKey[], now = NOW) {
  return createAuthenticate({ keys, now: () => now });
}

for (const [algorithm, own, others] of SIGNING)
  test(`${algorithm}: what was signed is accepted, and with any letter changed refused`, async () => {
    const token = await signToken(signingKey(own), {
      name: 'ann',
      agents: ['crab'],
      methods: ['send'],
      lifetime: 60,
      now: NOW,
    });
    assert.equal(verifyingKey(own).algorithm, algorithm);
    const grant = { name: 'ann', agents: ['crab'], methods: ['send'], expiresAt: SECONDS + 90 };
    for (const path of [own, others]) assert.deepEqual(await judge([verifyingKey(path)])(token), grant);
    const [head = '', body = '', signature = ''] = token.split('.');
    const flipped = (text: string) => `${text[0] === 'a' ? 'b' : 'a'}${text.slice(1)}`;
    const wrong = [
      `${flipped(head)}.${body}.${signature}`,
      `${head}.${flipped(body)}.${signature}`,
      `${head}.${body}.${flipped(signature)}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      '',
    ];
    for (const one of wrong) assert.equal(await judge([verifyingKey(others)])(one), undefined, one);
  });

test('the key says which algorithm holds, and never the token', async () => {
  const claims = { sub: 'ann', aud: 'crab', exp: SECONDS + 60, scope: 'all' };
  const [, , publicFile] = SIGNING[2] ?? assert.fail();
  const publicText = readFileSync(publicFile);
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(publicText);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part({ alg: 'none' })}.${part(claims)}.`;
  for (const token of [forged, unsigned])
    assert.equal(await judge([verifyingKey(publicFile)])(token), undefined);
});

test('a token needs its name, its audience, its time and what it is for', async () => {
  const good = { sub: 'ann', aud: 'crab', exp: SECONDS + 60, scope: 'all' };
  const cases: readonly (readonly [Record<string, unknown>, boolean])[] = [
    [good, true],
    [{ ...good, scope: 'openid all' }, true],
    [{ ...good, aud: ['other', 'crab'] }, true],
    [{ ...good, exp: SECONDS - 29 }, true],
    [{ ...good, exp: SECONDS - 31 }, false],
    [{ ...good, nbf: SECONDS + 29 }, true],
    [{ ...good, nbf: SECONDS + 31 }, false],
    [{ ...good, exp: undefined }, false],
    [{ ...good, exp: 'never' }, false],
    [{ ...good, aud: 'other' }, false],
    [{ ...good, aud: undefined }, false],
    [{ ...good, sub: undefined }, false],
    [{ ...good, sub: '' }, false],
    [{ ...good, sub: 'a b\n' }, false],
    [{ ...good, scope: undefined }, false],
    [{ ...good, scope: 'read' }, false],
    [{ ...good, agents: 'crab' }, false],
    [{ ...good, agents: [1] }, false],
    [{ ...good, scope: undefined, agents: [] }, true],
    [{ ...good, methods: 'send' }, false],
  ];
  const key = signingKey(SECRET);
  for (const [claims, isGood] of cases) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key.key);
    assert.equal((await judge([key])(token)) !== undefined, isGood, JSON.stringify(claims));
  }
});

test('a list of agents holds, whatever the scope says', async () => {
  const key = signingKey(SECRET);
  const claims = { sub: 'ann', aud: 'crab', exp: SECONDS + 60, scope: 'all', agents: ['crab'] };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key.key);
  assert.deepEqual((await judge([key])(token))?.agents, ['crab']);
});

test('the token of the owner is the one in the file, and no other', async () => {
  const token = 't'.repeat(32);
  const authenticate = createAuthenticate({
    token: tokenFile(file('token', `${token}\n`)),
    keys: [],
    now: () => NOW,
  });
  assert.equal(await authenticate(token), OWNER);
  for (const wrong of ['', 't', `${token}t`, token.toUpperCase(), token.repeat(10_000)])
    assert.equal(await authenticate(wrong), undefined);
});

test('a file that others can read, or that holds too little, is refused', () => {
  const openToAll = file('open', 's'.repeat(32), 0o644);
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const refusals: readonly (readonly [() => unknown, RegExp])[] = [
    [() => signingKey(openToAll), /can be read by other users\.$/],
    [() => tokenFile(openToAll), /can be read by other users\.$/],
    [() => signingKey(file('open.key', pem(ed.privateKey), 0o640)), /can be read by other users\.$/],
    [() => signingKey(file('short', 's'.repeat(31))), /has 31 bytes; at least 32 are needed\.$/],
    [() => tokenFile(file('short', 's'.repeat(31))), /needs at least 32 characters and no blanks\.$/],
    [() => signingKey(file('ec.pub', pem(ec.publicKey))), /holds a key of ec; tokens are signed with/],
    [() => signingKey(file('broken', '-----BEGIN PUBLIC KEY-----\nx')), /holds no key that can be read/],
    [() => signingKey(join(folder, 'nothing')), /cannot be read: ENOENT/],
    [() => newSecret(SECRET), /cannot be made: EEXIST/],
  ];
  for (const [read, message] of refusals)
    assert.throws(read, { name: 'CrabError', code: 'settings-invalid', message });
  const fresh = join(folder, 'fresh');
  newSecret(fresh);
  assert.equal(signingKey(fresh).algorithm, 'HS256');
});
