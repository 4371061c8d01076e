// One process that wants the headers of a login, for the campaign beside it. Arguments: the folder of the store, the
// token endpoint, and the fault that is planted. Says `ready`, waits for a line on standard input, says the header.

import { createInterface } from 'node:readline';
import { lockCredentials } from '../../src/cli/file-lock.ts';
import { createOAuthCredential, type Tokens } from '../../src/parts/auth/oauth-credential.ts';
import { createStore } from '../../src/parts/auth/store.ts';
import { memoryKeychain, realClock, sendByFetch } from './credentials.ts';

const [folder = '', tokenUrl = '', fault] = process.argv.slice(2);
const sound = createStore({ folder, keychain: memoryKeychain(), lock: lockCredentials });
const store = fault === 'unlocked' ? { ...sound, locked: <T>(work: () => Promise<T>) => work() } : sound;
const credential = createOAuthCredential({
  provider: 'p',
  scheme: {
    kind: 'key',
    variables: [],
    style: 'bearer',
    oauth: { authorizeUrl: tokenUrl, tokenUrl, clientId: 'c', scopes: [] },
  },
  source: 'the credentials file',
  tokens: (await store.read('p')) as Tokens,
  store,
  clock: realClock,
  send: sendByFetch,
  learn: () => {},
});
process.stdout.write('ready\n');
for await (const _ of createInterface({ input: process.stdin })) {
  const request = { method: 'POST', url: new URL(tokenUrl), headers: {} };
  process.stdout.write(`${(await credential.headers(request))['authorization']}\n`);
}
