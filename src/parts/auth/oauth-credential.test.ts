import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  memoryKeychain,
  sendByFetch,
  type TokenServer,
  temporaryFolder,
  tokenServer,
} from '../../../test/support/credentials.ts';
import { virtualClock } from '../../../test/support/virtual-clock.ts';
import { lockCredentials } from '../../cli/file-lock.ts';
import type { AuthScheme } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { createOAuthCredential, type Tokens } from './oauth-credential.ts';
import { createStore } from './store.ts';
import type { Send } from './token-endpoint.ts';

type KeyScheme = Extract<AuthScheme, { kind: 'key' }>;

const MINUTE = 60_000;
const REQUEST = { method: 'POST', url: new URL('https://api.example.com/'), headers: {} };

interface Setting extends AsyncDisposable {
  readonly server: TokenServer;
  readonly clock: ReturnType<typeof virtualClock>;
  readonly learnt: string[];
  /** A credential as another process would have it. */
  credential(options?: {
    tokens?: Tokens;
    send?: Send;
    scheme?: Partial<KeyScheme>;
  }): Promise<ReturnType<typeof createOAuthCredential>>;
  stored(): Promise<unknown>;
  write(tokens: Tokens): Promise<unknown>;
  remove(): Promise<unknown>;
}

async function setting(): Promise<Setting> {
  const folder = await temporaryFolder();
  const server = await tokenServer();
  const clock = virtualClock();
  // The lock waits in real time: what it waits for is on the disk.
  const keychain = memoryKeychain();
  const open = () => createStore({ folder: join(folder.path, 'auth'), keychain, lock: lockCredentials });
  const learnt: string[] = [];
  const write = (tokens: Tokens) => {
    const store = open();
    return store.locked(() => store.write('p', tokens, 'file'));
  };
  await write(tokensAt(clock.now() + 60 * MINUTE));
  return {
    server,
    clock,
    learnt,
    write,
    stored: () => open().read('p'),
    remove: () => {
      const store = open();
      return store.locked(() => store.remove('all'));
    },
    async credential({ tokens, send = sendByFetch, scheme = {} } = {}) {
      const store = open();
      return createOAuthCredential({
        provider: 'p',
        scheme: { kind: 'key', variables: [], style: 'bearer', oauth: server.client, ...scheme },
        source: 'the credentials file',
        tokens: tokens ?? ((await store.read('p')) as Tokens),
        store,
        clock,
        send,
        learn: (secrets) => void learnt.push(...secrets),
      });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const tokensAt = (expires: number): Tokens => ({
  type: 'oauth',
  access: 'access-0',
  refresh: 'refresh-0',
  expires,
});

test('a token that is good for long is used at once, by the same headers every time', async () => {
  await using at = await setting();
  const credential = await at.credential();
  const headers = credential.headers(REQUEST);
  assert.deepEqual(headers, { authorization: 'Bearer access-0' });
  assert.equal(credential.headers(REQUEST), headers);
  assert.deepEqual(at.server.asked, []);
});

test('five minutes before its end a token is renewed, once for all that wait, and the new one is stored and learnt', async () => {
  await using at = await setting();
  const credential = await at.credential();
  await at.clock.advance(55 * MINUTE);
  const all = await Promise.all(Array.from({ length: 20 }, () => credential.headers(REQUEST)));
  assert.deepEqual(new Set(all), new Set([{ authorization: 'Bearer access-1' }].map(() => all[0])));
  assert.deepEqual(all[0], { authorization: 'Bearer access-1' });
  assert.deepEqual(at.server.asked, [
    { grant_type: 'refresh_token', client_id: 'crab-test', refresh_token: 'refresh-0' },
  ]);
  const expires = at.clock.now() + 60 * MINUTE;
  assert.deepEqual(await at.stored(), { type: 'oauth', access: 'access-1', refresh: 'refresh-1', expires });
  assert.deepEqual(credential.secrets(), ['access-1', 'refresh-1']);
  for (const secret of ['access-0', 'refresh-0', 'access-1', 'refresh-1'])
    assert.ok(at.learnt.includes(secret));
});

test('a new token is on the disk before it is used', async () => {
  await using at = await setting();
  const credential = await at.credential();
  await at.clock.advance(58 * MINUTE);
  await credential.headers(REQUEST);
  const other = await at.credential();
  assert.deepEqual(other.headers(REQUEST), { authorization: 'Bearer access-1' });
});

test('what another process has renewed is taken from the store without a request', async () => {
  await using at = await setting();
  const [one, two] = [await at.credential(), await at.credential()];
  await at.clock.advance(57 * MINUTE);
  await Promise.all([one.headers(REQUEST), two.headers(REQUEST)]);
  assert.equal(at.server.asked.length, 1);
  assert.deepEqual(await two.headers(REQUEST), { authorization: 'Bearer access-1' });
});

test('after a long sleep a token is renewed once, though several requests wake at the same time', async () => {
  await using at = await setting();
  const credentials = await Promise.all(Array.from({ length: 5 }, () => at.credential()));
  await at.clock.advance(8 * 60 * MINUTE);
  await Promise.all(credentials.map((each) => each.headers(REQUEST)));
  assert.equal(at.server.asked.length, 1);
});

test('a token that is refused is renewed once, and not again when the new one is refused as well', async () => {
  await using at = await setting();
  const credential = await at.credential();
  assert.equal(await credential.refused(401), true);
  assert.deepEqual(credential.headers(REQUEST), { authorization: 'Bearer access-1' });
  assert.equal(await credential.refused(401), false);
  assert.equal(at.server.asked.length, 1);
});

test('a refused token that another process has replaced meanwhile costs no request', async () => {
  await using at = await setting();
  const credential = await at.credential();
  await at.write({ ...tokensAt(at.clock.now() + 60 * MINUTE), access: 'access-of-another' });
  assert.equal(await credential.refused(401), true);
  assert.deepEqual(credential.headers(REQUEST), { authorization: 'Bearer access-of-another' });
  assert.deepEqual(at.server.asked, []);
});

test('a renewal that fails while the token is still good does not fail the request, and is not tried with each one', async () => {
  await using at = await setting();
  let tries = 0;
  const send: Send = async () => {
    tries++;
    throw new CrabError('network', 'away');
  };
  const credential = await at.credential({ send });
  await at.clock.advance(56 * MINUTE);
  assert.deepEqual(await credential.headers(REQUEST), { authorization: 'Bearer access-0' });
  assert.deepEqual(await credential.headers(REQUEST), { authorization: 'Bearer access-0' });
  assert.equal(tries, 1);
  await at.clock.advance(5 * MINUTE);
  await assert.rejects(async () => credential.headers(REQUEST), { code: 'network', message: 'away' });
});

test('a login that has ended says so and how to start again, and shows no token', async () => {
  await using at = await setting();
  at.server.answers.push((fields) => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: `unknown token long-${fields['refresh_token']}-x` },
  }));
  const tokens = { ...tokensAt(0), refresh: 'refresh-of-the-longer-kind' };
  await at.write(tokens);
  const credential = await at.credential();
  await assert.rejects(async () => credential.headers(REQUEST), {
    code: 'auth-refused',
    status: 400,
    message: `The login of p has ended: ${new URL(at.server.url).host} answered 400: invalid_grant: unknown token long-[redacted]-x.`,
    hint: 'Log in again with `crab auth login p`.',
  });
});

