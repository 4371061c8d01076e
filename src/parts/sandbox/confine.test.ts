// What is promised of confined programs, tried on every backend that Linux has. A backend that does not hold here is
// named as the reason of a skipped test; in CI that is a failure.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { eventually, processesWith } from '../../../test/support/processes.ts';
import {
  createGround,
  type Ground,
  type GroundOptions,
  LINUX_BACKENDS,
  REQUIRED,
} from '../../../test/support/sandbox.ts';
import type { SandboxPolicy } from '../../core/sandbox.ts';
import { limited } from './limits.ts';
import { type Neighbours, trySurfaces } from './matrix.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';

const signal = new AbortController().signal;

async function skipReason(only: (typeof LINUX_BACKENDS)[number]): Promise<string | false> {
  await using ground = createGround({ sandbox: { only } });
  const { candidates } = await ground.sandbox.find();
  return candidates[0]?.holds === true ? false : `${only}: ${candidates[0]?.reason ?? 'not for this system'}`;
}

const OPEN_ALL: SandboxPolicy = { ...REQUIRED, mode: 'off' };

/** Allows every call: RET ALLOW. */
const NO_FILTER = new Uint8Array([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

function neighbours({ exec, another }: Ground): Neighbours {
  return { bare: exec, other: another().confined(() => {}).exec };
}

for (const only of LINUX_BACKENDS) {
  const skip = await skipReason(only);
  const ground = (options: GroundOptions = {}) =>
    createGround({ ...options, sandbox: { only, ...options.sandbox } });

  suite(`a program in ${only}`, { skip }, () => {
    test('comes through none of the seventeen known surfaces', async () => {
      await using place = ground();
      const { exec } = place.confinement.confined((violation) => place.violations.push(violation));
      const surfaces = await trySurfaces(exec, place.cwd, neighbours(place));
      assert.equal(surfaces.length, 17);
      assert.deepEqual(
        surfaces.filter(({ isOpen }) => isOpen),
        [],
      );
      assert.deepEqual(
        place.violations.map(({ what }) => what),
        Array.from({ length: 12 }, () => 'planted'),
      );
    });

    test('writes in the workspace and nowhere else', async () => {
      await using place = ground();
      const script = `echo in >inside && cat inside; echo x >${place.outside}/new; echo x >>${place.outside}/secret; rm -f ${place.outside}/secret`;
      const { stdout } = await place.run(script);
      assert.match(stdout.text, /^in\n/);
      assert.deepEqual(readdirSync(place.outside), ['secret']);
      assert.equal(readFileSync(join(place.outside, 'secret'), 'utf8'), 'the secret');
      assert.equal(readFileSync(join(place.cwd, 'inside'), 'utf8'), 'in\n');
    });

    test('is kept from a file outside, and that is told', async () => {
      await using place = ground();
      const target = join(process.cwd(), 'crab-outside');
      await place.run(`cat /nowhere; echo x >${target}; exit 1`);
      assert.deepEqual(
        place.violations.map(({ what, target, detail }) => ({ what, target, detail })),
        [
          {
            what: 'write',
            target,
            detail: `${target} is read-only in the sandbox.`,
          },
        ],
      );
    });

    test('has a folder for temporary files that later programs of the conversation see', async () => {
      await using place = ground();
      await place.run('echo kept >"$TMPDIR/note"');
      assert.equal((await place.run('cat "$TMPDIR/note"')).stdout.text, 'kept\n');
    });

    test('does not write through a link that leads out', async () => {
      await using place = ground({
        prepare: (cwd) => symlinkSync(join(cwd, '../outside'), join(cwd, 'link')),
      });
      await place.run('echo x >link/new; ln -s ../outside other; echo x >other/new');
      assert.deepEqual(readdirSync(place.outside), ['secret']);
    });

    test('reaches no server of this machine', async () => {
      await using place = ground();
      const seen: string[] = [];
      const server = createServer((request, response) => {
        seen.push(request.url ?? '');
        response.end('reached');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = Object(server.address());
      try {
        const script = `exec 3<>/dev/tcp/127.0.0.1/${address.port} && printf 'GET /x HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
        assert.notEqual((await place.run(script)).exitCode, 0);
        assert.deepEqual(seen, []);
      } finally {
        server.close();
      }
    });

    test('leaves what was protected as it was, and what it did is told', async () => {
      await using place = ground({
        prepare: (cwd) => {
          mkdirSync(join(cwd, '.git/hooks'), { recursive: true });
          mkdirSync(join(cwd, 'deep/in/.vscode'), { recursive: true });
          writeFileSync(join(cwd, '.git/config'), '[core]\n\tbare = false\n');
          writeFileSync(join(cwd, '.git/hooks/pre-push'), 'mine');
          writeFileSync(join(cwd, 'deep/in/.vscode/tasks.json'), '{}');
          writeFileSync(join(cwd, 'AGENTS.md'), 'be kind');
          chmodSync(join(cwd, '.git/hooks/pre-push'), 0o755);
        },
      });
      const files = ['.git/config', '.git/hooks/pre-push', 'deep/in/.vscode/tasks.json', 'AGENTS.md'];
      const contents = () => files.map((file) => readFileSync(join(place.cwd, file), 'utf8'));
      const before = contents();
      for (const file of files) await place.run(`echo changed >${file}; rm -f ${file}; mv ${file} elsewhere`);
      await place.run('mv .git moved; mv deep/in other; rm -rf .git deep');
      assert.deepEqual(contents(), before);
    });

    test('may clone a repository, but not one whose configuration starts programs', async () => {
      await using place = ground();
      const made = await place.run(
        'git init -q repo && cd repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --format=%s',
      );
      assert.deepEqual([made.exitCode, made.stdout.text], [0, 'one\n']);
      assert.equal(existsSync(join(place.cwd, 'repo/.git/config')), true);
      await place.run('git init -q bad && git -C bad config core.fsmonitor ./run');
      assert.equal(existsSync(join(place.cwd, 'bad/.git/config')), false);
      assert.deepEqual(
        place.violations.map(({ what, target }) => [what, target]),
        [['planted', join(place.cwd, 'bad/.git/config')]],
      );
    });

    test('leaves nothing running', async () => {
      await using place = ground();
      const brand = `crab-sandbox-${process.pid}`;
      const sleeper = `exec -a ${brand} sleep 300`;
      await place.run(
        `setsid bash -c '${sleeper}' & ( ( setsid bash -c '${sleeper}' >/dev/null 2>&1 & ) & ); nohup bash -c '${sleeper}' & sleep 0.05`,
      );
      // The kernel ends what is left in there with its first process, and may take a moment for it.
      await eventually('nothing runs', async () => (await processesWith(brand)).length === 0);
    });

    test('has the limits of its policy', async () => {
      await using place = ground({ policy: { limits: { fileMib: 1, cpuSeconds: 1 } } });
      await place.run('head -c 3000000 /dev/zero >large');
      assert.equal(readFileSync(join(place.cwd, 'large')).length, 1024 * 1024);
      const spun = await place.run('while :; do :; done');
      assert.notEqual(spun.exitCode, 0);
      assert.equal(spun.timedOut, false);
    });

    test('and all that it starts stay within the bounds of its policy, or are ended', async () => {
      await using place = ground({ policy: { limits: { memoryMib: 128, processes: 60 } } });
      const part = `perl -e '$held = "x" x (60 << 20); sleep 60'`;
      const large = await place.run(`${part} & setsid ${part} & ${part}`);
      assert.match(
        large.exceeded ?? '',
        /^It was ended: it used \d+ MiB of memory, and 128 MiB is the limit/,
      );
      const grown = `export bomb='[ $1 -gt 8 ] || { bash -c "$bomb" bomb $(($1 + 1)) & setsid bash -c "$bomb" bomb $(($1 + 1)) & }; sleep 20'`;
      const many = await place.run(`${grown}; exec bash -c "$bomb" bomb 1`);
      assert.match(many.exceeded ?? '', /processes and threads, and 60 is the limit/);
      assert.deepEqual(
        place.violations.map(({ what, detail }) => [what, detail]),
        [large, many].map(({ exceeded }) => ['limit', exceeded]),
      );
    });

    test('may use the sockets of this machine only where the policy says so', async () => {
      const script = `perl -e 'socket(my $s, 1, 1, 0) or die "$!"; print "made"'`;
      await using closed = ground();
      assert.match((await closed.run(script)).stdout.text, /Operation not permitted/);
      await using open = ground({ policy: { unixSockets: true, network: 'all' } });
      assert.equal((await open.run(script)).stdout.text, 'made');
    });

    test('that was killed by a signal of its own says so', async () => {
      await using place = ground();
      const { exitCode, signal: name } = await place.run('kill -9 $$');
      assert.equal(exitCode === 137 || name === 'SIGKILL', true);
    });
  });
}

const skip = await skipReason('bubblewrap');

suite('what only bubblewrap does', { skip }, () => {
  test('hidden files cannot be read, and other processes cannot be seen', async () => {
    await using place = createGround({ policy: { unreadable: [process.cwd()] } });
    const bystander = spawn('sleep', ['30']);
    try {
      const { stdout } = await place.run(
        `ls ${process.cwd()} | wc -l; ls /proc | grep -c '^${bystander.pid}$'`,
      );
      assert.deepEqual(stdout.text.trim().split(/\s+/), ['0', '0']);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  test('a program that is asked to end has its time', async () => {
    await using place = createGround();
    const abort = new AbortController();
    const { exec } = place.confinement.confined(() => {});
    const argv = ['bash', '-c', 'trap "echo bye >said; exit 0" TERM; echo up; while :; do sleep 0.02; done'];
    const onOutput = () => abort.abort(new Error('enough'));
    await assert.rejects(exec({ argv, cwd: place.cwd, onOutput }, abort.signal), /enough/);
    assert.equal(readFileSync(join(place.cwd, 'said'), 'utf8'), 'bye\n');
  });

  test('what multiplies without end is stopped', () => {
    const script = 'i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all';
    const own = [
      '--unshare-user',
      '--unshare-pid',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--',
    ];
    // Root is never kept from anything by this limit.
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const run = (processes: number) =>
      spawnSync('bwrap', [...own, ...limited(['/bin/sh', '-c', script], { processes })], {
        ...user,
        cwd: '/',
        encoding: 'utf8',
      });
    const [few, enough] = [run(20), run(100)];
    assert.match(few.stderr, /fork/i);
    assert.deepEqual([few.stdout, enough.stdout], ['', 'all\n']);
  });

  test('only the named hosts are reached, and what was refused is told', async () => {
    const server = createServer((request, response) => response.end(`hello ${request.url}`)).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { port } = Object(server.address());
    try {
      const hosts = { hosts: ['localhost', '127.0.0.1'], privateHosts: ['localhost'] };
      await using place = createGround({ policy: { network: hosts } });
      const proxied = 'curl -sS --noproxy "" -m 10';
      const { stdout } = await place.run(
        `${proxied} http://localhost:${port}/plain; echo; ${proxied} -p http://localhost:${port}/tunnel; echo
        ${proxied} http://127.0.0.1:${port}/address; ${proxied} http://example.org/; ${proxied} -p http://169.254.169.254/
        curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/direct; exit 3`,
      );
      assert.match(stdout.text, /^hello \/plain\nhello \/tunnel\n/);
      assert.doesNotMatch(stdout.text, /hello \/(?:address|direct)/);
      assert.deepEqual(
        place.violations.map(({ what, target }) => `${what} ${target}`),
        [`network 127.0.0.1:${port}`, 'network example.org:80', 'network 169.254.169.254:80'],
      );
    } finally {
      server.close();
    }
  });

  test('a program that lives on is confined, and ends with its signal', async () => {
    await using place = createGround();
    const { open } = place.confinement.confined((violation) => place.violations.push(violation));
    const running = await open(
      { argv: ['bash', '-c', `echo x >${place.outside}/new; echo y >.envrc; cat`], cwd: place.cwd },
      signal,
    );
    await running.write('through\n');
    running.end();
    const pieces: string[] = [];
    for await (const piece of running.stdout) pieces.push(new TextDecoder().decode(piece));
    assert.equal((await running.ended).exitCode, 0);
    assert.equal(pieces.join(''), 'through\n');
    assert.deepEqual(readdirSync(place.outside), ['secret']);
  });
});

suite('holes that are planted are found', { skip }, () => {
  test('without a sandbox every surface is open', async () => {
    await using place = createGround({ policy: OPEN_ALL });
    const { exec } = place.confinement.confined(() => {});
    const open = (await trySurfaces(exec, place.cwd, neighbours(place))).filter(({ isOpen }) => isOpen);
    assert.equal(open.length, 17);
  });

  test('a filter that lets everything through is noticed by the matrix', async () => {
    await using place = createGround({ sandbox: { only: 'bubblewrap', filter: () => NO_FILTER } });
    const { exec } = place.confinement.confined(() => {});
    const open = (await trySurfaces(exec, place.cwd, neighbours(place))).filter(({ isOpen }) => isOpen);
    assert.deepEqual(
      open.map(({ name }) => name),
      ['unix socket'],
    );
  });
});

/** A backend that holds by its own word and confines nothing. */
function hollow(sandbox: Sandbox, change: (argv: readonly string[]) => readonly string[]): Sandbox {
  return {
    ...sandbox,
    async find() {
      const found = await sandbox.find();
      const { backend } = found;
      if (backend === undefined) return found;
      return {
        ...found,
        backend: {
          ...backend,
          wrap: (argv, cwd, enclosure) => {
            const wrapped = backend.wrap(argv, cwd, enclosure);
            return { ...wrapped, argv: change(wrapped.argv) };
          },
        },
      };
    },
  };
}

suite('a sandbox that fails runs nothing', { skip }, () => {
  const refused = async (options: GroundOptions, says: RegExp) => {
    await using place = createGround(options);
    await assert.rejects(place.run('echo ran >ran'), says);
    assert.equal(existsSync(join(place.cwd, 'ran')), false);
  };

  test('when bwrap is missing', () =>
    refused({ sandbox: { programs: ['/nowhere'] } }, /Nothing was run: .*bwrap is not installed/));

  test('when its probe fails', () =>
    refused({ sandbox: { only: 'bubblewrap', temporary: '/nowhere' } }, /Nothing was run: .*nowhere/));

  test('when the kernel refuses the filter', () =>
    refused(
      { sandbox: { only: 'bubblewrap', filter: () => new Uint8Array(8) } },
      /Nothing was run: .*(?:seccomp|SECCOMP)/,
    ));

  test('when there are no user namespaces', async () => {
    const alter = (sandbox: Sandbox) =>
      hollow(sandbox, (argv) => [
        '/usr/bin/unshare',
        '-Ur',
        'sh',
        '-c',
        'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all "$@"',
        'sh',
        ...argv,
      ]);
    await refused({ sandbox: { only: 'bubblewrap' }, alter }, /could not be set up, so nothing was run/);
  });

  test('when the helper crashes', async () => {
    const alter = (sandbox: Sandbox) => hollow(sandbox, () => ['sh', '-c', 'kill -SEGV $$']);
    await using place = createGround({ sandbox: { only: 'bubblewrap' }, alter });
    const { exitCode } = await place.run('echo ran >ran');
    assert.notEqual(exitCode, 0);
    assert.equal(existsSync(join(place.cwd, 'ran')), false);
  });

  test('when a path of the policy vanishes', async () => {
    const vanishing = `/tmp/crab-vanishing-${process.pid}`;
    await using place = createGround({ policy: { writable: [vanishing] } });
    await place[Symbol.asyncDispose]();
    await assert.rejects(place.run('echo ran'));
    mkdirSync(vanishing);
    await using other = createGround({ policy: { writable: [vanishing] } });
    const { rmSync } = await import('node:fs');
    rmSync(vanishing, { recursive: true });
    await assert.rejects(other.run('echo ran >ran'), /could not be set up, so nothing was run: .*vanishing/);
    assert.equal(existsSync(join(other.cwd, 'ran')), false);
  });

  test('where it is only preferred, a machine that has none runs commands as they are', async () => {
    await using place = createGround({
      policy: { mode: 'preferred' },
      sandbox: { programs: ['/nowhere'] },
    });
    assert.equal((await place.run('echo ran')).stdout.text, 'ran\n');
    assert.equal((await place.confinement.state()).backend, undefined);
  });
});

test('without a sandbox the bounds hold all the same', { skip: process.platform !== 'linux' }, async () => {
  await using place = createGround({ policy: { ...OPEN_ALL, limits: { memoryMib: 100, fileMib: 1 } } });
  const { exceeded } = await place.run(`perl -e '$held = "x" x (150 << 20); sleep 60'`);
  assert.match(exceeded ?? '', /100 MiB is the limit/);
  await place.run('head -c 3000000 /dev/zero >large');
  assert.equal(readFileSync(join(place.cwd, 'large')).length, 1024 * 1024);
  assert.deepEqual(
    place.violations.map(({ what, detail }) => [what, detail]),
    [['limit', exceeded]],
  );
});

suite('leaving the sandbox', { skip }, () => {
  test('is possible only where the settings let a command ask', async () => {
    await using open = createGround({ policy: { mode: 'preferred', mayAskToLeave: true } });
    await open.run(`echo x >${open.outside}/new`, { unconfined: true });
    assert.deepEqual(readdirSync(open.outside).sort(), ['new', 'secret']);
    for (const policy of [{ mode: 'preferred' as const }, { mayAskToLeave: true }]) {
      await using closed = createGround({ policy });
      await assert.rejects(closed.run('true', { unconfined: true }), /cannot be left here/);
    }
  });
});

suite('file tools', () => {
  test('write where programs may, and what is protected only with a yes to that very path', async () => {
    const cases = async (policy: Partial<SandboxPolicy>, permits: (cwd: string) => readonly string[]) => {
      const permitted: string[] = [];
      await using place = createGround({ policy, permitted });
      permitted.push(...permits(place.cwd));
      const { files } = place.confinement.confined((violation) => place.violations.push(violation));
      const paths = ['a/b.txt', 'AGENTS.md', '.vscode/tasks.json', 'sub/.git/hooks/x', '../outside/new'];
      const outcome: boolean[] = [];
      for (const path of paths)
        outcome.push(
          await files.write(join(place.cwd, path), new Uint8Array()).then(
            () => true,
            () => false,
          ),
        );
      assert.equal(place.violations.length, outcome.filter((written) => !written).length);
      return outcome;
    };
    const outside = (cwd: string) => [join(cwd, '../outside/new'), join(cwd, '.vscode/tasks.json')];
    assert.deepEqual(await cases({}, () => []), [true, true, false, false, false]);
    assert.deepEqual(await cases({ mode: 'preferred' }, outside), [true, true, true, false, true]);
    assert.deepEqual(await cases({ mode: 'required' }, outside), [true, true, false, false, false]);
    assert.deepEqual(await cases({ mode: 'off' }, () => []), [true, true, true, true, true]);
  });

  test('write nothing that git obeys into a repository, whatever it is called, and make none of it', async () => {
    await using place = createGround({
      prepare: (cwd) => execFileSync('git', ['init', '--quiet', '--bare', join(cwd, 'store')]),
    });
    const { files } = place.confinement.confined((violation) => place.violations.push(violation));
    const written: string[] = [];
    for (const path of [
      'store/config',
      'store/hooks/pre-receive',
      'store/description',
      'docs/config',
      'docs/HEAD',
      'made/config',
      'made/HEAD',
      'made/objects/x',
      'other/HEAD',
      'other/refs/x',
      'other/objects/x',
      'other/hooks/pre-receive',
    ])
      await files.write(join(place.cwd, path), new Uint8Array()).then(
        () => written.push(path),
        () => {},
      );
    assert.deepEqual(written, [
      'store/description',
      'docs/config',
      'docs/HEAD',
      'made/config',
      'made/HEAD',
      'other/HEAD',
      'other/refs/x',
      'other/objects/x',
    ]);
    assert.match(place.violations.at(-1)?.detail ?? '', /other\/hooks changes what later runs by itself/);
  });
});

test('the backend can be named, and only that one is tried', async () => {
  await using place = createGround();
  const { exec } = place;
  const sandbox = createSandbox({ exec, open: exec.open, temporary: place.outside, only: 'landlock' });
  assert.deepEqual(
    (await sandbox.find()).candidates.map(({ name }) => name),
    process.platform === 'linux' ? ['landlock'] : [],
  );
});
