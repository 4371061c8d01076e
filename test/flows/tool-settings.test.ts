// Which tools there are, and the shell of commands, as the settings say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Journey, journey, onEachWire } from '../support/journey.ts';

const call = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({
  calls: [{ name, input }],
});

function settings({ work }: Journey, text: string): Promise<void> {
  return work.write(`${work.home}/.crab/config.toml`, text);
}

function told({ asked }: Journey): readonly string[] {
  const { messages = [] } = asked().at(-1) ?? {};
  return messages.flatMap((message) => (message.role === 'result' ? [message.text] : []));
}

onEachWire('only the tools of the settings are offered, and a flag chooses others', async (wire) => {
  await using at = await journey(wire, {
    script: [call('bash', { command: 'touch made' }), { text: 'Done.' }],
  });
  await settings(at, '[tools]\nonly = ["read", "Grep", "web_f*"]\n');
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  assert.deepEqual(at.asked()[0]?.tools, ['read', 'grep', 'web_fetch']);
  assert.match(told(at)[0] ?? '', /^bash is outside of the scope of crab\. The tools are: read, grep, /);
  await at.run(['-p', 'again', '--tools', 'ls']);
  assert.deepEqual(at.asked().at(-1)?.tools, ['ls']);
});

onEachWire('what the settings leave out is there for nobody, whatever a flag says', async (wire) => {
  await using at = await journey(wire, {
    script: [call('tool_search', { query: 'select:browser_click' }), { text: 'Done.' }],
  });
  await settings(at, '[tools]\nwithout = ["Bash", "browser_*", "web_fetsch"]\n');
  const first = await at.run(['-p', 'go']);
  assert.match(
    first.stderr,
    /There is no tool web_fetsch here that could be left out\. Did you mean web_fetch\?/,
  );
  const [request] = at.asked();
  assert.equal(request?.tools.includes('bash'), false);
  assert.equal(request?.tools.includes('read'), true);
  assert.doesNotMatch(request?.system ?? '', /browser_/);
  assert.match(told(at)[0] ?? '', /There is no tool browser_click/);
  await at.run(['-p', 'again', '--tools', 'bash,read']);
  assert.deepEqual(at.asked().at(-1)?.tools, ['read']);
});

onEachWire('commands run in the shell of the settings, behind its prefix', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('bash', { command: 'echo "$0 $greeting"' }),
      call('monitor', { command: 'test "$greeting" = hello && echo same' }),
      { text: 'Done.' },
    ],
  });
  await settings(at, '[shell]\nprogram = "/bin/sh"\nprefix = "greeting=hello"\n');
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  assert.deepEqual(told(at), ['/bin/sh hello', 'The command succeeded.\nsame']);
  const line = await at.run(['-p', '!echo "$0 $greeting"']);
  assert.equal(line.stdout, '/bin/sh hello\n');
});

test('a shell whose words mean something else is refused, with the line', async () => {
  await using at = await journey('anthropic', { script: [] });
  await settings(at, '[shell]\nprogram = "/usr/bin/fish"\n');
  const { code, stderr } = await at.run(['-p', 'go']);
  assert.equal(code, 2);
  assert.match(stderr, /config\.toml:2\b.*program.* must be the path of a bash, sh, dash or ash/);
});

test('a shell that is not there is named', async () => {
  await using at = await journey('anthropic', {
    script: [call('bash', { command: 'echo hi' }), { text: 'Done.' }],
  });
  await settings(at, '[shell]\nprogram = "/nowhere/bash"\n');
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  assert.match(told(at)[0] ?? '', /\/nowhere\/bash/);
  const line = await at.run(['-p', '!echo hi']);
  assert.equal(line.code, 1);
  assert.match(
    line.stderr,
    /^crab: .*\/nowhere\/bash does not exist\. \[command-failed\]\nMend what it names, /,
  );
});
