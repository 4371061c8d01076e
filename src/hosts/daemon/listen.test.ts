import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../test/support/processes.ts';
import { everything, type SmallDaemon, smallDaemon } from '../../../test/support/small-daemon.ts';
import { connect } from '../../protocol/client.ts';
import { sealFrame } from '../../protocol/frames.ts';
import { writeClientMessage } from '../../protocol/messages.ts';
import { dial } from './dial.ts';
import { isPipe, runFolder } from './run-folder.ts';
import { clientEnd } from './socket-connection.ts';

const TCP = { host: '127.0.0.1', port: 0 };
const HELLO = { version: 2, client: 'test', capabilities: [] };
const uid = process.getuid?.();

test('the run folder and what lies in it belong to one user, and nothing of it is left when the daemon stops', async () => {
  await using small = await smallDaemon({ listen: { tcp: TCP } });
  const { folder } = small.daemon;
  const modes = [folder.path, folder.socket, folder.jsonSocket, folder.token, folder.pid, folder.port].map(
    (path) => (statSync(path).mode & 0o777).toString(8),
  );
  assert.deepEqual(modes, ['700', '600', '600', '600', '600', '600']);
  await small.daemon.stop();
  const left = [folder.socket, folder.jsonSocket, folder.pid, folder.port].filter(
    (path) => statSync(path, { throwIfNoEntry: false }) !== undefined,
  );
  assert.deepEqual(left, []);
});

test('a socket that nobody answers at is taken over, and one that somebody answers at is not', async () => {
  const home = mkdtempSync(join(tmpdir(), 'crab-home-'));
  const folder = runFolder(home);
  mkdirSync(folder.path, { mode: 0o700 });
  const other = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => other.listen(folder.socket, resolve));
  await assert.rejects(smallDaemon({ home }), /Somebody answers at .*daemon\.sock already\./);
  // As a killed process leaves it: the name stays, and nobody listens.
  const kept = `${folder.socket}.kept`;
  linkSync(folder.socket, kept);
  await new Promise((resolve) => other.close(resolve));
  renameSync(kept, folder.socket);
  {
    await using small = await smallDaemon({ home });
    await (await small.client()).request('ping', {}, 'pong');
  }
  rmSync(home, { recursive: true });
});

test('what stands in the way of a socket and is none is refused, and stays', async () => {
  const home = mkdtempSync(join(tmpdir(), 'crab-home-'));
  const folder = runFolder(home);
  mkdirSync(folder.path, { mode: 0o700 });
  writeFileSync(folder.socket, 'mine');
  await assert.rejects(smallDaemon({ home }), /daemon\.sock is no socket\./);
  rmSync(folder.socket);
  symlinkSync('/tmp/elsewhere.sock', folder.socket);
  await assert.rejects(smallDaemon({ home }), /daemon\.sock is a link\./);
  rmSync(folder.path, { recursive: true });
  symlinkSync(tmpdir(), folder.path);
  await assert.rejects(smallDaemon({ home }), /run is a link\./);
  await assert.rejects(dial({ home, uid, name: 'test' }), /run is a link\./);
  rmSync(home, { recursive: true });
});

test('a folder of somebody else’s is no place for a daemon, and a client does not speak to one there', async () => {
  const home = mkdtempSync(join(tmpdir(), 'crab-home-'));
  mkdirSync(runFolder(home).path, { mode: 0o700 });
  const another = (uid ?? 0) + 1;
  await assert.rejects(smallDaemon({ home, uid: another }), /belongs to user \d+, and this is user \d+\./);
  await assert.rejects(dial({ home, uid: another, name: 'test' }), /belongs to user/);
  rmSync(home, { recursive: true });
});

test('a daemon that says nothing is not waited for', async () => {
  const home = mkdtempSync(join(tmpdir(), 'crab-home-'));
  const folder = runFolder(home);
  mkdirSync(folder.path, { mode: 0o700 });
  const deaf = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => deaf.listen(folder.socket, resolve));
  await assert.rejects(dial({ home, uid, name: 'test', helloMs: 1 }), {
    code: 'daemon-failed',
    message: 'The daemon said nothing for 0.001 s.',
    hint: `Its process is in ${folder.pid}, and \`crab daemon logs\` tells what it said before.`,
  });
  // The connection is given up, too: this waits for it.
  await new Promise((resolve) => deaf.close(resolve));
  rmSync(home, { recursive: true });
});

test('a path that is too long for a socket is told with its length', async () => {
  const home = join(mkdtempSync(join(tmpdir(), 'crab-home-')), 'x'.repeat(100));
  await assert.rejects(
    smallDaemon({ home }),
    /The path of a socket has at most 10[37] bytes, and .* has \d+\./,
  );
  rmSync(join(home, '..'), { recursive: true });
});

