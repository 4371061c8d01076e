// What the tests of the ways into clouds share: loopback servers that answer like the clouds' own, an environment for the
// clouds' libraries, which read the process's, and files in a temporary folder.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

export interface Answered {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

export interface Fake extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

/** A server on loopback; `answer` gets each request once its body is there. */
export async function fake(answer: (asked: Asked, turn: number) => Answered): Promise<Fake> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    asked.push(one);
    const { status = 200, type = 'application/json', body: text } = answer(one, asked.length);
    // The mark of Google's metadata server, by which its clients tell it from others.
    response.writeHead(status, { 'content-type': type, 'metadata-flavor': 'Google' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Home extends AsyncDisposable {
  readonly path: string;
  file(name: string, content: string): Promise<string>;
}

export async function home(): Promise<Home> {
  const path = await mkdtemp(join(process.env['TMPDIR'] ?? '/tmp', 'crab-cloud-'));
  return {
    path,
    async file(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

const CLOUDS = /^(?:AWS_|GOOGLE_|GCLOUD_|GCE_|CLOUDSDK_|HOME$)/;

/** The process's environment with these and no other variables of a cloud, until it is disposed of. */
export function environment(env: Readonly<Record<string, string>>): Disposable {
  const before = { ...process.env };
  const forget = () => {
    for (const name of Object.keys(process.env)) if (CLOUDS.test(name)) delete process.env[name];
  };
  forget();
  Object.assign(process.env, env);
  return {
    [Symbol.dispose]() {
      forget();
      Object.assign(process.env, before);
    },
  };
}

/** An answer of STS to AssumeRoleWithWebIdentity (docs.aws.amazon.com/STS/latest/APIReference). */
export function assumedRole(keys: { readonly id: string; readonly expiration: string }): Answered {
  return {
    type: 'text/xml',
    body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials>
<AccessKeyId>${keys.id}</AccessKeyId><SecretAccessKey>secret-${keys.id}</SecretAccessKey>
<SessionToken>token-${keys.id}</SessionToken><Expiration>${keys.expiration}</Expiration>
</Credentials></AssumeRoleWithWebIdentityResult>
<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
  };
}
