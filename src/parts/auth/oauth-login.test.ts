import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { realClock, sendByFetch, type TokenServer, tokenServer } from '../../../test/support/credentials.ts';
import { virtualClock } from '../../../test/support/virtual-clock.ts';
import type { OAuthClient } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { deviceLogin } from './device-login.ts';
import { type LoginOptions, oauthLogin } from './oauth-login.ts';

interface Login {
  /** The address that the person is shown. */
  readonly url: Promise<URL>;
  readonly shown: string[];
  readonly result: ReturnType<typeof oauthLogin>;
  paste(line: string): void;
}

function logIn(
  server: TokenServer,
  client: Partial<OAuthClient> = {},
  options: Partial<LoginOptions> = {},
): Login {
  const shown: string[] = [];
  const lines: string[] = [];
  let wake = () => {};
  let show: (url: URL) => void = () => {};
  const url = new Promise<URL>((resolve) => {
    show = resolve;
  });
  const result = oauthLogin({
    provider: 'p',
    client: { ...server.client, ...client },
    clock: realClock,
    send: sendByFetch,
    signal: new AbortController().signal,
    show: async (text) => {
      shown.push(text);
      const [address] = /http\S+/.exec(text) ?? [];
      if (address !== undefined) show(new URL(address));
    },
    ...options,
    ...(options.readLine !== undefined && {
      readLine: async () => {
        while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        return lines.shift();
      },
    }),
  });
  result.catch(() => {});
  return {
    url,
    shown,
    result,
    paste(line) {
      lines.push(line);
      wake();
    },
  };
}

const PASTES: Partial<LoginOptions> = { readLine: async () => undefined };

/** The browser comes back: where it was sent, with these parameters. */
function back(url: URL, parameters: Readonly<Record<string, string>>): Promise<Response> {
  const target = new URL(url.searchParams.get('redirect_uri') ?? url.searchParams.get('callback_url') ?? '');
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
  return fetch(target);
}

const stateOf = (url: URL) => url.searchParams.get('state') ?? '';

test('a login asks with a challenge and a state, comes back to this machine, and proves the challenge', async () => {
  await using server = await tokenServer();
  const login = logIn(server, { parameters: { audience: 'x' } });
  const url = await login.url;
  const {
    redirect_uri = '',
    state = '',
    code_challenge = '',
    ...rest
  } = Object.fromEntries(url.searchParams);
  assert.deepEqual(rest, {
    response_type: 'code',
    client_id: 'crab-test',
    scope: 'a b',
    code_challenge_method: 'S256',
    audience: 'x',
  });
  assert.match(redirect_uri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  assert.match(state, /^[\w-]{43}$/);
  const answer = await back(url, { code: 'the-code', state });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /You are logged in.*window\.close/);
  const { expires, ...tokens } = (await login.result) as { expires?: number };
  assert.deepEqual(tokens, { type: 'oauth', access: 'access-1', refresh: 'refresh-1' });
  assert.ok((expires ?? 0) > Date.now());
  const { code_verifier = '', ...asked } = server.asked[0] ?? {};
  assert.deepEqual(asked, {
    grant_type: 'authorization_code',
    client_id: 'crab-test',
    code: 'the-code',
    redirect_uri,
  });
  assert.equal(createHash('sha256').update(code_verifier).digest('base64url'), code_challenge);
});

test('what does not belong to the login is refused, and the login goes on', async () => {
  await using server = await tokenServer();
  const login = logIn(server);
  const url = await login.url;
  const redirect = url.searchParams.get('redirect_uri') ?? '';
  assert.equal((await back(url, { code: 'x', state: 'of-another' })).status, 400);
  assert.equal((await back(url, { code: 'x' })).status, 400);
  assert.equal((await back(url, { error: 'access_denied', state: '' })).status, 400);
  assert.equal((await fetch(`${redirect}/more?code=x&state=${stateOf(url)}`)).status, 404);
  assert.equal((await fetch(redirect, { method: 'POST', body: `code=x&state=${stateOf(url)}` })).status, 405);
  assert.equal(await statusWithHost(`${redirect}?code=x&state=${stateOf(url)}`, 'evil.example.com'), 400);
  assert.deepEqual(server.asked, []);
  assert.equal((await back(url, { code: 'mine', state: stateOf(url) })).status, 200);
  await login.result;
  assert.equal(server.asked[0]?.['code'], 'mine');
});

function statusWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    send(url, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('nobody listens any more when a login is over', async () => {
  await using server = await tokenServer();
  const login = logIn(server);
  const url = await login.url;
  await back(url, { code: 'c', state: stateOf(url) });
  await login.result;
  await assert.rejects(fetch(url.searchParams.get('redirect_uri') ?? ''));
});

test('a login that the person refuses says so in the provider’s words', async () => {
  await using server = await tokenServer();
  const login = logIn(server);
  const url = await login.url;
  const answer = await back(url, {
    error: 'access_denied',
    error_description: 'Not\ntoday',
    state: stateOf(url),
  });
  assert.equal(answer.status, 400);
  await assert.rejects(login.result, {
    code: 'auth-refused',
    message: 'p did not allow the login (access_denied: Not today).',
    hint: 'Start again with `crab auth login p`.',
  });
});

test('a registered port and path are used as they are registered, by the name of this machine', async () => {
  await using server = await tokenServer();
  const port = await freePort();
  const login = logIn(server, { port, path: '/auth/callback' });
  const url = await login.url;
  assert.equal(url.searchParams.get('redirect_uri'), `http://localhost:${port}/auth/callback`);
  await back(url, { code: 'c', state: stateOf(url) });
  await login.result;
});

test('a registered port that is taken is told; where an address can be pasted the login goes on', async () => {
  await using server = await tokenServer();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await assert.rejects(logIn(server, { port }).result, {
    code: 'auth-failed',
    message: `Port ${port} of this machine, which the login comes back to, is used by another program.`,
  });
  const login = logIn(server, { port }, PASTES);
  const url = await login.url;
  login.paste(`http://localhost:${port}/callback?code=c&state=${stateOf(url)}`);
  assert.equal((await login.result).type, 'oauth');
  taken.close();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('on another machine the whole address is pasted, and a wrong one is asked for again', async () => {
  await using server = await tokenServer();
  const login = logIn(server, {}, PASTES);
  const url = await login.url;
  login.paste('');
  login.paste('only-the-code');
  login.paste('the-code#of-another-state');
  login.paste(`http://127.0.0.1:1/callback?code=c&state=wrong`);
  login.paste(`  http://127.0.0.1:1/callback?code=pasted&state=${stateOf(url)}  `);
  await login.result;
  assert.equal(server.asked[0]?.['code'], 'pasted');
  assert.equal(login.shown.filter((text) => text.startsWith('That does not belong')).length, 3);
});

test('a provider that shows a code is sent back to its own page, and the code is pasted with its state', async () => {
  await using server = await tokenServer();
  const login = logIn(server, { pasteUrl: 'https://p.example.com/code' }, PASTES);
  const url = await login.url;
  assert.equal(url.searchParams.get('redirect_uri'), 'https://p.example.com/code');
  login.paste(`shown-code#${stateOf(url)}`);
  await login.result;
  const { code, redirect_uri } = server.asked[0] ?? {};
  assert.deepEqual(
    { code, redirect_uri },
    { code: 'shown-code', redirect_uri: 'https://p.example.com/code' },
  );
});

test('where a code is worth a key, the state is in the path, and the key is what is stored', async () => {
  await using server = await tokenServer();
  server.answers.push(() => ({ status: 200, body: { key: 'sk-or-v1-abc' } }));
  const login = logIn(server, { exchange: 'key', scopes: [], clientId: '' });
  const url = await login.url;
  const callback = new URL(url.searchParams.get('callback_url') ?? '');
  assert.match(callback.pathname, /^\/callback\/[\w-]{43}$/);
  assert.deepEqual([...url.searchParams.keys()].sort(), [
    'callback_url',
    'code_challenge',
    'code_challenge_method',
  ]);
  assert.equal((await fetch(new URL('/callback?code=c', callback))).status, 404);
  assert.equal((await back(url, { code: 'c' })).status, 200);
  assert.deepEqual(await login.result, { type: 'api_key', key: 'sk-or-v1-abc' });
  const { code, code_challenge_method } = server.asked[0] ?? {};
  assert.deepEqual({ code, code_challenge_method }, { code: 'c', code_challenge_method: 'S256' });
});

test('a code that the endpoint refuses is explained without the code', async () => {
  await using server = await tokenServer();
  server.answers.push(({ code }) => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: `no ${code}` },
  }));
  const login = logIn(server);
  const url = await login.url;
  await back(url, { code: 'a-code-of-some-length', state: stateOf(url) });
  await assert.rejects(login.result, {
    code: 'auth-refused',
    message: `${new URL(server.url).host} answered 400: invalid_grant: no [redacted].`,
  });
});

