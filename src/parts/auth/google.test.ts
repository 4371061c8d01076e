import assert from 'node:assert/strict';
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { Credential } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { hasGoogle } from './cloud-evidence.ts';
import { environment, fake, home } from './clouds-for-test.ts';
import { findGoogle } from './google.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const SCHEME = { kind: 'google', scopes: [SCOPE] } as const;
const REQUEST = { method: 'POST', url: new URL('http://127.0.0.1:1/v1'), headers: {} };
const PAIR = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const TOKEN = (turn: number) => ({
  body: JSON.stringify({ access_token: `token-${turn}`, expires_in: 3600, token_type: 'Bearer' }),
});

function serviceAccount(url: string, fields: object = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'key-project',
    private_key_id: 'key-1',
    private_key: PAIR.privateKey,
    client_email: 'crab@key-project.iam.gserviceaccount.com',
    token_uri: `${url}/token`,
    ...fields,
  });
}

async function found(env: Readonly<Record<string, string>>): Promise<Credential> {
  return (await findGoogle(SCHEME, { env })) ?? assert.fail('nothing was found');
}

function parts(jwt: string): readonly unknown[] {
  return jwt
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

test('a service account signs for its token, keeps it, and signs anew when it is refused', async () => {
  await using tokens = await fake((_, turn) => TOKEN(turn));
  await using dir = await home();
  const env = { GOOGLE_APPLICATION_CREDENTIALS: await dir.file('key.json', serviceAccount(tokens.url)) };
  assert.equal(hasGoogle(env), true);
  const credential = await found(env);
  assert.equal(credential.source, 'GOOGLE_APPLICATION_CREDENTIALS');
  assert.deepEqual(credential.place, { project: 'key-project' });
  assert.deepEqual(credential.headers(REQUEST), { authorization: 'Bearer token-1' });
  assert.equal(tokens.asked.length, 1);
  const form = new URLSearchParams(tokens.asked[0]?.body);
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const jwt = form.get('assertion') ?? '';
  const [head, claims] = parts(jwt) as [object, { iat: number; exp: number }];
  assert.deepEqual(head, { alg: 'RS256', typ: 'JWT', kid: 'key-1' });
  const { iat, exp, ...rest } = claims;
  assert.deepEqual(rest, {
    iss: 'crab@key-project.iam.gserviceaccount.com',
    scope: SCOPE,
    aud: `${tokens.url}/token`,
  });
  assert.equal(exp - iat, 3600);
  const at = jwt.lastIndexOf('.');
  const verify = createVerify('RSA-SHA256').update(jwt.slice(0, at));
  assert.equal(verify.verify(PAIR.publicKey, jwt.slice(at + 1), 'base64url'), true);
  assert.equal(await credential.refused(403), false);
  assert.equal(await credential.refused(401), true);
  assert.deepEqual(credential.headers(REQUEST), { authorization: 'Bearer token-2' });
  assert.deepEqual(credential.secrets(), ['token-2']);
});

test('a token that is about to run out is fetched anew, once for all who ask', async () => {
  await using tokens = await fake((_, turn) => TOKEN(turn));
  await using dir = await home();
  const env = { GOOGLE_APPLICATION_CREDENTIALS: await dir.file('key.json', serviceAccount(tokens.url)) };
  let now = Date.now();
  const credential = (await findGoogle(SCHEME, { env, now: () => now })) ?? assert.fail();
  now += 3_600_000 - 4 * 60_000;
  const both = await Promise.all([credential.headers(REQUEST), credential.headers(REQUEST)]);
  assert.deepEqual(both, [{ authorization: 'Bearer token-2' }, { authorization: 'Bearer token-2' }]);
});

test('an account that is refused is named with the reason, and a server that fails may be asked again', async () => {
  await using tokens = await fake((_, turn) =>
    turn === 1
      ? { status: 400, body: '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}' }
      : { status: 503, body: 'oops' },
  );
  await using dir = await home();
  const env = { GOOGLE_APPLICATION_CREDENTIALS: await dir.file('key.json', serviceAccount(tokens.url)) };
  const failure = async () => {
    const thrown = await found(env).then(
      () => assert.fail('it was accepted'),
      (error: unknown) => error,
    );
    assert.ok(thrown instanceof CrabError);
    return { code: thrown.code, message: thrown.message, retryable: thrown.retryable };
  };
  const who = 'crab@key-project.iam.gserviceaccount.com';
  assert.deepEqual(await failure(), {
    code: 'auth-refused',
    message: `No token came for ${who} (status 400): invalid_grant, Invalid JWT Signature.`,
    retryable: false,
  });
  assert.deepEqual(await failure(), {
    code: 'provider-failed',
    message: `No token came for ${who} (status 503).`,
    retryable: true,
  });
});

test('a key file that is missing, broken or without a usable key is named, and never quoted', async () => {
  await using dir = await home();
  const broken = await dir.file('broken.json', '{"private_key": "very-secret"');
  const bent = await dir.file(
    'bent.json',
    serviceAccount('http://127.0.0.1:1', { private_key: 'very-secret' }),
  );
  for (const [path, says] of [
    ['/nonexistent/key.json', /^\/nonexistent\/key\.json cannot be read: /],
    [broken, /broken\.json is not a key file/],
    [bent, /^The private key of crab@key-project.* cannot be used to sign\.$/],
  ] as const)
    await assert.rejects(found({ GOOGLE_APPLICATION_CREDENTIALS: path }), (thrown) => {
      assert.ok(thrown instanceof CrabError);
      assert.equal(thrown.code, 'auth-refused');
      assert.match(thrown.message, says);
      assert.doesNotMatch(thrown.message + thrown.hint + String(thrown.cause), /very-secret/);
      return true;
    });
});

const EXTERNAL = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/p',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
};

