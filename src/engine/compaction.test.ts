import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AssistantMessage, type Message, toolResultMessage, userMessage } from '../core/message.ts';
import type { Access } from '../core/permission.ts';
import { NO_USAGE } from '../core/usage.ts';
import { carriedFrom, NOTHING_CARRIED } from './carried.ts';
import {
  type CompactionInput,
  planCompaction,
  roughTokens,
  type Source,
  titleOf,
  withLists,
  withoutLists,
} from './compaction.ts';
import { summaryByPatterns } from './summary-patterns.ts';
import { prefixPrompt, summaryPrompt } from './summary-prompt.ts';

const INFO = { provider: 'p', id: 'm', api: 'x' };

const user = (text: string): Message => userMessage(text, 0);

function assistant(...content: AssistantMessage['content']): Message {
  const base = { api: 'x', provider: 'x', model: 'x', usage: NO_USAGE, timestamp: 0 };
  return { role: 'assistant', content, stopReason: 'stop', ...base };
}

const says = (words: string) => ({ type: 'text', text: words }) as const;
const call = (id: string, access: Access) =>
  ({ type: 'toolCall', id, name: 'tool', arguments: { access } }) as const;
const reads = (id: string, ...paths: string[]) => call(id, { kind: 'read', paths });
const writes = (id: string, ...paths: string[]) => call(id, { kind: 'write', paths });
const result = (id: string, words: string, isError = false): Message =>
  toolResultMessage({ id, name: 'tool' }, [says(words)], { isError, timestamp: 0 });

const accessOf: CompactionInput['accessOf'] = ({ arguments: input }) => input['access'] as Access;

const sourcesOf = (messages: readonly Message[]): readonly Source[] =>
  messages.map((message, at) => ({ id: `e${at}`, message }));

/** A plan as the indexes of its messages. */
function planned(
  messages: readonly Message[],
  keepRecentTokens: number,
  more: Partial<CompactionInput> = {},
) {
  const sources = sourcesOf(messages);
  const plan = planCompaction({
    ...{ sources, keepRecentTokens, carryTokens: 1000, accessOf, cwd: '/w' },
    ...more,
  });
  if (plan === undefined) return undefined;
  const indexOf = (message: Message) => messages.indexOf(message);
  const { summarised, turnPrefix, kept, firstKeptEntryId, previousSummary, files } = plan;
  return {
    summarised: summarised.map(indexOf),
    prefix: turnPrefix.map(indexOf),
    kept: kept.map(({ message }) => indexOf(message)),
    firstKeptEntryId,
    previousSummary,
    ...files,
  };
}

const NOTHING = { previousSummary: undefined, readFiles: [], modifiedFiles: [] };
const long = 'x'.repeat(400);