test('a login that nobody completes ends after five minutes, and one that is cancelled ends at once', async () => {
  await using server = await tokenServer();
  const clock = virtualClock();
  const login = logIn(server, {}, { clock });
  await login.url;
  await clock.untilSleeping();
  await clock.advance(5 * 60_000);
  await assert.rejects(login.result, {
    code: 'auth-failed',
    message: 'Nobody came back from the browser within 5 minutes.',
  });
  const stop = new AbortController();
  const other = logIn(server, {}, { signal: stop.signal });
  await other.url;
  stop.abort(new CrabError('interrupted', 'Interrupted.'));
  await assert.rejects(other.result, { code: 'interrupted' });
});

test('the browser is given the address that the person is shown', async () => {
  await using server = await tokenServer();
  const opened: string[] = [];
  const stop = new AbortController();
  const login = logIn(server, {}, { openBrowser: (url) => void opened.push(url), signal: stop.signal });
  const url = await login.url;
  stop.abort(new Error('enough'));
  await assert.rejects(login.result);
  assert.deepEqual(opened, [url.href]);
});

const DEVICE = {
  device_code: 'the-device-code-of-this-login',
  user_code: 'ABCD-EFGH',
  verification_uri: 'https://p.example.com/device',
  expires_in: 900,
  interval: 5,
};

async function onDevice(server: TokenServer, replies: readonly string[]) {
  server.answers.push(
    () => ({ status: 200, body: DEVICE }),
    ...replies.map((error) => () => ({ status: 400, body: { error } })),
  );
  const clock = virtualClock();
  const shown: string[] = [];
  const result = deviceLogin({
    provider: 'p',
    client: server.client,
    deviceUrl: `${server.url}/device`,
    clock,
    send: sendByFetch,
    signal: new AbortController().signal,
    show: async (text) => void shown.push(text),
  });
  result.catch(() => {});
  /** Lets so much time pass, one wait after the other. */
  const wait = async (ms: number) => {
    await clock.untilSleeping();
    await clock.advance(ms);
  };
  return { result, shown, wait };
}

test('a device login shows a code, asks no more often than it may, and ends with tokens', async () => {
  await using server = await tokenServer();
  const { result, shown, wait } = await onDevice(server, ['authorization_pending', 'slow_down']);
  await wait(5000);
  await wait(5000);
  await wait(10_000);
  assert.equal((await result).type, 'oauth');
  assert.match(shown.join(''), /https:\/\/p\.example\.com\/device[\s\S]*ABCD-EFGH/);
  assert.deepEqual(server.asked[0], { client_id: 'crab-test', scope: 'a b' });
  assert.deepEqual(server.asked[3], {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: 'the-device-code-of-this-login',
    client_id: 'crab-test',
  });
  assert.equal(server.asked.length, 4);
});

test('a device login that is refused, or whose code has run out, says which', async () => {
  await using server = await tokenServer();
  const refused = await onDevice(server, ['access_denied']);
  await refused.wait(5000);
  await assert.rejects(refused.result, { code: 'auth-refused', message: 'p did not allow the login.' });
  const late = await onDevice(server, ['expired_token']);
  await late.wait(5000);
  await assert.rejects(late.result, {
    code: 'auth-failed',
    message: 'The code has run out before it was entered.',
  });
});
