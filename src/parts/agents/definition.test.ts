import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentProfile } from '../../core/agent.ts';
import { tomlOf, withValues } from './agent-toml.ts';
import { readDefinition } from './definition.ts';
import { type Grants, scopeOf } from './scope.ts';

const fault = (path: string, text: string) =>
  readDefinition(path, text).then(
    () => 'none',
    (error) => error.message,
  );

describe('a definition', () => {
  it('says the same in both forms', async () => {
    const toml = `description = "Looks: a lot"\nmodel = "a/b"\neffort = "high"\ntools = ["read", "mcp__x__*"]\nskills = ["s"]
mode = "plan"\nmemory = false\nprompt = "You look."\n[limits]\nturns = 3\n[mcps.x]\ncommand = "y"\n`;
    const md = `---\ndescription: Looks: a lot\nmodel: a/b\neffort: high\ntools:\n  - read\n  - mcp__x__*\nskills: [s]
mode: plan\nmemory: false\nlimits:\n  turns: 3\n---\nYou look.\n`;
    const [one, other] = [await readDefinition('/a/eye.toml', toml), await readDefinition('/a/eye.md', md)];
    const { mcps, ...agent } = one.profile.agent;
    assert.deepEqual(mcps, { x: { command: 'y' } });
    const loadsNone = 'skills (s) are left out: this version of Crab loads none.';
    assert.deepEqual(one.profile.notes, [
      loadsNone,
      'mcps (x) are left out: this version of Crab starts no servers.',
    ]);
    assert.deepEqual({ ...one.profile, agent, notes: [loadsNone] }, other.profile);
    assert.deepEqual(other.profile, {
      agent: {
        name: 'eye',
        model: 'a/b',
        effort: 'high',
        tools: ['read', 'mcp__x__*', 'delegate'],
        skills: ['s'],
      },
      description: 'Looks: a lot',
      prompt: 'You look.',
      mode: 'plan',
      limits: { turns: 3 },
      notes: [loadsNone],
    });
    const again = await readDefinition('/a/eye.toml', tomlOf(one.profile));
    assert.deepEqual(again.profile, one.profile);
  });

  it('understands what other tools write', async () => {
    const claude = `---\nname: reviewer\ndescription: >\n  Reviews code,\n  kindly\ntools: Read, Grep, Bash(git diff *), Bash(git log *)\nmodel: inherit\nmcpServers: [github]\n---\nBody: with a colon\n---\nand a line\n`;
    const { profile } = await readDefinition('/x/r.md', claude);
    assert.deepEqual(profile.agent.tools?.slice(0, 3), ['Read', 'Grep', 'Bash']);
    assert.equal(profile.description, 'Reviews code, kindly');
    assert.equal(profile.prompt, 'Body: with a colon\n---\nand a line');
    assert.deepEqual(profile.notes, [
      'mcpServers is left out: servers are given by value, in a TOML file.',
      'tools: Bash(git diff *) is read as Bash; what it may do with it is for permission rules.',
      'tools: Bash(git log *) is read as Bash; what it may do with it is for permission rules.',
    ]);
  });

  it('takes away what other tools take away, and tells of what it leaves out', async () => {
    const heads: Readonly<Record<string, Partial<AgentProfile> & Pick<AgentProfile, 'agent'>>> = {
      'disallowedTools: Write, Bash(rm *)\nmemory: false': {
        agent: { name: 'x', withoutTools: ['Write', 'Bash', 'remember', 'forget', 'recall'] },
        notes: ['disallowedTools: Bash(rm *) takes away all of Bash; a permission rule can be finer.'],
      },
      'mode: subagent\nsteps: 4\ntools:\n  write: false\n  "mcp_*": false\n  read: true': {
        agent: { name: 'x', withoutTools: ['write', 'mcp_*'] },
        limits: { turns: 4 },
      },
      'tools:\n  "*": false\n  read: true\nmemory: false': {
        agent: { name: 'x', tools: ['read', 'delegate'] },
      },
      'permission:\n  edit: deny\n  bash:\n    "git *": allow\n    "*": ask\n  webfetch: deny': {
        agent: { name: 'x', withoutTools: ['edit', 'write', 'apply_patch', 'notebook_edit', 'webfetch'] },
        notes: ['permission.bash is left out: what is asked about is for permission rules.'],
      },
      'model: sonnet\neffort: xhigh\npermissionMode: auto\nisolation: worktree\nhooks:\n  Stop:\n    - hooks: [x]':
        {
          agent: { name: 'x' },
          notes: [
            'model sonnet is left out; name one as PROVIDER/ID.',
            'effort xhigh is left out; there is off, low, medium, high, max.',
            'permissionMode auto is left out; there is plan, default, acceptEdits, trustProject, dontAsk, bypassPermissions.',
            'isolation is not known here and changes nothing.',
            'hooks is not known here and changes nothing.',
          ],
        },
      'tools: [\n  Read,\n  Grep\n]\nmemory: false\nmcpServers:\n  - inline:\n      type: stdio': {
        agent: { name: 'x', tools: ['Read', 'Grep', 'delegate'] },
        notes: ['mcpServers is left out: servers are given by value, in a TOML file.'],
      },
    };
    for (const [head, expected] of Object.entries(heads)) {
      const { profile } = await readDefinition('/x/x.md', `---\n${head}\n---\n`);
      assert.deepEqual(profile, { description: '', prompt: '', ...expected }, head);
      const { notes: _, ...rest } = profile;
      const { profile: again } = await readDefinition('/x/x.toml', tomlOf(profile));
      assert.deepEqual(again, rest, `${head}, as TOML`);
    }
  });

  it('tells file and line of what is wrong', async () => {
    assert.equal(
      await fault('/x/a.toml', 'description = "d"\n\nmdoel = "x"\n'),
      '/x/a.toml:3: there is no setting "mdoel".',
    );
    assert.match(await fault('/x/a.toml', 'a = \n'), /^\/x\/a\.toml:1: /);
    assert.equal(await fault('/x/a.md', 'no head'), '/x/a.md:1: the file does not begin with a line of ---.');
    assert.equal(
      await fault('/x/a.md', '---\nname: x\n'),
      '/x/a.md:1: the head has no end: a second line of --- is missing.',
    );
    assert.match(
      await fault('/x/a.md', '---\nname: x\nmode: paln\n---\n'),
      /^\/x\/a\.md:3: mode must be one of plan, /,
    );
    assert.match(await fault('/x/a.md', '---\nname: ../x\n---\n'), /^\/x\/a\.md:2: name is 1 to 64 letters/);
    assert.match(
      await fault('/x/a.toml', '[limits]\nturns = -1\n'),
      /^\/x\/a\.toml:1: limits has turns = -1/,
    );
  });
});

