// `crab auth`: what is known of each provider's credential, logging in, and forgetting. Nothing here prints a secret,
// and none is taken from the command line, where every user of the machine could read it.

import { parseArgs } from 'node:util';
import type { Account } from '../core/credential.ts';
import { CrabError, EXIT, messageOf } from '../core/errors.ts';
import type { CredentialHost } from '../parts/auth/credentials.ts';
import { credentialStatus } from '../parts/auth/status.ts';
import { createExec } from '../parts/process/exec.ts';
import { accountOf, allAccounts } from './accounts.ts';
import { logIn } from './auth-login.ts';
import { logOut } from './auth-logout.ts';
import { statusJson, statusText } from './auth-status.ts';
import { systemClock } from './clock.ts';
import { lockCredentials } from './file-lock.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { loadSettings } from './settings.ts';
import { stopOnSignals } from './signals.ts';
import { tokenRequests } from './token-requests.ts';

const HELP = `Usage: crab auth login PROVIDER [--key | --oauth] [--store keychain|file] [--no-browser] [--scope SCOPE]
       crab auth logout PROVIDER... | --all
       crab auth status [PROVIDER...] [--json]

  login              asks for a key, which is not shown; from a pipe it is read:
                       printenv OPENAI_API_KEY | crab auth login openai
                     Where the provider has a login with a browser, that is what happens on a terminal.
    --key            a key, although there is a login with a browser
    --oauth          the login with a browser; its address is always shown as well
    --no-browser     open none: on another machine, paste what the login ends with, or enter a code there
    --scope SCOPE    ask for this in place of what is usual (may be repeated)
    --store PLACE    keychain: fail where there is none; file: do not try one
  logout             forgets what is stored; a variable that is set stays yours to unset
  status             where each credential comes from and whether it can be used; exit status 3 when none can

  A key is looked for in this order: --api-key-file, the provider's variables, apiKeyHelper, what login stored,
  the settings. Stored credentials are sealed in $CRAB_HOME/auth/auth.json; the key to them is in the keychain of the
  system, or where there is none in a file beside it.
`;

const OPTIONS = {
  login: {
    key: { type: 'boolean' },
    oauth: { type: 'boolean' },
    'no-browser': { type: 'boolean' },
    scope: { type: 'string', multiple: true },
    store: { type: 'string' },
  },
  logout: { all: { type: 'boolean' } },
  status: { json: { type: 'boolean' } },
} as const;

export async function auth(argv: readonly string[], env: Environment): Promise<number> {
  const [verb, ...rest] = argv;
  if (verb === undefined || verb === 'help' || argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(HELP);
    return verb === undefined ? EXIT.usage : EXIT.success;
  }
  const stop = stopOnSignals(() => {});
  const exec = createExec({ env, clock: systemClock });
  process.once('exit', () => exec.killAll());
  const warn = (text: string) => void process.stderr.write(`crab: ${text}\n`);
  const settings = await loadSettings({ env, warn });
  const host: CredentialHost = {
    home: crabHome(env),
    cwd: homeFolder(env),
    exec,
    clock: systemClock,
    lock: lockCredentials,
    send: tokenRequests(env, settings.network),
    settings,
    platform: process.platform,
    learn: () => {},
    warn,
  };
  const accounts = allAccounts(host.settings);
  try {
    switch (verb) {
      case 'login':
        return await login(rest, { env, host, accounts, signal: stop.signal });
      case 'logout':
        return await logout(rest, { env, host, accounts, signal: stop.signal });
      case 'status':
        return await status(rest, { env, host, accounts, signal: stop.signal });
    }
  } finally {
    stop.release();
  }
  // Not repeated: it may be a key that somebody put there.
  throw usage('`crab auth` is followed by login, logout or status.');
}

interface Setting {
  readonly env: Environment;
  readonly host: CredentialHost;
  readonly accounts: readonly Account[];
  readonly signal: AbortSignal;
}

async function login(argv: readonly string[], { env, host, accounts, signal }: Setting): Promise<number> {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...argv], options: OPTIONS.login, allowPositionals: true }),
  );
  const [name, ...more] = positionals;
  if (name === undefined)
    throw usage(`Name a provider: ${accounts.map(({ provider }) => provider).join(', ')}.`);
  if (more.length > 0) throw usage('A login is for one provider, and a key is never an argument.');
  const { key, oauth, scope, store } = values;
  if (key === true && oauth === true) throw usage('--key and --oauth cannot be used together.');
  if (store !== undefined && store !== 'keychain' && store !== 'file')
    throw usage('--store is keychain or file.');
  await logIn(accountOf(name, accounts), {
    env,
    host,
    signal,
    ...((key ?? oauth) && { kind: key === true ? ('key' as const) : ('oauth' as const) }),
    ...(scope !== undefined && { scopes: scope.flatMap((each) => each.split(/[\s,]+/)) }),
    ...(store !== undefined && { place: store }),
    browser: values['no-browser'] !== true,
  });
  return EXIT.success;
}

async function logout(argv: readonly string[], { env, host, accounts }: Setting): Promise<number> {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...argv], options: OPTIONS.logout, allowPositionals: true }),
  );
  if ((values.all === true) === positionals.length > 0) throw usage('Name a provider, or say --all.');
  const names = values.all === true ? 'all' : positionals;
  process.stdout.write(await logOut(names, { env, host, accounts }));
  return EXIT.success;
}

async function status(argv: readonly string[], { env, host, accounts }: Setting): Promise<number> {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...argv], options: OPTIONS.status, allowPositionals: true }),
  );
  const asked = positionals.length === 0 ? accounts : positionals.map((name) => accountOf(name, accounts));
  const all = await Promise.all(asked.map((account) => credentialStatus(account, env, host)));
  process.stdout.write(values.json === true ? statusJson(all) : statusText(all));
  return all.some(({ usable }) => usable) ? EXIT.success : EXIT.auth;
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    // Node's sentence repeats the argument, which may be a key that somebody put there.
    const [what = ''] = messageOf(cause).split(/ '|\. /);
    throw usage(`${what.replace(/\.$/, '')}.`);
  }
}

function usage(message: string): CrabError {
  return new CrabError('usage', message, { hint: 'Run `crab auth --help`.' });
}
