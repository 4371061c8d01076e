import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { realClock, temporaryFolder } from '../../../test/support/credentials.ts';
import { createExec } from '../process/exec.ts';
import { createKeychain } from './keychain.ts';

const SECRET = 'q9Zx+/secret-of-the-keychain==';

/** Each program notes its arguments and its input, and keeps what it is given in a file. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'secret-tool': `
case "$1" in
  store) cat > "$DIR/item"; printf '%s' "$*" >> "$DIR/argv"; cat "$DIR/item" >> "$DIR/stdin" ;;
  lookup) printf '%s' "$*" >> "$DIR/argv"; [ -f "$DIR/item" ] || exit 1; cat "$DIR/item" ;;
  clear) printf '%s' "$*" >> "$DIR/argv"; rm -f "$DIR/item" ;;
esac`,
  security: `
printf '%s' "$*" >> "$DIR/argv"
case "$1" in
  -i) read -r line; printf '%s' "$line" >> "$DIR/stdin"; printf '%s' "$line" | sed 's/.*-w "\\(.*\\)"$/\\1/' > "$DIR/item" ;;
  find-generic-password) [ -f "$DIR/item" ] || exit 44; cat "$DIR/item" ;;
  delete-generic-password) rm -f "$DIR/item" ;;
esac`,
  'powershell.exe': `
printf '%s' "$*" >> "$DIR/argv"
text=$(cat); printf '%s' "$text" >> "$DIR/stdin"
case "$*" in
  *::Unprotect*) printf '%s' "$text" | rev ;;
  *) printf '%s' "$text" | rev ;;
esac`,
};

async function setting(platform: NodeJS.Platform, programs: Readonly<Record<string, string>> = PROGRAMS) {
  const folder = await temporaryFolder();
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\nDIR='${folder.path}'\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const exec = createExec({ env: { ...process.env, PATH: `${bin}:/usr/bin:/bin` }, clock: realClock });
  const noted = (name: string) => readFile(join(folder.path, name), 'utf8');
  return {
    keychain: createKeychain({ platform, exec, folder: folder.path }),
    noted,
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

for (const platform of ['linux', 'darwin', 'win32'] as const) {
  test(`a secret is written, read and removed on ${platform}, and is never an argument`, async () => {
    await using at = await setting(platform);
    assert.equal(await at.keychain.read('id-1'), undefined);
    await at.keychain.write('id-1', SECRET);
    assert.equal(await at.keychain.read('id-1'), SECRET);
    const given = platform === 'win32' ? Buffer.from(SECRET).toString('base64') : SECRET;
    assert.ok((await at.noted('stdin')).includes(given));
    const argv = await at.noted('argv');
    assert.ok(argv.length > 0 && !argv.includes(SECRET) && !argv.includes(given), argv);
    await at.keychain.remove('id-1');
    assert.equal(await at.keychain.read('id-1'), undefined);
  });
}

test('a program that is not there is a keychain that cannot be opened', async () => {
  await using at = await setting('darwin', {});
  await assert.rejects(at.keychain.write('id-1', SECRET), {
    code: 'auth-failed',
    message: 'Keychain init failed: The program security was not found in PATH.',
    hint: 'Unlock it and try again, or log in with `--store file`.',
  });
});

test('what a keychain complains about is told, with what was tried', async () => {
  const complaining = 'echo "secret-tool: Cannot autolaunch D-Bus without X11 \\$DISPLAY" >&2; exit 1';
  await using at = await setting('linux', { 'secret-tool': complaining });
  const reason = 'secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY';
  await assert.rejects(at.keychain.write('id-1', SECRET), { message: `Keychain write failed: ${reason}.` });
  await assert.rejects(at.keychain.read('id-1'), { message: `Keychain read failed: ${reason}.` });
});

test('a keychain that fails without a word is told by its exit status', async () => {
  await using at = await setting('darwin', { security: 'exit 36' });
  await assert.rejects(at.keychain.read('id-1'), { message: 'Keychain read failed: exit status 36.' });
});

/** A keyring is there only where a desktop runs. */
function realSecretTool(): string | false {
  if (!process.env['DBUS_SESSION_BUS_ADDRESS']) return 'no session bus';
  try {
    accessSync('/usr/bin/secret-tool', constants.X_OK);
    return false;
  } catch {
    return 'secret-tool is not installed';
  }
}

if (realSecretTool() === false) {
  test('the keyring of this desktop keeps what it is given', async () => {
    const exec = createExec({ env: process.env, clock: realClock });
    const keychain = createKeychain({ platform: 'linux', exec, folder: '/' });
    const id = `test-${process.pid}`;
    await keychain.write(id, SECRET);
    assert.equal(await keychain.read(id), SECRET);
    await keychain.remove(id);
    assert.equal(await keychain.read(id), undefined);
  });
}
