import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ToolFailure } from '../../core/errors.ts';
import type { SearchReply, SearchRequest, SessionSearch } from '../../core/search.ts';
import type { ToolContext } from '../../core/tool.ts';
import { createSearchTool } from './search-tool.ts';

const REPLY: SearchReply = {
  hits: [
    {
      session_id: '01K8ZZZZZZZZZZZZZZZZZZZZZZ',
      msg_idx: 7,
      score: 2,
      meta: {
        title: 'Shipping',
        created_at: 0,
        updated_at: Date.UTC(2026, 0, 2),
        message_count: 12,
        agent: 'crab',
        cwd: '/work',
      },
      window: [
        { role: 'user', msg_idx: 6, snippet: 'x'.repeat(1000), truncated: false },
        {
          role: 'tool',
          msg_idx: 7,
          snippet: `found ${'y'.repeat(1000)}`,
          truncated: true,
          tool_name: 'bash',
        },
      ],
    },
  ],
  more: true,
  ignored: ['the'],
  pending: 3,
};

async function run(input: Record<string, unknown>, reply: SearchReply = REPLY) {
  const asked: SearchRequest[] = [];
  const search: SessionSearch = {
    search: async (request) => {
      asked.push(request);
      return reply;
    },
    appended: () => {},
  };
  const { signal } = new AbortController();
  const identity = {
    agent: 'crab',
    sender: 'cli:1',
    session: 'MINE',
    cwd: '/work',
    mode: 'default',
  } as const;
  const output = await createSearchTool(search).run(input, { identity, signal } as unknown as ToolContext);
  const [block] = output.content;
  return { asked, text: block?.type === 'text' ? block.text : '', display: output.display };
}

suite('search_sessions', () => {
  test('shows the message in full and what is around it in short', async () => {
    const { text, display } = await run({ query: ' ship ' });
    assert.equal(
      text,
      [
        '## 01K8ZZZZZZZZZZZZZZZZZZZZZZ (2026-01-02, /work, 12 messages): Shipping',
        `[6] user: ${'x'.repeat(240)}…`,
        `[7] > tool bash: found ${'y'.repeat(1000)}…`,
        '',
        '[More hits: page 1.]',
        '',
        '[Too common to look for: the.]',
        '',
        '[3 sessions are not indexed yet; search again to look in them, too.]',
      ].join('\n'),
    );
    assert.deepEqual(display, {
      kind: 'matches',
      title: 'ship',
      count: 1,
      truncated: true,
      lines: ['01K8ZZZZZZZZZZZZZZZZZZZZZZ Shipping'],
    });
  });

  test('looks in the sessions of its agent but not in its own', async () => {
    const { asked } = await run({
      query: 'ship',
      context_before: 1,
      context_after: 0,
      filters: { role: 'user', since: '2026-01-01', page: 2, cwd: '', agent: 'other' },
    });
    assert.deepEqual(asked, [
      {
        query: 'ship',
        before: 1,
        after: 0,
        limit: 5,
        page: 2,
        filters: { role: 'user', since: Date.UTC(2026, 0, 1), agent: 'crab', exceptSession: 'MINE' },
      },
    ]);
  });

  test('says when there is nothing', async () => {
    const { text } = await run({ query: 'ship' }, { hits: [], more: false, ignored: [], pending: 0 });
    assert.equal(text, '[Nothing was said about that.]');
  });

  test('tells the model what it got wrong', async () => {
    await assert.rejects(run({ query: '  ' }), ToolFailure);
    await assert.rejects(run({ query: 'ship', filters: { until: 'tomorrow' } }), /until is no ISO date/);
  });
});