test('a port that is in use is told, and addresses of other machines are refused', async () => {
  await using first = await smallDaemon({ listen: { tcp: TCP } });
  const port = first.daemon.port ?? 0;
  await assert.rejects(
    smallDaemon({ listen: { tcp: { host: '127.0.0.1', port } } }),
    /127\.0\.0\.1 port \d+ is in use; another daemon may be running\./,
  );
  await assert.rejects(
    smallDaemon({ listen: { tcp: { host: '0.0.0.0', port: 0 } } }),
    /0\.0\.0\.0 is not this machine/,
  );
});

test('by TCP nothing is answered before the token, and the right one opens', async () => {
  await using small = await smallDaemon({ listen: { tcp: TCP } });
  const dialTcp = () => clientEnd(connectSocket({ host: '127.0.0.1', port: small.daemon.port ?? 0 }));
  await assert.rejects(connect(dialTcp(), HELLO), /The token is not the right one\./);
  await assert.rejects(
    connect(dialTcp(), { ...HELLO, token: '0'.repeat(64) }),
    /The token is not the right one/,
  );
  const { client } = await connect(dialTcp(), { ...HELLO, token: await small.token() });
  const { sessions } = await client.request('sessions', {}, 'sessions');
  client.close();
  assert.deepEqual(sessions, []);
  assert.match(small.logged.join('\n'), /tcp 127\.0\.0\.1:\d+ showed a token that is not the right one/);
  assert.ok(!small.logged.join('\n').includes(await small.token()));
});

test('who does not say who they are is closed in time, and cannot send a large frame before', async () => {
  await using small = await smallDaemon({ listen: { tcp: TCP, limits: { greetingMs: 50 } } });
  const dialTcp = ({ daemon }: SmallDaemon) => connectSocket({ host: '127.0.0.1', port: daemon.port ?? 0 });
  assert.equal((await everything(dialTcp(small))).length, 0);
  await using patient = await smallDaemon({ listen: { tcp: TCP } });
  const socket = dialTcp(patient);
  socket.write(Uint8Array.from([0, 1, 0, 1]));
  assert.match(
    (await everything(socket)).toString('latin1'),
    /A frame of 65537 bytes is larger than 65536 allow/,
  );
});

test('more clients than there may be are told so, and another finds room when one has left', async () => {
  await using small = await smallDaemon({ listen: { limits: { clients: 2 } } });
  const first = await small.client();
  await small.client();
  await assert.rejects(small.client(), /2 clients are connected, as many as there may be\./);
  assert.match((await everything(small.socket('jsonSocket'))).toString(), /"type":"Error","code":503/);
  first.close();
  await eventually('there is room again', async () => {
    const client = await small.client().catch(() => undefined);
    return client !== undefined;
  });
});

test('a client that does not read is cut off, and neither the run nor another client waits for it', async () => {
  await using small = await smallDaemon({ listen: { limits: { stallMs: 200 } } });
  const deaf = small.socket();
  deaf.pause();
  const message = { agent: 'crab', content: 'flood 1600', sender: 'deaf' };
  deaf.write(sealFrame(writeClientMessage({ requestId: 1, message: { case: 'stream', value: message } }, 4)));
  const client = await small.client();
  await eventually('the run is over', async () => {
    const { totalRuns } = await client.request('getStats', {}, 'stats');
    return totalRuns === 1;
  });
  await eventually('the deaf client is gone', async () => {
    const { clients } = await client.request('getStats', {}, 'stats');
    return clients === 1;
  });
  const { content } = await client.request('send', { agent: 'crab', content: 'hi' }, 'response');
  assert.equal(content, 'hi to user');
});

test('where there are pipes, the name of one tells the user and the home, and nothing else counts', () => {
  const at = (home: string, user: string, platform: NodeJS.Platform = 'win32') => {
    const { socket, jsonSocket } = runFolder(home, { platform, user });
    return [socket, jsonSocket];
  };
  const [pipe = '', json] = at('C:\\Users\\Ann\\.crab', 'Ann');
  assert.match(pipe, /^\\\\\.\\pipe\\crab-ann-[0-9a-f]{16}$/);
  assert.equal(json, `${pipe}-json`);
  assert.deepEqual(at('c:\\users\\ann\\.crab\\', 'ANN'), [pipe, json]);
  const others = [
    ...at('C:\\Users\\Ann\\.crab', 'Bob'),
    ...at('D:\\Users\\Ann\\.crab', 'Ann'),
    ...at('C:\\Users\\Ann\\.crab2', 'Ann'),
  ];
  assert.equal(new Set([pipe, json, ...others]).size, 8);
  assert.match(
    at('C:\\x', 'Ünder Wäre/\\..\\'.repeat(9))[0] ?? '',
    /^\\\\\.\\pipe\\crab-[a-z0-9._-]{1,32}-[0-9a-f]{16}$/,
  );
  assert.deepEqual(at('/home/ann/.crab', 'ann', 'linux'), [
    '/home/ann/.crab/run/daemon.sock',
    '/home/ann/.crab/run/daemon-json.sock',
  ]);
  assert.deepEqual([pipe, '/run/daemon.sock'].map(isPipe), [true, false]);
});
