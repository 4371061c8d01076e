// `crab --remote`: the commands of one machine, the work of another. Two processes with a home and a folder each; what
// crosses from one to the other is looked at where a model would see it.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { authority } from '../support/authority.ts';
import { cutter } from '../support/cutter.ts';
import { type Journey, journey, linesOf, onEachWire, resultOf } from '../support/journey.ts';
import { until } from '../support/remote-door.ts';
import { newToken, serve } from '../support/serving.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

const SECRET = 'a word of this machine alone';

/** A machine with files and settings that must not leave it. */
async function machine(): Promise<Workspace & { readonly token: string }> {
  const here = await tempWorkspace({ 'AGENTS.md': SECRET, 'note.txt': SECRET }, { git: false });
  await here.write('.crab/config.toml', '[permissions]\ndeny = ["Bash"]\n');
  return Object.assign(here, { token: join(here.home, 'token') });
}

async function ownerToken(there: Journey, path: string): Promise<void> {
  const token = await readFile(join(there.work.home, '.crab/run/serve.token'), 'utf8');
  await writeFile(path, token, { mode: 0o600 });
}

onEachWire('the work is done there, and nothing of this machine goes along', async (wire) => {
  await using there = await journey(wire, {
    files: { 'AGENTS.md': 'A word of the other machine.' },
    script: [
      { calls: [{ name: 'bash', input: { command: 'cat note.txt && pwd' } }] },
      { text: 'It is all there.' },
      { text: 'As you said.' },
    ],
  });
  await there.work.write('note.txt', 'a note of the other machine');
  await using here = await machine();
  await using lab = await serve(there);
  await ownerToken(there, here.token);
  const run = (...args: readonly string[]) =>
    there.run(args, { cwd: here.path, home: here.home, env: { ANTHROPIC_API_KEY: undefined } });
  const remote = ['--remote', lab.url, '--remote-token-file', here.token];
  const there_ = ['--remote-cwd', there.work.path];
  const first = await run('-p', 'look', ...remote, ...there_, '--output-format', 'json', '--name', 'far');
  assert.equal(first.code, 0, first.stderr);
  assert.equal(resultOf(first)['result'], 'It is all there.');
  const session = String(resultOf(first)['session_id']);
  const [asked] = there.asked();
  assert.ok(!JSON.stringify(asked).includes(SECRET), 'a file of this machine went along');
  assert.ok(!JSON.stringify(asked).includes(here.path), 'the folder of this machine went along');
  assert.ok(JSON.stringify(asked).includes('A word of the other machine.'));
  const result = there.asked().at(-1)?.messages.at(-1)?.text ?? '';
  assert.match(result, /a note of the other machine/);
  assert.ok(result.includes(there.work.path));
  const again = await run('-p', 'go on', ...remote, '--resume', session);
  assert.deepEqual([again.stdout, again.code], ['As you said.\n', 0], again.stderr);
  assert.ok(JSON.stringify(there.asked().at(-1)?.messages).includes('It is all there.'));
  // Nothing was kept here.
  await assert.rejects(readFile(join(here.home, '.crab/sessions')), { code: 'ENOENT' });
  const [file, ...others] = await there.sessions();
  assert.deepEqual(others, []);
  assert.ok(JSON.stringify(file).includes('"name":"far"'));
  await lab.stop();
});

test('in a conversation the agents of the other side can be asked as guests', async () => {
  await using there = await journey('anthropic', { script: [{ text: 'I am the scout.' }] });
  await there.work.write(
    '../home/.crab/agents/scout.toml',
    'description = "looks"\nprompt = "You are the scout."\n',
  );
  await using here = await machine();
  await using lab = await serve(there);
  await ownerToken(there, here.token);
  const args = ['chat', '--remote', lab.url, '--remote-token-file', here.token];
  const { stdout } = await there.run(args, {
    cwd: here.path,
    home: here.home,
    stdin: '@scout who are you?\n',
  });
  assert.match(stdout, /@ scout\nI am the scout\.\n/);
  assert.match(there.asked()[0]?.system ?? '', /^You are the scout\./);
});

