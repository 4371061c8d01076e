// `crab serve`: a daemon with a door for clients elsewhere, and the tokens for them.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CrabError, EXIT } from '../core/errors.ts';
import type { CredentialOptions } from '../hosts/remote/credentials.ts';
import type { RemoteServerOptions } from '../hosts/remote/remote-server.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage, wholeFlag } from './subcommand.ts';

const HELP = `Usage: crab serve [OPTIONS]         let clients elsewhere in, over WebSocket
       crab serve token [OPTIONS]   make a token for one of them

crab serve
  --host ADDRESS     where to listen (default 127.0.0.1); every other address needs TLS and signed tokens
  --port N           default 6689; 0 for any that is free
  --tls-cert FILE    PEM, the server's own certificate first; read again when it changes
  --tls-key FILE     PEM
  --jwt-key FILE     what signed tokens are checked with: a secret of at least 32 bytes, or a key of Ed25519
                     or RSA as PEM; may be repeated (default $CRAB_HOME/run/serve.key where it is there)
  --token-file FILE  on this machine only: the owner's token (default $CRAB_HOME/run/serve.token, made
                     where it is missing)
  --origin ORIGIN    let pages of this origin connect, such as https://app.example; may be repeated
  --max-clients N    default 256

crab serve token
  --sub NAME         whose it is: letters, digits, . _ @ - (default owner)
  --agents A,B       only these agents, and nothing beside talking to them; without it, everything
  --methods M,N      only these methods
  --expires SPAN     such as 12h or 90d (default 30d, at most 366d)
  --jwt-key FILE     the secret, or the private key (default $CRAB_HOME/run/serve.key, made where it is missing)

docs/guide/remote.md has the rest.
`;

export const DEFAULT_REMOTE_PORT = 6689;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  host: { type: 'string' },
  port: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'jwt-key': { type: 'string', multiple: true },
  'token-file': { type: 'string' },
  origin: { type: 'string', multiple: true },
  'max-clients': { type: 'string' },
  sub: { type: 'string' },
  agents: { type: 'string' },
  methods: { type: 'string' },
  expires: { type: 'string' },
} as const;

type Flags = ReturnType<typeof parse>['values'];

const OF_TOKEN: readonly (keyof typeof OPTIONS)[] = ['sub', 'agents', 'methods', 'expires'];

/** Returns the exit status. Throws `CrabError`. */
export async function serveCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values: flags, positionals } = parse(argv);
  const stdout = sinkOf(process.stdout, env);
  if (flags.help === true) {
    await stdout.write(HELP);
    return EXIT.success;
  }
  const [command, ...words] = positionals;
  const isToken = command === 'token';
  if ((command !== undefined && !isToken) || words.length > 0)
    throw subcommandUsage('serve', `There is no \`crab serve ${positionals.join(' ')}\`.`);
  for (const name of Object.keys(flags) as (keyof typeof OPTIONS)[])
    if (OF_TOKEN.includes(name) !== isToken && name !== 'jwt-key')
      throw subcommandUsage('serve', `\`crab serve${isToken ? ' token' : ''}\` takes no --${name}.`);
  if (!isToken) return serveRemote(flags, env);
  await stdout.write(`${await newToken(flags, env)}\n`);
  return EXIT.success;
}

function parse(argv: readonly string[]) {
  return subcommandArguments('serve', argv, OPTIONS);
}

async function serveRemote(flags: Flags, env: Environment): Promise<number> {
  const { host = '127.0.0.1', origin: origins = [] } = flags;
  const port = wholeFlag('serve', 'port', flags.port, [0, 65_535]) ?? DEFAULT_REMOTE_PORT;
  const clients = wholeFlag('serve', 'max-clients', flags['max-clients'], [1, 100_000]);
  const tls = tlsOf(flags);
  for (const origin of origins)
    if (URL.parse(origin)?.origin !== origin)
      throw subcommandUsage('serve', `--origin ${origin} is no origin, such as https://app.example.`);
  const [{ runDaemon }, { RemoteServer }, { createAuthenticate }] = await Promise.all([
    import('./daemon-run.ts'),
    import('../hosts/remote/remote-server.ts'),
    import('../hosts/remote/credentials.ts'),
  ]);
  const credentials = await credentialsOf(flags, host, env);
  return runDaemon({ noTcp: true }, env, async ({ server }, { log, tell }) => {
    const options: RemoteServerOptions = {
      server,
      clock: systemClock,
      host,
      port,
      tls,
      authenticate: createAuthenticate(credentials),
      origins,
      ...(clients !== undefined && { limits: { clients } }),
      log: (line) => log(`remote: ${line}`),
    };
    const remote = await RemoteServer.listen(options);
    tell(`remote clients are let in at ${remote.url}`);
    return remote;
  });
}

