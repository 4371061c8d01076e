import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credential } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { findAws } from './aws.ts';
import { hasAws } from './cloud-evidence.ts';
import { assumedRole, environment, fake, home } from './clouds-for-test.ts';

const SCHEME = { kind: 'aws', service: 'bedrock' } as const;
const REQUEST = { method: 'POST', url: new URL('http://127.0.0.1:1/model/a/invoke'), headers: {} };
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'secret-env' };
/** Nothing outside of the test is looked at. */
const ALONE = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
};
const HOUR = 3_600_000;

async function found(env: Readonly<Record<string, string>>, scheme: Parameters<typeof findAws>[0] = SCHEME) {
  const credential = await findAws(scheme, { env });
  return credential ?? assert.fail('nothing was found');
}

/** Whose key signed the request, where, and with which session. */
async function signer(credential: Credential): Promise<readonly (string | undefined)[]> {
  const headers = await credential.headers(REQUEST);
  const [, id, region] = /Credential=([^/]+)\/\d+\/([^/]+)\//.exec(headers['authorization'] ?? '') ?? [];
  return [id, region, headers['x-amz-security-token']];
}

test('a bearer token of Bedrock’s own is sent as it is', async () => {
  const credential = await found({ ...KEYS, AWS_BEARER_TOKEN_BEDROCK: ' abc ', AWS_REGION: 'eu-west-1' });
  assert.equal(credential.source, 'AWS_BEARER_TOKEN_BEDROCK');
  assert.deepEqual(await credential.headers(REQUEST), { authorization: 'Bearer abc' });
  assert.deepEqual([credential.secrets(), credential.place], [['abc'], { region: 'eu-west-1' }]);
  assert.equal(await credential.refused(403), false);
});

test('keys of the environment sign at once, and cannot be renewed', async () => {
  const credential = await found({ ...KEYS, AWS_SESSION_TOKEN: 'session', AWS_DEFAULT_REGION: 'us-west-2' });
  assert.equal(credential.source, 'AWS_ACCESS_KEY_ID');
  assert.equal(credential.headers(REQUEST) instanceof Promise, false);
  assert.deepEqual(await signer(credential), ['AKIDENV', 'us-west-2', 'session']);
  assert.deepEqual(credential.secrets(), ['secret-env', 'session']);
  assert.equal(await credential.refused(403), false);
});

test('the region of the settings wins over the environment, and without any nothing is signed', async () => {
  const region = { ...SCHEME, region: 'ap-southeast-2' };
  assert.deepEqual(await signer(await found({ ...KEYS, AWS_REGION: 'us-east-1' }, region)), [
    'AKIDENV',
    'ap-southeast-2',
    undefined,
  ]);
  const nowhere = await found({ ...KEYS, ...ALONE });
  assert.equal(nowhere.place, undefined);
  assert.throws(
    () => nowhere.headers(REQUEST),
    (thrown) => thrown instanceof CrabError && thrown.code === 'usage' && /region/.test(thrown.message),
  );
});

test('stored keys come behind the environment and before the files of AWS', async () => {
  const stored = async () => ({ accessKeyId: 'AKIDSTORED', secretAccessKey: 'secret-stored' });
  const of = async (env: Readonly<Record<string, string>>) => {
    const credential = await findAws(SCHEME, { env: { AWS_REGION: 'us-east-1', ...env }, stored });
    return credential?.source;
  };
  assert.equal(await of({}), 'the stored AWS keys');
  assert.equal(await of(KEYS), 'AWS_ACCESS_KEY_ID');
});

test('a profile gives its keys and its region', async () => {
  await using dir = await home();
  const env = {
    ...ALONE,
    AWS_PROFILE: 'work',
    AWS_CONFIG_FILE: await dir.file(
      'config',
      '[profile work]\nregion = eu-north-1\n[default]\nregion=us-east-1\n',
    ),
    AWS_SHARED_CREDENTIALS_FILE: await dir.file(
      'credentials',
      '[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret-work\n[home]\naws_access_key_id = AKIDHOME\naws_secret_access_key = secret-home\n',
    ),
  };
  using _ = environment(env);
  const credential = await found(env);
  assert.equal(credential.source, 'AWS profile work');
  assert.deepEqual(await signer(credential), ['AKIDWORK', 'eu-north-1', undefined]);
  const named = await found({ ...env, ...KEYS, AWS_REGION: 'us-east-2' }, { ...SCHEME, profile: 'home' });
  assert.deepEqual(
    [named.source, ...(await signer(named))],
    ['AWS profile home', 'AKIDHOME', 'us-east-2', undefined],
  );
});