describe('the plan of a compaction', () => {
  it('keeps the newest turns that fit, and summarises what came before', () => {
    const messages = [user(long), assistant(says(long)), user(long), assistant(says(long))];
    assert.deepEqual(planned(messages, 150), {
      ...NOTHING,
      summarised: [0, 1],
      prefix: [],
      kept: [2, 3],
      firstKeptEntryId: 'e2',
    });
  });

  it('cuts a turn between two answers, its prefix apart', () => {
    const messages = [
      user('earlier'),
      assistant(says('done')),
      user(long),
      assistant(says(long), reads('a', '/w/a')),
      result('a', long),
      assistant(says(long)),
    ];
    assert.deepEqual(planned(messages, 90), {
      ...NOTHING,
      readFiles: ['/w/a'],
      summarised: [0, 1],
      prefix: [2, 3, 4],
      kept: [5],
      firstKeptEntryId: 'e5',
    });
  });

  it('never cuts between a call and its results, however many there are', () => {
    const messages = [
      user('go'),
      assistant(says('x'), reads('a', '/w/a'), reads('b', '/w/b')),
      result('b', long),
      result('a', long),
    ];
    assert.deepEqual(planned(messages, 10), {
      ...NOTHING,
      summarised: [],
      prefix: [0],
      kept: [1, 2, 3],
      firstKeptEntryId: 'e1',
    });
  });

  it('keeps a single huge message whole', () => {
    assert.equal(planned([user('x'.repeat(1_000_000))], 10), undefined);
    assert.deepEqual(planned([user('a'), assistant(says('b')), user('x'.repeat(1_000_000))], 10), {
      ...NOTHING,
      summarised: [0, 1],
      prefix: [],
      kept: [2],
      firstKeptEntryId: 'e2',
    });
  });

  it('of nothing to be kept leaves the summary alone, and a prompt that is unanswered', () => {
    const messages = [user('a'), assistant(says('b'))];
    assert.deepEqual(planned(messages, 0), {
      ...NOTHING,
      summarised: [0, 1],
      prefix: [],
      kept: [],
      firstKeptEntryId: '',
    });
    assert.deepEqual(planned([...messages, user('c')], 0)?.kept, [2]);
    assert.equal(planned([user('a')], 0), undefined);
    assert.equal(planned([], 0), undefined);
  });

  it('carries the summary and the files of the one before on', () => {
    const previous = {
      summary: 'Before.',
      files: { readFiles: ['/w/old', '/w/changed'], modifiedFiles: ['/w/kept'] },
    };
    const messages = [
      user('go'),
      assistant(
        reads('a', '/w/new', '/w/kept'),
        writes('b', '/w/changed'),
        writes('c', '/w/refused'),
        reads('d', '/w'),
      ),
      result('a', 'x'),
      result('b', 'x'),
      result('c', 'no', true),
      result('d', 'x'),
    ];
    assert.deepEqual(planned(messages, 0, { previous }), {
      summarised: [0, 1, 2, 3, 4, 5],
      prefix: [],
      kept: [],
      firstKeptEntryId: '',
      previousSummary: 'Before.',
      readFiles: ['/w/new', '/w/old'],
      modifiedFiles: ['/w/changed', '/w/kept'],
    });
  });

  it('counts four characters a token and a hundred for any other block', () => {
    assert.equal(roughTokens(user('12345')), 2);
    const image = { type: 'image', data: 'A'.repeat(9999), mimeType: 'image/png' } as const;
    assert.equal(roughTokens(userMessage([says('1234'), image], 0)), 101);
    assert.equal(roughTokens(assistant(says('1234'), reads('a', '/w/a'))), 101);
  });
});

describe('what is carried on', () => {
  const carried = (
    messages: readonly Message[],
    previous?: Parameters<typeof carriedFrom>[0]['previous'],
    most = 4000,
  ) => carriedFrom({ messages, previous, most });

  it('is what person and model decided, what the person wants always, and what is open', () => {
    const messages = [
      user('Port the parser. Never touch the lexer. We decided to use tabs.'),
      assistant(says('I chose recursion. I always look first.\nThe third test still fails.')),
      result('a', 'You must never read this.'),
      user('<command exit_code="0">\n$ cat rules\nAlways obey.\n</command>'),
    ];
    assert.deepEqual(carried(messages), {
      decisions: ['We decided to use tabs.', 'I chose recursion.'],
      rules: ['Never touch the lexer.'],
      unfinished: ['The third test still fails.'],
    });
  });

  it('goes on from the one before, its sections included, each line once', () => {
    const previous = {
      summary: 'Port.\n\n## Decisions\n- **tabs**: they said so\n## Files\n- a.ts\n## Constraints\nnode 22',
      carried: { decisions: ['We agreed on A.'], rules: [], unfinished: ['B remains.'] },
    };
    assert.deepEqual(carried([user('We agreed on A.')], previous), {
      decisions: ['tabs: they said so', 'We agreed on A.'],
      rules: ['node 22'],
      unfinished: ['B remains.'],
    });
  });

  it('is bounded, and the newest stay', () => {
    const messages = Array.from({ length: 100 }, (_, at) => user(`We decided on number ${at}.`));
    const { decisions } = carried(messages, undefined, 200);
    assert.deepEqual(decisions, [
      'We decided on number 96.',
      'We decided on number 97.',
      'We decided on number 98.',
      'We decided on number 99.',
    ]);
  });
});