test('what cannot be meant there is refused before anything is sent', async () => {
  await using there = await journey('anthropic', { script: [{ text: 'Never.' }] });
  await using here = await machine();
  const run = async (...args: readonly string[]) => {
    const { code, stderr, stdout } = await there.run(['-p', 'x', ...args], {
      cwd: here.path,
      home: here.home,
    });
    assert.equal(stdout, '');
    return [code, stderr.split('\n')[0]];
  };
  await here.write('lab.toml', '[remotes.lab]\nurl = "wss://127.0.0.1:9"\n');
  const token = ['--remote-token-file', here.token];
  await writeFile(here.token, 'one-that-is-not-the-right-one-at-all');
  const url = 'ws://127.0.0.1:9';
  assert.deepEqual(
    [
      await run('--remote', url, ...token, '--tools', 'bash'),
      await run('--remote', url, ...token, '--no-daemon'),
      await run('--remote', url, ...token, '--session', './one.jsonl'),
      await run('--remote', 'laboratory'),
      await run('--remote', 'ws://lab.example', ...token),
      await run('--remote', `${url}?token=x`, ...token),
      await run('--remote', url),
      await run('--remote', 'lab', '--config', 'lab.toml'),
      await run('--remote', url, '--remote-token-file', 'note.txt'),
      await run('--remote', 'https://lab.example', ...token),
      await run('--remote-cwd', '/srv'),
    ],
    [
      [2, 'crab: --tools and --remote cannot be used together. [usage]'],
      [2, 'crab: --no-daemon and --remote cannot be used together. [usage]'],
      [2, 'crab: --session names a file of this machine. [usage]'],
      [2, 'crab: There is no [remotes.laboratory] in the settings, and it is no address. [usage]'],
      [2, 'crab: The token would be readable on the way to lab.example: use wss. [usage]'],
      [2, 'crab: The address of a remote carries no token and no query. [usage]'],
      [3, `crab: There is no token for ${url}. [auth-missing]`],
      [3, 'crab: There is no token for lab. [auth-missing]'],
      [2, 'crab: note.txt holds no token: one line of letters and digits. [settings-invalid]'],
      [2, 'crab: https://lab.example is no address of a Crab. [usage]'],
      [2, 'crab: --remote-cwd needs --remote: it is about a Crab elsewhere. [usage]'],
    ],
  );
  const [code, refused] = await run('--remote', url, ...token);
  assert.equal(code, 8);
  assert.match(
    String(refused),
    /^crab: 127\.0\.0\.1:9 could not be reached: the connection was refused \(ECONNREFUSED\)\. \[remote-failed\]$/,
  );
  await using lab = await serve(there);
  const [denied, why] = await run('--remote', lab.url, ...token);
  assert.equal(denied, 3);
  assert.match(String(why), /it said 401: The token is not good\. \[remote-refused\]$/);
  assert.deepEqual(there.asked(), []);
});

test('over TLS a stored token is shown to whom the authority knows, and to nobody else', async () => {
  await using there = await journey('anthropic', { script: [{ text: 'Over TLS.' }] });
  await using here = await machine();
  using ca = authority();
  const { certFile, keyFile } = ca.issue();
  const token = await newToken(there, ['--sub', 'ann']);
  await using lab = await serve(there, ['--host', '::', '--tls-cert', certFile, '--tls-key', keyFile]);
  const settings = (more: string) => `[remotes.lab]\nurl = "wss://localhost:${lab.port}"\n${more}`;
  const run = (args: readonly string[], stdin?: string) =>
    there.run(args, { cwd: here.path, home: here.home, ...(stdin !== undefined && { stdin }) });
  await here.write('../home/.crab/config.toml', settings(''));
  const stored = await run(['auth', 'login', 'remote:lab', '--store', 'file'], `${token}\n`);
  assert.equal(stored.code, 0, stored.stderr);
  const stranger = await run(['-p', 'x', '--remote', 'lab']);
  assert.equal(stranger.code, 8);
  assert.match(stranger.stderr, /^crab: The TLS connection to localhost:\d+ failed: .*certificate/);
  assert.match(stranger.stderr, /^Name its certificate, .* as ca_file of \[network\] in the settings\.$/m);
  await here.write('../home/.crab/config.toml', settings(`[network]\nca_file = "${ca.caFile}"\n`));
  const known = await run(['-p', 'x', '--remote', 'lab']);
  assert.deepEqual([known.stdout, known.code], ['Over TLS.\n', 0], known.stderr);
});

