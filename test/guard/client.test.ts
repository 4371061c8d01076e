// `crab/client` as somebody else's program has it: from the packed package, in Node and in a page of a real browser, against
// a daemon of the same package. What the guide tells people to run is what runs here.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import type * as client from '../../src/client/node.ts';
import type { Script } from '../../src/dev/scenario.ts';
import { cleanEnv } from '../support/crab.ts';
import { cutter } from '../support/cutter.ts';
import { daemonFor } from '../support/daemon.ts';
import { fakeProvider } from '../support/fake-provider.ts';
import { NO_BROWSER, openPage } from '../support/page.ts';
import { tempWorkspace } from '../support/workspace.ts';
import { installPackage } from './install-package.ts';
import { ROOT } from './planted-tree.ts';

const run = promisify(execFile);

type Package = Awaited<ReturnType<typeof installPackage>>;

let library: typeof client;
let at: Awaited<ReturnType<typeof started>>;

before(async () => {
  const folder = await installPackage();
  const path = join(folder.path, 'node_modules', manifest.name, 'client/node.js');
  library = await import(pathToFileURL(path).href);
  at = await started(folder);
});

after(() => at[Symbol.asyncDispose]());

/** It stops in its middle until the connection is cut. */
const LONG = [...Array(20).fill('word '), 'halfway ', ...Array(40).fill('word '), 'end.'];

/** Each conversation has its own script, chosen by the first thing that is said in it. */
const SCRIPTS: readonly Script[] = [
  { when: 'What is here?', replies: [{ text: ['It holds ', 'nothing.'] }, { text: ['Still ', 'nothing.'] }] },
  { when: 'Count.', replies: [{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }] },
  { when: 'Go on.', replies: [{ text: LONG, delayMs: 1 }] },
  {
    when: 'Make it.',
    replies: [{ calls: [{ name: 'bash', input: { command: 'touch made' } }] }, { text: 'It is made.' }],
  },
  {
    when: 'Who is there?',
    replies: [
      { text: ['A ', 'page.'] },
      { calls: [{ name: 'bash', input: { command: 'touch by-page' } }] },
      { text: 'It is made.' },
      { text: 'Here again.' },
    ],
  },
];

/** One daemon behind all its doors, and the folder that the example's page tells people to serve. */
async function started(folder: Package) {
  const work = await tempWorkspace({}, { git: false });
  const provider = await fakeProvider({ scripts: SCRIPTS });
  const site = await website(folder.path);
  const env = { ...cleanEnv(work.home), ...provider.env('anthropic') };
  const serve = ['--port', '0', '--origin', `http://localhost:${site.port}`];
  const daemon = await daemonFor({ cwd: work.path, env, serve });
  const run = join(work.home, '.crab/run');
  return {
    folder,
    work,
    provider,
    site,
    env,
    socket: join(run, 'daemon.sock'),
    url: daemon.url,
    token: (await readFile(join(run, 'serve.token'), 'utf8')).trim(),
    async [Symbol.asyncDispose]() {
      for (const owned of [daemon, provider, site, work, folder]) await owned[Symbol.asyncDispose]();
    },
  };
}

test('the example runs from the package over its socket and over WebSocket, and its types are right', async () => {
  const program = join(at.folder.path, 'client.mts');
  await copyFile(join(ROOT, 'examples/client.ts'), program);
  const ask = (address: string, env: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, [program, address, 'What is here?'], {
      cwd: at.work.path,
      env: { ...at.env, ...env },
    });
  const near = await ask(at.socket);
  assert.equal(near.stdout, 'It holds nothing.\n');
  assert.match(near.stderr, /crab\/example in \/\S+work, 2 messages\n$/);
  const far = await ask(at.url, { CRAB_TOKEN: at.token });
  assert.equal(far.stdout, 'Still nothing.\n');
  assert.match(far.stderr, /crab\/example in \/\S+work, 4 messages\n$/);
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'esnext',
      lib: ['esnext'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    files: [program],
  };
  await writeFile(join(at.folder.path, 'tsconfig.json'), JSON.stringify(config));
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', at.folder.path], { cwd: at.folder.path }).catch(
    ({ stdout: said }: { readonly stdout: string }) => assert.fail(said),
  );
});

for (const way of ['a socket', 'WebSocket'] as const)
  test(`over ${way} a watch and a prompt go on where they were when their connection was cut`, async () => {
    const middle = join(at.work.home, 'middle.sock');
    const port = Number(new URL(at.url).port);
    await using line =
      way === 'a socket'
        ? await cutter({ path: at.socket }, { path: middle })
        : await cutter({ host: '127.0.0.1', port });
    const [whole, cut] = way === 'a socket' ? [at.socket, middle] : [at.url, `ws://127.0.0.1:${line.port}`];
    using steady = await library.connect(whole, { token: at.token });
    using shaky = await library.connect(cut, { token: at.token, retryMs: 5 });
    const talk = { agent: 'crab', sender: `library over ${way}` };
    await steady.send({ ...talk, content: 'Count.', cwd: at.work.path });
    const seqs: number[] = [];
    const texts: string[] = [];
    for await (const { seq, event, gap } of shaky.watch(talk, 0)) {
      assert.equal(gap, false);
      seqs.push(seq);
      if (event.type !== 'runEnd') continue;
      texts.push(event.text);
      if (texts.length === 3) break;
      line.cut();
      await steady.send({ ...talk, content: 'Next.' });
    }
    assert.deepEqual(texts, ['One.', 'Two.', 'Three.']);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index),
    );
    // A conversation of its own, cut in the middle of an answer.
    const { address } = await shaky.enter({ agent: 'crab', cwd: at.work.path });
    const goOn = at.provider.hold('halfway');
    let said = '';
    for await (const { event } of shaky.prompt(address, { text: 'Go on.' })) {
      if (event.type !== 'contentDelta') continue;
      said += event.delta;
      if (!said.endsWith('halfway ')) continue;
      line.cut();
      goOn();
    }
    assert.equal(said, LONG.join(''));
    await assert.rejects(steady.kill({ agent: 'crab', sender: 'nobody' }), { code: 'session-unknown' });
    await steady.ping();
    assert.equal((await steady.stats()).version, manifest.version);
    const own = [talk.sender, address.sender];
    const listed = (await steady.sessions()).filter(({ sender }) => own.includes(sender));
    assert.deepEqual(
      listed.map(({ sender, running }) => [sender, running]),
      own.map((sender) => [sender, false]),
    );
  });