test('a workload’s identity is exchanged for a token, be it in a file, at an address or from a program', async () => {
  await using sts = await fake(({ path }, turn) =>
    path === '/subject' ? { body: JSON.stringify({ id: 'from-address' }) } : TOKEN(turn),
  );
  await using dir = await home();
  const subject = await dir.file('subject', 'from-file');
  const said = {
    version: 1,
    success: true,
    token_type: 'urn:ietf:params:oauth:token-type:jwt',
    id_token: 'from-program',
    expiration_time: Math.floor(Date.now() / 1000) + 3600,
  };
  const output = await dir.file('said.json', JSON.stringify(said));
  const format = { type: 'json', subject_token_field_name: 'id' };
  for (const [source, token] of [
    [{ file: subject }, 'from-file'],
    [{ url: `${sts.url}/subject`, format }, 'from-address'],
    [{ executable: { command: `/bin/cat ${output}`, timeout_millis: 10_000 } }, 'from-program'],
  ] as const) {
    const config = {
      ...EXTERNAL,
      token_url: `${sts.url}/exchange`,
      credential_source: source,
      quota_project_id: 'payer',
    };
    const env = {
      GOOGLE_APPLICATION_CREDENTIALS: await dir.file('external.json', JSON.stringify(config)),
      GOOGLE_CLOUD_PROJECT: 'p',
      GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES: '1',
      HOME: dir.path,
    };
    using _ = environment(env);
    const credential = await found(env);
    assert.match((await credential.headers(REQUEST))['authorization'] ?? '', /^Bearer token-\d+$/);
    assert.equal((await credential.headers(REQUEST))['x-goog-user-project'], 'payer');
    assert.deepEqual(credential.place, { project: 'payer' });
    const form = new URLSearchParams(sts.asked.findLast(({ path }) => path === '/exchange')?.body);
    assert.deepEqual([form.get('subject_token'), form.get('audience')], [token, EXTERNAL.audience]);
  }
});

test('without a file the metadata server is asked', async () => {
  await using metadata = await fake(({ path }, turn) =>
    path.includes('/token') ? TOKEN(turn) : { body: 'p' },
  );
  await using dir = await home();
  const env = { GCE_METADATA_HOST: new URL(metadata.url).host, HOME: dir.path };
  using _ = environment(env);
  assert.equal(hasGoogle(env), false);
  const credential = await found(env);
  assert.equal(credential.source, 'the metadata server');
  assert.match((await credential.headers(REQUEST))['authorization'] ?? '', /^Bearer token-\d+$/);
});
