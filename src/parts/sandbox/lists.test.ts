// What may be read and what may be started, where the person names it, on every backend that Linux has.

import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { createGround, type GroundOptions, LINUX_BACKENDS } from '../../../test/support/sandbox.ts';
import { createSandbox } from './sandbox.ts';

async function skipReason(only: (typeof LINUX_BACKENDS)[number]): Promise<string | false> {
  await using ground = createGround({ sandbox: { only } });
  const { candidates } = await ground.sandbox.find();
  return candidates[0]?.holds === true ? false : `${only}: ${candidates[0]?.reason ?? 'not for this system'}`;
}

/** The folder around the workspace has others, which only a list can tell apart. */
const beside = (cwd: string, ...names: readonly string[]) => join(cwd, '..', ...names);

for (const only of LINUX_BACKENDS) {
  const skip = await skipReason(only);

  suite(`with lists, in ${only}`, { skip }, () => {
    test('only what is named, the workspace and the system can be read', async () => {
      const folders: string[] = [];
      const options: GroundOptions = {
        sandbox: { only },
        prepare: (cwd) => {
          mkdirSync(beside(cwd, 'named'));
          writeFileSync(beside(cwd, 'named', 'a'), 'named\n');
          writeFileSync(beside(cwd, 'named', 'key'), 'the key\n');
          mkdirSync(beside(cwd, 'other'));
          writeFileSync(beside(cwd, 'other', 'a'), 'other\n');
          writeFileSync(join(cwd, 'mine'), 'mine\n');
          symlinkSync('../other/a', join(cwd, 'link'));
          folders.push(beside(cwd, 'named'), beside(cwd, 'other'));
        },
      };
      const readable: string[] = [];
      const unreadable: string[] = [];
      await using place = createGround({
        ...options,
        policy: { readable, unreadable },
        prepare: (cwd) => {
          options.prepare?.(cwd);
          readable.push(beside(cwd, 'named'), '/nowhere');
          unreadable.push(beside(cwd, 'named', 'key'));
        },
      });
      const [named, other] = folders;
      const script = `cat mine ${named}/a; cat ${named}/key ${other}/a link; ls ${other} ${process.cwd()}; ls / >/dev/null; cat /etc/passwd >/dev/null && echo system; echo x >${named}/b; echo kept >mine`;
      const { stdout } = await place.run(`${script}; exit 1`);
      assert.match(stdout.text, /^mine\nnamed\n/);
      assert.match(stdout.text, /^system$/m);
      for (const word of ['other', 'the key', 'package.json'])
        assert.doesNotMatch(stdout.text, new RegExp(`^${word}$`, 'm'));
      assert.equal(readFileSync(join(place.cwd, 'mine'), 'utf8'), 'kept\n');
      assert.throws(() => readFileSync(join(named ?? '', 'b')), { code: 'ENOENT' });
      if (only === 'landlock')
        assert.deepEqual(
          place.violations.filter(({ what }) => what === 'read').map(({ target }) => target),
          [join(named ?? '', 'key')],
        );
    });

    test('an empty list leaves the system, and nothing is written beside the workspace unseen', async () => {
      await using place = createGround({ sandbox: { only }, policy: { readable: [] } });
      const { stdout } = await place.run(
        `cat ${place.outside}/secret; (echo x >/new) && echo written; echo in >in && cat in`,
      );
      assert.doesNotMatch(stdout.text, /the secret|written/);
      assert.match(stdout.text, /\nin\n$/);
    });

    test('what the kernel tells of other processes stays out of reach, also where it is named', async () => {
      await using place = createGround({ sandbox: { only }, policy: { readable: ['/proc', '/dev'] } });
      const { stdout } = await place.run(`cat /proc/${process.pid}/environ >/dev/null && echo read; true`);
      assert.doesNotMatch(stdout.text, /^read$/m);
    });

    test('the whole is named by /', async () => {
      await using place = createGround({ sandbox: { only }, policy: { readable: ['/'] } });
      assert.equal(
        (await place.run(`test -r ${process.cwd()}/package.json && echo yes`)).stdout.text,
        'yes\n',
      );
    });

    test('only programs that are named are started, whoever starts them', async () => {
      await using place = createGround({
        sandbox: { only },
        policy: { executable: ['/usr/bin/cat', '/usr/bin/env'] },
        prepare: (cwd) => {
          copyFileSync('/usr/bin/true', join(cwd, 'own'));
          chmodSync(join(cwd, 'own'), 0o755);
          writeFileSync(join(cwd, 'script'), '#!/usr/bin/cat\nwas read\n', { mode: 0o755 });
        },
      });
      const { stdout } = await place.run(
        `echo a | cat && env cat /dev/null && echo env; ./own && echo own; ls && echo ls; env ls && echo nested; ./script; exit 1`,
      );
      assert.match(stdout.text, /^a\nenv\n/);
      for (const word of ['own', 'ls', 'nested', 'was read'])
        assert.doesNotMatch(stdout.text, new RegExp(`^${word}$`, 'm'));
      const [refused] = place.violations.filter(({ what }) => what === 'exec');
      assert.deepEqual(refused, {
        what: 'exec',
        target: './own',
        detail: './own is none of the programs that may be started in the sandbox.',
      });
    });

    test('a folder of programs is named as a whole, and both lists hold together', async () => {
      await using place = createGround({
        sandbox: { only },
        policy: { readable: [], executable: ['/usr/bin'], limits: { processes: 500 } },
      });
      const { stdout } = await place.run(
        `ls -d . && cat ${place.outside}/secret; cp /usr/bin/true own; ./own || echo refused`,
      );
      assert.match(stdout.text, /^\.\n.*\nrefused\n$/s);
      assert.doesNotMatch(stdout.text, /the secret/);
    });

    test('nothing is run where the list cannot be kept', async () => {
      await using place = createGround({ sandbox: { only }, policy: { executable: [] } });
      await assert.rejects(place.run('echo run', { argv: ['nothing-of-that-name'] }), {
        name: 'ToolFailure',
        message: /could not be set up, so nothing was run: no program nothing-of-that-name/,
      });
    });
  });
}

test('a backend that cannot keep to a list runs nothing', async () => {
  for (const policy of [{ readable: [] }, { executable: [] }]) {
    await using place = createGround({
      policy,
      alter: (sandbox) => ({
        ...sandbox,
        find: async () => {
          const { backend, ...found } = await createSandbox({
            exec: place.exec,
            open: place.exec.open,
            temporary: '/tmp',
          }).find();
          assert.ok(backend, 'this machine has a sandbox');
          return { ...found, backend: { ...backend, narrows: false } };
        },
      }),
    });
    await assert.rejects(place.run('echo run'), {
      name: 'ToolFailure',
      message: /^Nothing was run: \w+ cannot keep to what the settings name as readable or executable\.$/,
    });
  }
});