test('errors over WebSocket have their types, and a call is allowed by whoever answers', async () => {
  const { connect, CrabError, RequestFailure } = library;
  const isOf = (Kind: typeof CrabError | typeof RequestFailure, code: string | number) => (error: unknown) =>
    error instanceof Kind && error.code === code;
  await assert.rejects(connect(at.url, { token: 'wrong' }), isOf(RequestFailure, 401));
  await assert.rejects(connect(at.url), isOf(RequestFailure, 401));
  await assert.rejects(connect('ws://127.0.0.1:9'), isOf(CrabError, 'daemon-failed'));
  using crab = await connect(at.url, { token: at.token, retries: 0 });
  await assert.rejects(crab.mcps('nobody'), isOf(RequestFailure, 404));
  const conversation = { agent: 'crab', sender: 'errors' };
  let said = '';
  for await (const { case: kind, value } of crab.stream({
    ...conversation,
    content: 'Make it.',
    cwd: at.work.path,
  })) {
    if (kind === 'chunk') said += value.content;
    if (kind !== 'permissionRequest') continue;
    await crab.replyToPermission({ ...conversation, id: value.id, allowed: true });
    await assert.rejects(
      crab.replyToPermission({ ...conversation, id: value.id, allowed: false }),
      isOf(RequestFailure, 409),
    );
  }
  assert.equal(said, 'It is made.');
  assert.equal(await at.work.read('made'), '');
  crab.close();
  await assert.rejects(crab.ping(), isOf(RequestFailure, 503));
});

test('what is too large to be sent fails by itself, and what is no address is none', async () => {
  const { connect } = library;
  for (const address of [at.socket, at.url]) {
    using crab = await connect(address, { token: at.token, retries: 0 });
    const payload = 'ä'.repeat(8 * 1024 * 1024);
    await assert.rejects(crab.publish({ source: 'x', payload }), {
      ...{ name: 'RequestFailure', code: 413 },
      message: /^A frame of \d+ bytes is larger than 16777216 allow\.$/,
    });
    await crab.ping();
  }
  for (const address of ['http://127.0.0.1:6689', 'ws://', 'tcp://127.0.0.1:port'])
    await assert.rejects(connect(address), { code: 'usage', message: `${address} is no address of a Crab.` });
});

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', html: 'text/html' };

/** The page of the example with the package beside it. */
async function website(folder: string) {
  const server = createServer(async (request, answer) => {
    const path = normalize(new URL(request.url ?? '/', 'http://x').pathname);
    const file = path === '/client.html' ? join(ROOT, 'examples', path) : join(folder, path);
    try {
      const body = await readFile(file);
      answer.writeHead(200, { 'content-type': TYPES[path.split('.').at(-1) ?? ''] ?? 'text/plain' });
      answer.end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('the page of the example talks to a daemon that lets its origin in, and to no other', {
  skip: NO_BROWSER,
}, async () => {
  await using line = await cutter({ host: '127.0.0.1', port: Number(new URL(at.url).port) });
  const page = `:${at.site.port}/client.html`;
  await using browser = await openPage();
  await browser.go(`http://localhost${page}`);
  await browser.evaluate(`(() => {
    const { send } = WebSocket.prototype;
    const seen = new Set();
    window.ended = 0;
    WebSocket.prototype.send = function (text) {
      if (!seen.has(this)) this.addEventListener('close', () => window.ended++);
      seen.add(this);
      send.call(this, text);
    };
  })()`);
  const ask = async (question: string, answer: string) => {
    await browser.evaluate(`(() => {
      const form = document.querySelector('form');
      form.address.value = ${JSON.stringify(`ws://127.0.0.1:${line.port}`)};
      form.token.value = ${JSON.stringify(at.token)};
      form.question.value = ${JSON.stringify(question)};
      form.requestSubmit();
    })()`);
    const shown = `document.querySelector('#said').textContent`;
    await browser.until(`${shown} === ${JSON.stringify(answer)}`, shown);
  };
  await ask('Who is there?', 'A page.');
  await ask('Make it.', 'It is made.');
  assert.equal(browser.asked.length, 1);
  assert.match(browser.asked[0] ?? '', /^bash wants to run:\nbash \{"command":"touch by-page"\}\n/);
  // The page does nothing about a connection that is lost: the library finds the way back.
  line.cut();
  await browser.until('window.ended === 1', 'window.ended');
  await ask('Are you there?', 'Here again.');
  assert.equal(line.connections, 2);
  // The same page of another origin, with the right token.
  await browser.go(`http://127.0.0.1${page}`);
  const refused = `import('/node_modules/${manifest.name}/client/browser.js')
    .then(({ connect }) => connect(${JSON.stringify(at.url)}, { token: ${JSON.stringify(at.token)} }))
    .then(() => 'let in', (error) => error.name + ' ' + error.code)`;
  assert.equal(await browser.evaluate(refused), 'CrabError daemon-failed');
});