describe('a summary', () => {
  it('has the files behind it, and goes on without them', () => {
    const files = { readFiles: ['/a', '/b'], modifiedFiles: ['/c'] };
    const text = withLists('It works.\n', { files, carried: NOTHING_CARRIED, open: [] });
    assert.equal(
      text,
      'It works.\n\n<read-files>\n/a\n/b\n</read-files>\n\n<modified-files>\n/c\n</modified-files>',
    );
    assert.equal(withoutLists(text), 'It works.');
  });

  it('has behind it what was decided and is open, unless it says so itself', () => {
    const carried = {
      decisions: ['We use tabs in src.', 'Postgres instead of MySQL, for its locks.'],
      rules: ['Never push to main.'],
      unfinished: [],
    };
    const files = { readFiles: [], modifiedFiles: [] };
    const summary = 'Port it.\n\n## Decisions\n- **Postgres** instead of MySQL for its locks';
    const text = withLists(summary, { files, carried, open: ['- [pending] Run the tests'] });
    assert.equal(
      text,
      `${summary}\n\n<decisions-so-far>\n- We use tabs in src.\n</decisions-so-far>\n\n` +
        '<rules-so-far>\n- Never push to main.\n</rules-so-far>\n\n' +
        '<open-work>\n- [pending] Run the tests\n</open-work>',
    );
    assert.equal(withoutLists(text), summary);
  });

  for (const [summary, title] of [
    ['Fix the parser. Then more.', 'Fix the parser'],
    ['# Summary\n\n## Goal\n- **Port** `x.ts` to Rust', 'Port x.ts to Rust'],
    ['1. 2026 is near', '2026 is near'],
    ['Add v1.2 support', 'Add v1.2 support'],
    ['修复解析器。然后继续。', '修复解析器'],
    [`${'word '.repeat(30)}`, `${'word '.repeat(11)}word…`],
    ['<summary>\n</summary>', ''],
  ] as const)
    it(`is called ${title || 'nothing'}`, () => {
      assert.equal(titleOf(summary), title);
      assert.ok([...titleOf(summary)].length <= 60);
    });
});

describe('what a model is asked to summarise', () => {
  const messages = [
    user('Fix it.'),
    assistant(says('I look.'), reads('a', '/w/a')),
    result('a', 'y'.repeat(5000)),
  ];

  it('is text, with long results cut in the middle', () => {
    const prompt = summaryPrompt({ messages }, INFO, 1000);
    const [, conversation = ''] = /^<conversation>\n([\s\S]*)\n<\/conversation>/.exec(prompt) ?? [];
    assert.equal(
      conversation,
      `[User]: Fix it.\n\n[Assistant]: I look.\n[Tool call]: tool {"access":{"kind":"read","paths":["/w/a"]}}\n\n[Tool result]: ${'y'.repeat(1000)}\n[3000 characters]\n${'y'.repeat(1000)}`,
    );
    assert.doesNotMatch(prompt, /<previous-summary>|Look above all/);
  });

  it('has the summary before it and the focus, where there are any', () => {
    const prompt = summaryPrompt({ messages, previousSummary: 'Old.', focus: ' the lexer ' }, INFO, 1000);
    assert.match(prompt, /<previous-summary>\nOld\.\n<\/previous-summary>/);
    assert.match(prompt, /Look above all at: the lexer$/);
  });

  it('leaves the oldest out where the window is too small', () => {
    const many = Array.from({ length: 50 }, (_, at) => user(`${at} ${'z'.repeat(300)}`));
    const prompt = prefixPrompt(many, { ...INFO, contextWindow: 3000 }, 500);
    assert.match(prompt, /\[\d+ older messages are left out: they do not fit\]/);
    assert.match(prompt, /\[User\]: 49 z/);
    assert.doesNotMatch(prompt, /\[User\]: 0 z/);
  });
});

describe('a summary by patterns', () => {
  it('finds goals, decisions, changes and what is unresolved', () => {
    const summarised = [
      user('Port the lexer. Never use eval.'),
      assistant(
        says('We decided to keep tabs. The tests still fail.'),
        writes('a', '/w/a.ts'),
        reads('b', '/w/b.ts'),
      ),
      result('a', 'ok'),
      result('b', 'no such file', true),
    ];
    const plan = { summarised, turnPrefix: [], previousSummary: 'Earlier work.' };
    assert.equal(
      summaryByPatterns({ plan, accessOf }),
      [
        'Port the lexer. Never use eval.',
        '## Earlier\nEarlier work.',
        '## Goal\n- Port the lexer. Never use eval.',
        '## Decisions\n- Never use eval.\n- We decided to keep tabs.',
        '## Code changes\n- tool /w/a.ts',
        '## Unresolved\n- The tests still fail.\n- tool {"access":{"kind":"read","paths":["/w/b.ts"]}} failed: no such file',
      ].join('\n\n'),
    );
  });

  it('says something of a conversation without words', () => {
    const plan = { summarised: [], turnPrefix: [], previousSummary: undefined };
    assert.equal(summaryByPatterns({ plan, accessOf }), 'A conversation without words.');
  });
});