const BAD_ANSWERS: readonly (readonly [
  what: string,
  answer: { status: number; body: unknown },
  code: string,
  says: RegExp,
])[] = [
  ['an overloaded server', { status: 503, body: 'busy' }, 'provider-failed', /answered 503: busy\.$/],
  [
    'a proxy’s page',
    { status: 403, body: '<html>no</html>' },
    'auth-failed',
    /answered 403: <html>no<\/html>\.$/,
  ],
  [
    'a page with status 200',
    { status: 200, body: '<html>' },
    'provider-protocol',
    /as a token endpoint does/,
  ],
  [
    'no token',
    { status: 200, body: { token_type: 'bearer' } },
    'provider-protocol',
    /as a token endpoint does/,
  ],
  [
    'an error with status 200',
    { status: 200, body: { error: 'bad_refresh' } },
    'auth-refused',
    /ended: .*bad_refresh\.$/,
  ],
];

test('other answers of a token endpoint are told for what they are, and keep the login', async (t) => {
  for (const [what, answer, code, says] of BAD_ANSWERS)
    await t.test(what, async () => {
      await using at = await setting();
      await at.write(tokensAt(0));
      at.server.answers.push(() => answer);
      const credential = await at.credential();
      await assert.rejects(
        async () => credential.headers(REQUEST),
        (error: CrabError) => {
          assert.equal(error.code, code);
          assert.match(error.message, says);
          return true;
        },
      );
      assert.deepEqual(await at.stored(), tokensAt(0));
      await credential.headers(REQUEST);
      assert.deepEqual(credential.headers(REQUEST), { authorization: 'Bearer access-1' });
    });
});

test('a refresh token that is not rotated stays, and unknown fields of an entry stay with it', async () => {
  await using at = await setting();
  await at.write({ ...tokensAt(0), accountId: 'x' } as Tokens);
  at.server.answers.push(() => ({ status: 200, body: { access_token: 'fresh' } }));
  const credential = await at.credential();
  await credential.headers(REQUEST);
  assert.deepEqual(await at.stored(), {
    type: 'oauth',
    access: 'fresh',
    refresh: 'refresh-0',
    accountId: 'x',
  });
});

test('a login that was removed meanwhile is not renewed', async () => {
  await using at = await setting();
  await at.write(tokensAt(0));
  const credential = await at.credential();
  await at.remove();
  await assert.rejects(async () => credential.headers(REQUEST), {
    code: 'auth-refused',
    message: 'There is no login of p any more.',
  });
});

test('a token without a way to renew it is used to its end, and not beyond', async () => {
  await using at = await setting();
  const tokens = { type: 'oauth', access: 'lonely-access', expires: at.clock.now() + 6 * MINUTE } as const;
  await at.write(tokens);
  const credential = await at.credential();
  assert.equal(await credential.refused(401), false);
  await at.clock.advance(5.5 * MINUTE);
  assert.deepEqual(await credential.headers(REQUEST), { authorization: 'Bearer lonely-access' });
  await at.clock.advance(MINUTE);
  await assert.rejects(async () => credential.headers(REQUEST), {
    message: 'The login of p has run out, and it came without a refresh token.',
  });
});

test('headers that go with a token come from the row and from the claims of the token', async () => {
  await using at = await setting();
  const part = Buffer.from(JSON.stringify({ 'https://x/auth': { account: 'acc-1', bad: 'a\nb' } })).toString(
    'base64url',
  );
  const credential = await at.credential({
    tokens: { type: 'oauth', access: `h.${part}.s` },
    scheme: {
      tokenHeaders: { beta: 'on' },
      tokenClaims: {
        account: ['https://x/auth', 'account'],
        other: ['https://x/auth', 'bad'],
        none: ['a', 'b'],
      },
    },
  });
  assert.deepEqual(credential.headers(REQUEST), {
    authorization: `Bearer h.${part}.s`,
    beta: 'on',
    account: 'acc-1',
  });
});
