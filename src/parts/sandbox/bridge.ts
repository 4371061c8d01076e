// Runs inside the sandbox, before the program: listens on the loopback address of its network and hands every connection
// through the inherited pipe to the proxy outside. It starts the program only when it listens, so that nothing is lost.

import { spawn } from 'node:child_process';
import { connect as openSession } from 'node:http2';
import { createServer, Socket } from 'node:net';
import { constants } from 'node:os';

/** The pipe to the proxy; descriptor 3 was the filter's. */
const PIPE = 4;

function proxyVariables(port: number): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${port}`;
  const own = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    ALL_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    all_proxy: url,
    NO_PROXY: own,
    no_proxy: own,
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Runs `argv` to its end and returns its exit status, as a shell tells it. */
export async function runBridge(argv: readonly string[]): Promise<number> {
  const pipe = new Socket({ fd: PIPE });
  const session = openSession('http://proxy', { createConnection: () => pipe });
  session.on('error', () => {});
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const tunnel = session.request({ ':method': 'POST', ':path': '/' });
    tunnel.on('error', () => client.destroy());
    client.on('error', () => tunnel.close());
    client.pipe(tunnel);
    tunnel.pipe(client);
  });
  // Another command of the conversation may have a bridge of its own in the same network.
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    return await run(argv, { ...process.env, ...proxyVariables(port) });
  } finally {
    server.close();
    session.destroy();
  }
}

function run([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env });
    // A signal is for the program; the bridge ends when it does.
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
    child.once('error', (error) => {
      process.stderr.write(`${program}: ${error.message}\n`);
      resolve(127);
    });
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 9)),
    );
  });
}
