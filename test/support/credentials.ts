// What tests of credentials share: a folder, the system's clock and processes, and a token endpoint that is kept by
// the test. It rotates refresh tokens as careful providers do: the old one is good for one use.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OAuthClient } from '../../src/core/credential.ts';
import type { CrabError } from '../../src/core/errors.ts';
import type { Clock, Exec, ExecResult } from '../../src/core/host.ts';
import type { Keychain } from '../../src/parts/auth/keychain.ts';
import type { Send } from '../../src/parts/auth/token-endpoint.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'crab-auth-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** For what must start no process. */
export const noExec: Exec = () => Promise.reject(new Error('a process was started'));

/** A keychain in memory; `failing` makes every use of it fail. */
export function memoryKeychain(): Keychain & {
  readonly items: Map<string, string>;
  failing: CrabError | undefined;
} {
  const items = new Map<string, string>();
  const keychain = {
    name: 'the keychain of the test',
    items,
    failing: undefined as CrabError | undefined,
    async read(id: string) {
      if (keychain.failing !== undefined) throw keychain.failing;
      return items.get(id);
    },
    async write(id: string, secret: string) {
      if (keychain.failing !== undefined) throw keychain.failing;
      items.set(id, secret);
    },
    async remove(id: string) {
      items.delete(id);
    },
  };
  return keychain;
}

export function ran(stdout: string, more: Partial<ExecResult> = {}): ExecResult {
  const captured = (text: string) => ({ text, bytes: text.length, lines: 1, truncated: false });
  return {
    exitCode: 0,
    signal: null,
    timedOut: false,
    stdout: captured(stdout),
    stderr: captured(''),
    durationMs: 1,
    ...more,
  };
}

export interface TokenReply {
  readonly status: number;
  /** Sent as JSON unless it is a text. */
  readonly body: unknown;
}

export interface TokenServer extends AsyncDisposable {
  readonly url: string;
  readonly client: OAuthClient;
  /** The fields of every request so far. */
  readonly asked: readonly Readonly<Record<string, string>>[];
  /** Answers the next requests, one each, in place of the usual answer. */
  readonly answers: ((fields: Readonly<Record<string, string>>) => TokenReply | Promise<TokenReply>)[];
  /** The refresh token that would be accepted. */
  current(): string;
}

/** Refresh tokens are `refresh-N`, access tokens `access-N`; the first that is accepted is `refresh-0`. */
export async function tokenServer({ expiresIn = 3600 }: { expiresIn?: number } = {}): Promise<TokenServer> {
  const asked: Record<string, string>[] = [];
  const answers: TokenServer['answers'] = [];
  let generation = 0;
  const usual = (fields: Readonly<Record<string, string>>) => {
    if (fields['grant_type'] === 'refresh_token' && fields['refresh_token'] !== `refresh-${generation}`)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'That token was used.' } };
    generation++;
    return {
      status: 200,
      body: {
        access_token: `access-${generation}`,
        refresh_token: `refresh-${generation}`,
        expires_in: expiresIn,
      },
    };
  };
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const fields: Record<string, string> = text.startsWith('{')
      ? JSON.parse(text)
      : Object.fromEntries(new URLSearchParams(text));
    asked.push(fields);
    const { status, body } = await (answers.shift() ?? usual)(fields);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    client: {
      authorizeUrl: `${url}/authorize`,
      tokenUrl: `${url}/token`,
      clientId: 'crab-test',
      scopes: ['a', 'b'],
    },
    asked,
    answers,
    current: () => `refresh-${generation}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

export const sendByFetch: Send = async ({ url, headers, body }, signal) => {
  const answer = await fetch(url, { method: 'POST', headers, body, signal });
  return { status: answer.status, text: await answer.text() };
};