describe('a scope', () => {
  it('is what is named, and what everybody needs beside it', () => {
    const none: Grants = { tools: [], withoutTools: [], skills: [], mcps: [], memory: true };
    const memory = ['remember', 'forget', 'recall'];
    assert.deepEqual(scopeOf(none), {});
    assert.deepEqual(scopeOf({ ...none, memory: false }), { withoutTools: memory });
    assert.deepEqual(scopeOf({ ...none, tools: ['read'], memory: false }), { tools: ['read', 'delegate'] });
    assert.deepEqual(scopeOf({ ...none, tools: ['read'], mcps: ['feeds'], withoutTools: ['delegate'] }), {
      tools: ['read', 'mcp__feeds__*', ...memory, 'delegate'],
      withoutTools: ['delegate'],
    });
    assert.deepEqual(scopeOf({ ...none, skills: ['x'], memory: false }), {
      tools: ['bash', 'ask_user', 'read', 'edit', 'delegate'],
    });
  });
});

describe('a change of a file', () => {
  const text = `# mine\ndescription = "d" # why\ntools = [\n  "read", # one\n]\nprompt = '''\ntools = not a key\n[no table]\n'''\n\n# the servers\n[mcps.a]\ncommand = "x"\n`;

  it('keeps what the person wrote beside it', () => {
    assert.equal(withValues(text, { tools: ['ls'] }), text.replace(/tools = \[\n.*\n\]/, 'tools = ["ls"]'));
    assert.equal(withValues(text, { description: null }), text.replace(/description.*\n/, ''));
    assert.equal(withValues(text, { model: 'a/b' }).replace('model = "a/b"\n', ''), text);
  });

  it('writes servers as tables of their own', async () => {
    const changed = withValues(text, { mcps: { b: { command: 'y', args: ['1'] } } });
    assert.ok(changed.endsWith('[mcps.b]\ncommand = "y"\nargs = ["1"]\n') && !changed.includes('mcps.a'));
    const { profile } = await readDefinition('/x/a.toml', changed);
    assert.deepEqual(profile.agent.mcps, { b: { command: 'y', args: ['1'] } });
    assert.equal(profile.prompt, 'tools = not a key\n[no table]\n');
  });
});