test('whoever has a token for one agent talks to it in a conversation of their own', async () => {
  await using there = await journey('anthropic', {
    script: [
      { calls: [{ name: 'bash', input: { command: 'touch made' } }] },
      { text: 'I may not.' },
      { text: 'Again.' },
    ],
  });
  await using here = await machine();
  await writeFile(here.token, await newToken(there, ['--sub', 'ann', '--agents', 'crab']), { mode: 0o600 });
  await using lab = await serve(there);
  const remote = ['--remote', lab.url, '--remote-token-file', here.token];
  const run = (...args: readonly string[]) =>
    there.run(['-p', ...remote, ...args], { cwd: here.path, home: here.home });
  const first = await run('make it', '--output-format', 'stream-json');
  assert.equal(resultOf(first)['result'], 'I may not.', first.stderr);
  assert.match(JSON.stringify(linesOf(first)), /bash is outside of the scope of crab/);
  assert.deepEqual(
    ['bash', 'read'].map((name) => there.asked()[0]?.tools.includes(name)),
    [false, true],
  );
  const second = await run('and now?');
  assert.equal(second.stdout, 'Again.\n', second.stderr);
  // It is the same session: they have one.
  assert.ok(JSON.stringify(there.asked().at(-1)?.messages).includes('make it'));
  const texts = [];
  for (const args of [
    ['--remote-cwd', '/', 'x'],
    ['--resume', '01J', 'x'],
    ['--permission-mode', 'bypassPermissions', 'x'],
    ['!touch made'],
    ['--agent', 'other', 'x'],
  ]) {
    const { code, stderr } = await run(...args);
    assert.notEqual(code, 0);
    texts.push(/The token of ann may not [^.[]*/.exec(stderr)?.[0]);
  }
  assert.deepEqual(texts, [
    'The token of ann may not choose a folder',
    'The token of ann may not choose a session',
    'The token of ann may not change it with setMode',
    'The token of ann may not begin a line with a comma, / or !',
    'The token of ann may not reach the agent "other"',
  ]);
  assert.equal(there.asked().length, 3);
});

test('from elsewhere the shell is there for whom the settings name, and no conversation of more than that', async () => {
  const touch = { calls: [{ name: 'bash', input: { command: 'touch made' } }] };
  await using there = await journey('anthropic', {
    script: { scripts: [{ when: 'make', replies: [touch] }] },
  });
  await using here = await machine();
  await there.work.write(`${there.work.home}/.crab/config.toml`, '[daemon]\nshell_senders = ["ann"]\n');
  const token = (sub: string) => newToken(there, ['--sub', sub, '--agents', 'crab']);
  const tokens = { ann: await token('ann'), bob: await token('bob') };
  await using lab = await serve(there);
  const run = async (sub: keyof typeof tokens) => {
    await writeFile(here.token, tokens[sub], { mode: 0o600 });
    const remote = ['--remote', lab.url, '--remote-token-file', here.token];
    const args = ['-p', ...remote, 'make it', '--output-format', 'stream-json'];
    return there.run(args, { cwd: here.path, home: here.home });
  };
  assert.match(JSON.stringify(linesOf(await run('ann'))), /Nobody can be asked here, so it is refused/);
  const owners = JSON.stringify({ agent: 'crab', sender: 'bob', content: 'hello', cwd: there.work.path });
  assert.equal((await there.run(['rpc', 'send', owners])).code, 0);
  const asked = there.asked().length;
  assert.match((await run('bob')).stderr, /opened without what this command asks for: .*no bash/);
  assert.equal(there.asked().length, asked);
});

test('an answer goes on where it was when the connection is cut, with no word twice and none missing', async () => {
  const pieces = Array.from({ length: 120 }, (_, at) => `w${at} `);
  const words = `${pieces.join('')}end`;
  await using there = await journey('anthropic', { script: [{ text: [...pieces, 'end'], delayMs: 1 }] });
  const [first, second] = [there.provider.hold('w20 '), there.provider.hold('w60 ')];
  await using here = await machine();
  await using lab = await serve(there);
  await ownerToken(there, here.token);
  await using line = await cutter({ host: '127.0.0.1', port: lab.port });
  const remote = ['--remote', `ws://127.0.0.1:${line.port}`, '--remote-token-file', here.token];
  await using crab = there.start(
    ['-p', 'count', ...remote, '--output-format', 'stream-json', '--include-partial-messages'],
    { cwd: here.path, home: here.home },
  );
  crab.stdin.end();
  const heard = () => textIn(crab.stdout);
  await until(() => heard().includes('w20 '), 'the beginning of the answer');
  line.cut();
  first();
  await until(() => heard().includes('w60 '), 'more of the answer');
  line.cut();
  second();
  const exit = await crab.exited;
  assert.equal(exit.code, 0, exit.stderr);
  assert.equal(textIn(exit.stdout), words);
  assert.equal(line.connections, 3);
  assert.equal(resultOf(exit)['result'], words);
  assert.equal(there.asked().length, 1);
  assert.match(exit.stderr, /was lost; it is tried again\.\n[\s\S]*is there again\.\n/);
});

/** Of the pieces of an answer, in lines that may end in the middle of one. */
function textIn(stdout: string): string {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
  return linesOf({ stdout: whole })
    .flatMap(({ event }) => {
      const { type, delta } = Object(event) as { type?: string; delta?: { text?: string } };
      return type === 'content_block_delta' && delta?.text !== undefined ? [delta.text] : [];
    })
    .join('');
}