test('a web identity is exchanged for keys, which are renewed once they are refused', async () => {
  const expiration = new Date(Date.now() + HOUR).toISOString();
  await using sts = await fake((_, turn) => assumedRole({ id: `ASIA${turn}`, expiration }));
  await using dir = await home();
  const env = {
    ...ALONE,
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_STS: sts.url,
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
    AWS_WEB_IDENTITY_TOKEN_FILE: await dir.file('token', 'the-pod-token'),
  };
  using _ = environment(env);
  assert.equal(hasAws(SCHEME, env), true);
  const credential = await found(env);
  assert.equal(credential.source, 'the AWS role arn:aws:iam::123456789012:role/pod');
  assert.deepEqual(await signer(credential), ['ASIA1', 'us-east-1', 'token-ASIA1']);
  assert.deepEqual(await signer(credential), ['ASIA1', 'us-east-1', 'token-ASIA1']);
  assert.equal(sts.asked.length, 1);
  const form = new URLSearchParams(sts.asked[0]?.body);
  assert.deepEqual(
    [form.get('Action'), form.get('WebIdentityToken'), form.get('RoleArn')],
    ['AssumeRoleWithWebIdentity', 'the-pod-token', 'arn:aws:iam::123456789012:role/pod'],
  );
  assert.equal(await credential.refused(403), true);
  assert.deepEqual(await signer(credential), ['ASIA2', 'us-east-1', 'token-ASIA2']);
  assert.deepEqual(credential.secrets(), ['secret-ASIA2', 'token-ASIA2']);
});

test('keys that are about to run out are fetched anew, once for all who ask', async () => {
  const expiration = new Date(Date.now() + HOUR).toISOString();
  await using sts = await fake((_, turn) => assumedRole({ id: `ASIA${turn}`, expiration }));
  await using dir = await home();
  const env = {
    ...ALONE,
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_STS: sts.url,
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/pod',
    AWS_WEB_IDENTITY_TOKEN_FILE: await dir.file('token', 'the-pod-token'),
  };
  using _ = environment(env);
  let now = Date.now();
  const credential = (await findAws(SCHEME, { env, now: () => now })) ?? assert.fail();
  now += HOUR - 4 * 60_000;
  const signers = await Promise.all([signer(credential), signer(credential)]);
  assert.deepEqual(signers, [
    ['ASIA2', 'us-east-1', 'token-ASIA2'],
    ['ASIA2', 'us-east-1', 'token-ASIA2'],
  ]);
  assert.equal(sts.asked.length, 2);
});

test('instance metadata is asked last, with a token of its own', async () => {
  await using imds = await fake(({ path }) => {
    if (path === '/latest/api/token') return { body: 'imds-token' };
    if (path.endsWith('/security-credentials/')) return { body: 'crab-role' };
    return {
      body: JSON.stringify({
        Code: 'Success',
        AccessKeyId: 'ASIAIMDS',
        SecretAccessKey: 'secret-imds',
        Token: 'token-imds',
        Expiration: new Date(Date.now() + HOUR).toISOString(),
      }),
    };
  });
  const env = {
    ...ALONE,
    AWS_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'false',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.url,
  };
  using _ = environment(env);
  assert.equal(hasAws(SCHEME, env), false);
  const credential = await found(env);
  assert.equal(credential.source, 'AWS instance metadata');
  assert.deepEqual(await signer(credential), ['ASIAIMDS', 'us-east-1', 'token-imds']);
  assert.equal(imds.asked[0]?.method, 'PUT');
  assert.equal(imds.asked.at(-1)?.headers['x-aws-ec2-metadata-token'], 'imds-token');
});

test('where there is nothing nothing is found, and what is there and useless is told', async () => {
  using _ = environment(ALONE);
  assert.equal(hasAws(SCHEME, ALONE), false);
  assert.equal(await findAws(SCHEME, { env: ALONE }), undefined);
  const env = { ...ALONE, AWS_PROFILE: 'missing' };
  using __ = environment(env);
  await assert.rejects(findAws(SCHEME, { env }), (thrown) => {
    assert.ok(thrown instanceof CrabError);
    assert.equal(thrown.code, 'auth-refused');
    assert.match(thrown.message, /^No keys came from AWS profile missing: /);
    return true;
  });
});
