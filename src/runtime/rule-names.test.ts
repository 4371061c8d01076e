import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTools } from '../cli/all-tools.ts';
import { mistypedRules } from './rule-names.ts';

test('a rule that is nearly about a tool is told of with what was meant; foreign names and patterns are left alone', async () => {
  const tools = await allTools({ HOME: '/nonexistent', CRAB_HOME: '/nonexistent/.crab' });
  const texts = [
    'Bsh(git push *)',
    'Wirte',
    'web-fetsh(domain:a.example)',
    'Bash(ls)',
    'WebFetch(domain:a.example)',
    'MultiEdit(/a)',
    'Agent(reviewer)',
    'Skill(x)',
    'mcp__bsh__run',
    'bsh*',
  ];
  const rules = texts.map((text) => ({ decision: 'deny', text, source: 'a file' }) as const);
  assert.deepEqual(
    mistypedRules(rules, tools),
    [
      ['Bsh(git push *)', 'Bash'],
      ['Wirte', 'Write'],
      ['web-fetsh(domain:a.example)', 'WebFetch'],
    ].map(
      ([rule, meant]) => `The rule ${rule} (a file) is about no tool that there is. Did you mean ${meant}?`,
    ),
  );
});