function tlsOf({ 'tls-cert': cert, 'tls-key': key }: Flags): RemoteServerOptions['tls'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw subcommandUsage('serve', '--tls-cert and --tls-key belong together.');
  return { cert: resolve(cert), key: resolve(key) };
}

async function credentialsOf(flags: Flags, host: string, env: Environment): Promise<CredentialOptions> {
  const [{ isLoopback }, { tokenFile, verifyingKey }, { prepareRunFolder, runFolder }, { tokenIn }] =
    await Promise.all([
      import('../hosts/remote/handshake.ts'),
      import('../hosts/remote/credentials.ts'),
      import('../hosts/daemon/run-folder.ts'),
      import('../hosts/daemon/token.ts'),
    ]);
  const paths = flags['jwt-key'] ?? (existsSync(keyFile(env)) ? [keyFile(env)] : []);
  const keys = paths.map((path) => verifyingKey(resolve(path)));
  const given = flags['token-file'];
  const now = systemClock.now;
  if (!isLoopback(host)) {
    if (given !== undefined)
      throw subcommandUsage('serve', `--token-file is for this machine only, and ${host} is not.`);
    if (keys.length === 0)
      throw new CrabError('usage', `${host} can be reached from elsewhere: that needs signed tokens.`, {
        hint: 'Make a key and a token with `crab serve token`, or give --jwt-key.',
      });
    return { keys, now };
  }
  if (given !== undefined) return { token: tokenFile(resolve(given)), keys, now };
  const folder = runFolder(crabHome(env));
  const uid = process.getuid?.();
  prepareRunFolder(folder, uid);
  return { token: tokenIn(join(folder.path, 'serve.token'), uid), keys, now };
}

async function newToken(flags: Flags, env: Environment): Promise<string> {
  const { signingKey, signToken, newSecret } = await import('../hosts/remote/credentials.ts');
  const [path, ...others] = (flags['jwt-key'] ?? []).map((one) => resolve(one));
  if (others.length > 0) throw subcommandUsage('serve', 'A token is signed with one key.');
  const lifetime = seconds(flags.expires ?? '30d');
  const name = flags.sub ?? 'owner';
  if (!/^[\w.@-]{1,128}$/.test(name)) throw subcommandUsage('serve', `--sub ${name} is no name.`);
  const agents = names('agents', flags.agents);
  const methods = await methodsOf(flags.methods);
  if (path === undefined && !existsSync(keyFile(env))) {
    const { prepareRunFolder, runFolder } = await import('../hosts/daemon/run-folder.ts');
    prepareRunFolder(runFolder(crabHome(env)), process.getuid?.());
    newSecret(keyFile(env));
    const text = `crab: ${keyFile(env)} was made; a \`crab serve\` that is running takes it when it starts again.\n`;
    await sinkOf(process.stderr, env).write(text);
  }
  const key = signingKey(path ?? keyFile(env));
  if (key.key.type === 'public')
    throw subcommandUsage('serve', `${path} is a public key: tokens are signed with the private one.`);
  return signToken(key, {
    name,
    lifetime,
    now: systemClock.now(),
    ...(agents !== undefined && { agents }),
    ...(methods !== undefined && { methods }),
  });
}

function keyFile(env: Environment): string {
  return join(crabHome(env), 'run', 'serve.key');
}

function names(flag: string, text: string | undefined): readonly string[] | undefined {
  const all = text?.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  if (all?.length === 0) throw subcommandUsage('serve', `--${flag} names none.`);
  return all;
}

/** By the names that a grant knows them by: a slip would make a token that cannot do what it was made for. */
async function methodsOf(text: string | undefined): Promise<readonly string[] | undefined> {
  const given = names('methods', text);
  if (given === undefined) return undefined;
  const { methodCalled } = await import('./methods.ts');
  return given.map((name) => methodCalled(name, 'serve'));
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const MAX_LIFETIME = 366 * 86_400;

function seconds(span: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(span) ?? [];
  const lifetime = Number(count) * (UNITS[unit] ?? 0);
  if (lifetime > 0 && lifetime <= MAX_LIFETIME) return lifetime;
  throw subcommandUsage('serve', `--expires ${span} is no span up to 366d, such as 12h or 90d.`);
}
