// The campaign against the gate, as long as `CRAB_CAMPAIGN` says, must find nothing. Then what the gate stands on is
// broken on purpose, in ways that somebody might break it, and the same campaign must find each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CommandPart, type Understanding, understanderOf } from '../../src/parts/permissions/command.ts';
import { type Grammar, loadGrammar, type SyntaxNode } from '../../src/parts/permissions/grammar.ts';
import { isWithin } from '../../src/parts/permissions/path-scope.ts';
import { CWD, gateWith, HOME, runs } from '../../src/parts/permissions/workspace-for-test.ts';
import { type Judge, type Problem, runCampaign } from './permissions-campaign.ts';

const MUTATIONS = Number(process.env['CRAB_CAMPAIGN'] ?? 1500);
const SEED = 20_260_201;

test(`${MUTATIONS} ways to hide a harmful command: none runs unasked`, async () => {
  const gate = gateWith();
  const { problems, counts, times } = await runCampaign({
    judge: async (command) => (await gate.check(runs(command))).decision === 'allow',
    mutations: MUTATIONS,
    scrambles: Math.ceil(MUTATIONS / 3),
    seed: SEED,
  });
  assert.deepEqual(problems, [], `npm run campaign:permissions -- --seed ${SEED} --mutations ${MUTATIONS}`);
  assert.ok(times.length >= 600 && counts.dangerous >= 200, 'the corpus was read');
});

const grammar = await loadGrammar();

interface Fault {
  readonly grammar?: (grammar: Grammar) => Grammar;
  readonly parts?: (parts: readonly CommandPart[]) => readonly CommandPart[];
  readonly doubt?: (understanding: Understanding) => string | undefined;
}

/** Classes of commands that are harmful only by what the files are called that they read. */
const SECRETS = 'secret by name, elsewhere';

/** What the gate decides in its default mode, over an understanding that may be broken. */
function judgeWith(fault: Fault): Judge {
  const understand = understanderOf(fault.grammar?.(grammar) ?? grammar);
  const isHarmless = ({ effect, reads, streams }: CommandPart) =>
    effect === 'read' && streams.length === 0 && reads.every((path) => isWithin(path, CWD));
  return (command) => {
    const understanding = understand(command, { cwd: CWD, home: HOME });
    const doubt = fault.doubt === undefined ? understanding.doubt : fault.doubt(understanding);
    const parts = fault.parts?.(understanding.parts) ?? understanding.parts;
    return understanding.parts.length > 0 && doubt === undefined && parts.every(isHarmless);
  };
}

async function problemsWith(fault: Fault): Promise<readonly Problem[]> {
  const { problems } = await runCampaign({
    judge: judgeWith(fault),
    mutations: 600,
    scrambles: 100,
    seed: SEED,
  });
  // Which names are secret is not for an understanding to say: the whole gate, which knows them, plays these above.
  const known = problems.filter(({ says }) => !says.includes(SECRETS));
  return known.filter(({ kind }) => kind.endsWith('allowed') || kind === 'threw');
}

/** The tree without the nodes of a type. */
function without(type: string): (grammar: Grammar) => Grammar {
  const prune = (node: SyntaxNode): SyntaxNode => ({
    ...node,
    children: node.children.filter((child) => child.type !== type).map(prune),
  });
  return (whole) => (text) => {
    const syntax = whole(text);
    return { ...syntax, root: prune(syntax.root) };
  };
}

const asReader = (parts: readonly CommandPart[], which: (part: CommandPart) => boolean) =>
  parts.map(
    (part): CommandPart => (which(part) ? { ...part, effect: 'read', reads: [], streams: [] } : part),
  );

test('the judge of the planted faults finds nothing while none is planted', async () => {
  assert.deepEqual(await problemsWith({}), []);
});

const FAULTS: readonly { readonly what: string; readonly fault: Fault }[] = [
  { what: 'the last part is left out', fault: { parts: (parts) => parts.slice(0, -1) } },
  { what: 'the first part is left out', fault: { parts: (parts) => parts.slice(1) } },
  {
    what: 'a program behind a wrapper is not looked at',
    fault: { parts: (parts) => asReader(parts, ({ text, wholeText }) => text !== wholeText) },
  },
  {
    what: 'an unknown option counts as harmless',
    fault: { parts: (parts) => asReader(parts, ({ reason }) => reason.includes('an option of')) },
  },
  {
    what: 'an unknown program counts as harmless',
    fault: { parts: (parts) => asReader(parts, ({ reason }) => reason.includes('not known to be harmless')) },
  },
  {
    what: 'a variable that changes what runs counts as harmless',
    fault: { parts: (parts) => asReader(parts, ({ reason }) => reason.includes('can change what runs')) },
  },
  {
    what: 'redirections are forgotten',
    fault: { parts: (parts) => asReader(parts, ({ streams }) => streams.length > 0) },
  },
  {
    what: 'paths outside count as inside',
    fault: { parts: (parts) => parts.map((part) => ({ ...part, reads: [] })) },
  },
  { what: 'substitutions are not entered', fault: { grammar: without('command_substitution') } },
  { what: 'process substitutions are not entered', fault: { grammar: without('process_substitution') } },
  { what: 'the bodies of loops are not entered', fault: { grammar: without('do_group') } },
  { what: 'the branches of case are not entered', fault: { grammar: without('case_item') } },
  { what: 'redirections are not read', fault: { grammar: without('file_redirect') } },
  {
    what: 'gaps in the tree are not noticed',
    fault: {
      grammar: (whole) => (text) => ({ ...whole(text), doubt: undefined }),
    },
  },
  {
    what: 'doubts are passed over',
    fault: {
      doubt: () => undefined,
      parts: (parts) => asReader(parts, ({ reason }) => reason.startsWith('is part of')),
    },
  },
];

for (const { what, fault } of FAULTS)
  test(`found when ${what}`, async () => {
    assert.notEqual((await problemsWith(fault)).length, 0);
  });
