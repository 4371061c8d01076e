// The network of a conversation: what its commands serve is reached by its others and by nobody else. All of it is tried
// once more by a user who owns nothing, since namespaces are made another way by root.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, processesWith } from '../../../test/support/processes.ts';
import { createGround } from '../../../test/support/sandbox.ts';
import type { RunningProcess } from '../../core/host.ts';
import type { Backend } from './backend.ts';
import type { Confinement } from './confine.ts';
import { makeNetwork } from './network.ts';
import { findProgram } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const SERVER = `
use Socket;
socket(my $server, AF_INET, SOCK_STREAM, 0) or die "$!";
bind($server, sockaddr_in(0, INADDR_LOOPBACK)) or die "$!";
listen($server, 9) or die "$!";
$| = 1;
print((sockaddr_in(getsockname($server)))[0], "\\n");
while (accept(my $client, $server)) { print $client "served\\n"; close($client) }`;

const never = new AbortController().signal;

/** Prints what a server there says. */
const ask = (port: number) => `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;

async function said(confinement: Confinement, script: string, cwd: string): Promise<string> {
  const argv = ['bash', '--noprofile', '--norc', '-c', `exec 2>/dev/null\n${script}`];
  const { exec } = confinement.confined(() => {});
  return (await exec({ argv, cwd, timeoutMs: 30_000 }, never)).stdout.text;
}

interface Served extends AsyncDisposable {
  readonly port: number;
  readonly running: RunningProcess;
}

async function serve(confinement: Confinement, cwd: string): Promise<Served> {
  const { open } = confinement.confined(() => {});
  const running = await open({ argv: ['perl', '-e', SERVER], cwd }, never);
  return {
    port: Number(await firstOf(running.stdout)),
    running,
    [Symbol.asyncDispose]: () => running.kill(),
  };
}

async function firstOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const bytes of output) return new TextDecoder().decode(bytes);
  return '';
}

const network = (confinement: Confinement, cwd: string) =>
  said(confinement, 'readlink /proc/self/ns/net', cwd).then((text) => text.trim());

/** Namespaces that this process has hold of. */
function held(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)].filter((name) => /^(?:net|user):/.test(name));
    } catch {
      return [];
    }
  });
}

/** The same with another backend. */
function altered(change: (backend: Backend) => Backend): (sandbox: Sandbox) => Sandbox {
  return (sandbox) => ({
    ...sandbox,
    async find() {
      const found = await sandbox.find();
      return found.backend === undefined ? found : { ...found, backend: change(found.backend) };
    },
  });
}

const BROKEN = { user: '/proc/self/ns/nothing', net: '/proc/self/ns/nothing', close: () => {} };

async function sharing(): Promise<string | false> {
  await using ground = createGround({ sandbox: { only: 'bubblewrap' } });
  const { backend, candidates } = await ground.sandbox.find();
  if (backend === undefined) return `bubblewrap: ${candidates[0]?.reason ?? 'not for this system'}`;
  return backend.makeNetwork === undefined && 'programs cannot share a network here';
}

const skip = await sharing();

suite('a server that a command of the conversation left running', { skip }, () => {
  test('is reached by the next command, also from another workspace', async () => {
    await using place = createGround();
    const { confinement, cwd } = place;
    await using server = await serve(confinement, cwd);
    assert.equal(await said(confinement, ask(server.port), cwd), 'served\n');
    const moved = confinement.moved({ cwd: place.outside, directories: [] });
    assert.equal(await said(moved, ask(server.port), place.outside), 'served\n');
  });

  test('is reached by a command on a terminal', async () => {
    await using place = createGround();
    await using server = await serve(place.confinement, place.cwd);
    const { open } = place.confinement.confined(() => {});
    const argv = ['bash', '-c', ask(server.port)];
    const running = await open({ argv, cwd: place.cwd, terminal: { columns: 80, rows: 24 } }, never);
    assert.equal(await firstOf(running.stdout), 'served\r\n');
    await running.ended;
  });

  test('is reached neither by another conversation nor by the machine', async () => {
    await using place = createGround();
    const { confinement, cwd } = place;
    await using server = await serve(confinement, cwd);
    const other = place.another();
    await using otherServer = await serve(other, cwd);
    assert.equal(await said(other, ask(server.port), cwd), '');
    assert.equal(await said(confinement, ask(otherServer.port), cwd), '');
    const outside = spawnSync('bash', ['-c', ask(server.port)], { encoding: 'utf8' });
    assert.equal(outside.stdout, '');
    other.close();
  });

  test('can be neither seen nor signalled by the next command', async () => {
    await using place = createGround();
    await using server = await serve(place.confinement, place.cwd);
    const script = 'cat /proc/[0-9]*/cmdline | tr "\\0" " "; kill -KILL -1';
    assert.doesNotMatch(await said(place.confinement, script, place.cwd), /perl/);
    assert.equal(await said(place.confinement, ask(server.port), place.cwd), 'served\n');
  });
});

suite('the network of a conversation', { skip }, () => {
  test('is one, also for commands that begin at once, and not the machine’s', async () => {
    await using place = createGround();
    const { confinement, cwd } = place;
    const names = await Promise.all([1, 2, 3, 4].map(() => network(confinement, cwd)));
    assert.equal(new Set(names).size, 1);
    assert.match(names[0] ?? '', /^net:\[\d+\]$/);
    const other = place.another();
    const all = [names[0], await network(other, cwd), readlinkSync('/proc/self/ns/net')];
    assert.equal(new Set(all).size, 3);
    other.close();
  });

  test('has nothing in it but its loopback', async () => {
    await using place = createGround();
    const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    try {
      assert.equal(await said(place.confinement, `(${ask(port)}) && echo reached`, place.cwd), '');
      const devices = await said(place.confinement, 'cut -s -d: -f1 /proc/net/dev', place.cwd);
      assert.deepEqual(devices.trim().split(/\s+/), ['lo']);
    } finally {
      server.close();
    }
  });

  test('needs no process, and is not handed to the programs in it', async () => {
    await using place = createGround();
    const { confinement, cwd } = place;
    const name = await network(confinement, cwd);
    const inIt = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/ns/net`) === name;
        } catch {
          return false;
        }
      });
    await eventually('nobody in it', async () => inIt().length === 0);
    assert.equal(await network(confinement, cwd), name);
    const open = await said(confinement, 'for one in /proc/$$/fd/*; do readlink "$one"; done', cwd);
    assert.doesNotMatch(open, /(?:net|user):/);
  });

  test('is let go of with the conversation, once nobody uses it', async () => {
    await using place = createGround();
    const { confinement, cwd } = place;
    const before = held();
    const server = await serve(confinement, cwd);
    assert.equal(held().length, before.length + 2);
    confinement.close();
    assert.equal(held().length, before.length + 2);
    await server.running.kill();
    await eventually('nothing is held', async () => held().length === before.length);
  });

  test('that cannot be made is replaced by one for each command, until it can', async () => {
    let isPossible = false;
    await using place = createGround({
      alter: altered((backend) => ({
        ...backend,
        makeNetwork: async () => {
          if (isPossible && backend.makeNetwork !== undefined) return backend.makeNetwork();
          throw new Error('no more namespaces');
        },
      })),
    });
    const { confinement, cwd } = place;
    await using alone = await serve(confinement, cwd);
    assert.equal(await said(confinement, ask(alone.port), cwd), '');
    const names = [await network(confinement, cwd), await network(confinement, cwd)];
    assert.equal(new Set([...names, readlinkSync('/proc/self/ns/net')]).size, 3);
    isPossible = true;
    assert.equal(await network(confinement, cwd), await network(confinement, cwd));
  });

  test('that cannot be entered keeps a command from running, and not the next one', async () => {
    let isBroken = true;
    await using place = createGround({
      alter: altered((backend) => ({
        ...backend,
        wrap: (argv, cwd, enclosure) => {
          const broken = isBroken ? { ...enclosure, network: BROKEN } : enclosure;
          isBroken = false;
          return backend.wrap(argv, cwd, broken);
        },
      })),
    });
    await assert.rejects(place.run('echo ran >ran'), /nothing was run: cannot open .*nothing/);
    assert.deepEqual(readdirSync(place.cwd), []);
    assert.equal((await place.run('echo ran')).stdout.text, 'ran\n');
  });

  for (const [what, nsenter] of [
    ['is missing', undefined],
    ['is refused', 'exit 1'],
    ['starts programs where it is itself', 'until [ "$1" = -- ]; do shift; done; shift; exec "$@"'],
  ] as const)
    test(`is left out where nsenter ${what}, and commands are confined all the same`, async () => {
      const folders: string[] = [];
      await using place = createGround({ sandbox: { only: 'bubblewrap', programs: folders } });
      const programs = join(place.cwd, 'programs');
      folders.push(programs);
      mkdirSync(programs);
      symlinkSync(findProgram('bwrap') ?? '', join(programs, 'bwrap'));
      if (nsenter !== undefined)
        writeFileSync(join(programs, 'nsenter'), `#!/bin/sh\n${nsenter}\n`, { mode: 0o755 });
      const { backend } = await place.sandbox.find();
      assert.deepEqual(
        [backend?.name, backend?.makeNetwork, backend?.gaps],
        ['bubblewrap', undefined, ['a server is reached by its own command alone']],
      );
      const { violations } = place;
      assert.match((await place.run('curl -sS http://127.0.0.1:3000; exit 7')).stdout.text, /connect/);
      assert.match(violations[0]?.detail ?? '', /each command's own/);
    });

  test('is none where bubblewrap makes none', async () => {
    await using place = createGround();
    const program = join(place.cwd, 'bwrap');
    writeFileSync(program, '#!/bin/sh\nuntil [ "$1" = -- ]; do shift; done; shift; exec "$@"\n', {
      mode: 0o755,
    });
    await assert.rejects(makeNetwork(program, place.exec.open), /is no user namespace of its own/);
    writeFileSync(program, '#!/bin/sh\nexit 1\n');
    await assert.rejects(makeNetwork(program, place.exec.open), /made no network/);
    assert.deepEqual(held(), []);
  });

  test('has a way to the allowed hosts for each command', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    try {
      const hosts = { hosts: ['localhost'], privateHosts: ['localhost'] };
      await using place = createGround({ policy: { network: hosts } });
      await using inside = await serve(place.confinement, place.cwd);
      const script = `curl -sS --noproxy "" -m 10 http://localhost:${port}/; ${ask(inside.port)}`;
      const results = await Promise.all([1, 2, 3].map(() => place.run(script)));
      assert.deepEqual(
        results.map(({ stdout }) => stdout.text),
        Array.from({ length: 3 }, () => 'helloserved\n'),
      );
      const other = place.another();
      assert.equal(await said(other, ask(inside.port), place.cwd), '');
      other.close();
    } finally {
      server.close();
    }
  });

  test('and what runs in it are gone when the host is killed', async () => {
    const mark = `crab-network-${process.pid}`;
    const script = `
      import { createGround } from ${JSON.stringify(join(ROOT, 'test/support/sandbox.ts'))};
      const place = createGround();
      const { open } = place.confinement.confined(() => {});
      const argv = ['bash', '-c', 'exec -a ${mark} sleep 300'];
      await open({ argv, cwd: place.cwd }, new AbortController().signal);
      await place.run('true');
      console.log(place.cwd);
      setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const cwd = (await once(host.stdout, 'data')).toString().trim();
    try {
      assert.equal((await processesWith(mark)).length > 1, true);
      host.kill('SIGKILL');
      await eventually('nothing runs', async () => (await processesWith(mark)).length === 0);
    } finally {
      host.kill('SIGKILL');
      rmSync(join(cwd, '..'), { recursive: true, force: true });
    }
  });
});

if (process.getuid?.() === 0)
  test('all of it holds for a user who owns nothing', { skip }, () => {
    // This checkout may lie in a folder that nobody else can enter, and programs have a `/tmp` of their own.
    const folder = mkdtempSync('/var/tmp/crab-nobody-');
    try {
      for (const part of ['src', 'test/support', 'package.json', 'node_modules/@lydell'])
        cpSync(join(ROOT, part), join(folder, part), { recursive: true, dereference: true });
      copyFileSync(process.execPath, join(folder, 'node'), constants.COPYFILE_FICLONE);
      chmodSync(folder, 0o755);
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const file = 'src/parts/sandbox/network.test.ts';
      const { stdout, status } = spawnSync(join(folder, 'node'), ['--test', '--test-reporter=tap', file], {
        cwd: folder,
        env: { ...env, HOME: '/nowhere' },
        uid: 65534,
        gid: 65534,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout);
      assert.match(stdout, /# skipped 0/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
