import assert from 'node:assert/strict';
import { statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { MAX_HITS, MAX_SNIPPET_BYTES, MAX_WINDOW } from '../../core/search.ts';
import { found, line, SearchHome, START } from './testing.ts';

suite('a hit', () => {
  test('is the message with what is around it, and what its session is', async () => {
    await using home = new SearchHome();
    const session = home.session({ cwd: '/work/shop', agent: 'crab' });
    home.say(session, 'user', 'How do we ship?');
    home.say(session, 'assistant', 'With make release.');
    home.say(session, 'tool', 'released');
    home.say(session, 'user', 'Thanks.');
    home.add(session, { type: 'session_info', name: 'Shipping' });
    const reply = await home.open().search({ query: 'make release', before: 1, after: 1 });
    const [{ score = 0, ...hit } = {}] = reply.hits;
    assert.ok(score > 0);
    assert.deepEqual(
      { ...reply, hits: [hit] },
      {
        hits: [
          {
            session_id: session.id,
            msg_idx: 1,
            meta: {
              title: 'Shipping',
              created_at: START + 60_000,
              updated_at: START + 64_000,
              message_count: 4,
              agent: 'crab',
              cwd: '/work/shop',
            },
            window: [
              { role: 'user', msg_idx: 0, snippet: 'How do we ship?', truncated: false },
              { role: 'assistant', msg_idx: 1, snippet: 'With make release.', truncated: false },
              { role: 'tool', msg_idx: 2, snippet: 'released', truncated: false, tool_name: 'bash' },
            ],
          },
        ],
        more: false,
        ignored: [],
        pending: 0,
      },
    );
  });

  test('may be a name or a summary alone', async () => {
    await using home = new SearchHome();
    const [named, summed] = [home.session(), home.session()];
    home.say(named, 'user', 'Hello.');
    home.add(named, { type: 'session_info', name: 'a mongoose' });
    home.say(summed, 'user', 'Good day.');
    home.add(summed, { type: 'compaction', summary: 'They spoke of a wombat.' });
    const search = home.open();
    assert.deepEqual(await found(search, 'mongoose'), [[named.id, 0]]);
    assert.deepEqual(await found(search, 'wombat'), [[summed.id, 0]]);
    home.add(summed, { type: 'compaction', summary: 'They spoke of a koala.' });
    assert.deepEqual(await found(search, 'wombat'), []);
    assert.deepEqual(await found(search, 'koala'), [[summed.id, 0]]);
  });

  test('is found on a branch that was left', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'first try with pandas');
    home.add(session, { type: 'leaf', targetId: null });
    home.say(session, 'user', 'second try with polars');
    const search = home.open();
    assert.deepEqual(await found(search, 'pandas'), [[session.id, 0]]);
    assert.deepEqual(await found(search, 'polars'), [[session.id, 1]]);
  });

  test('of calls shows what was called', async () => {
    await using home = new SearchHome();
    const session = home.session();
    const call = { type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'npm run zebra', n: [7] } };
    const message = {
      role: 'assistant',
      content: [{ type: 'text', text: 'I look.' }, call],
      timestamp: START,
    };
    home.add(session, { type: 'message', message });
    const { hits } = await home.open().search({ query: 'zebra', filters: { role: 'tool' } });
    assert.deepEqual(
      hits.map(({ window }) => window),
      [[{ role: 'assistant', msg_idx: 0, snippet: 'I look.\nbash npm run zebra 7', truncated: false }]],
    );
  });
});

suite('the order', () => {
  test('puts a session with a summary before an equal one without, whichever is newer', async () => {
    for (const withSummary of [0, 1]) {
      await using home = new SearchHome();
      const both = [home.session(), home.session()];
      for (const session of both) home.say(session, 'user', 'the okapi problem');
      const [first, second] = withSummary === 0 ? both : both.toReversed();
      if (first !== undefined) home.add(first, { type: 'compaction', summary: 'Something else entirely.' });
      assert.deepEqual(await found(home.open(), 'okapi'), [
        [first?.id, 0],
        [second?.id, 0],
      ]);
    }
  });

  test('puts the newer one first where all else is equal', async () => {
    await using home = new SearchHome();
    const ids = Array.from({ length: 3 }, () => {
      const session = home.session();
      home.say(session, 'user', 'the okapi problem');
      return session.id;
    });
    assert.deepEqual(
      await found(home.open(), 'okapi'),
      ids.reverse().map((id) => [id, 0]),
    );
  });
});

suite('the bounds', () => {
  test('hold for hits, windows and snippets, and pages go on', async () => {
    await using home = new SearchHome();
    const text = `${'длинный '.repeat(400)}okapi ${'текст '.repeat(400)}`;
    for (let at = 0; at < MAX_HITS + 5; at++) {
      const session = home.session();
      for (let n = 0; n < 30; n++) home.say(session, 'user', n === 15 ? text : `filler ${'x'.repeat(5000)}`);
    }
    const search = home.open();
    const first = await search.search({ query: 'okapi', before: 100, after: 100, limit: 1000 });
    assert.deepEqual([first.hits.length, first.more], [MAX_HITS, true]);
    for (const { window, msg_idx } of first.hits) {
      assert.equal(msg_idx, 15);
      assert.ok(window.length <= MAX_WINDOW);
      assert.ok(window.every(({ snippet }) => Buffer.byteLength(snippet) <= MAX_SNIPPET_BYTES));
      assert.ok(window.every(({ truncated }) => truncated));
      const shown = window.find((item) => item.msg_idx === 15)?.snippet ?? '';
      assert.match(shown, /okapi/);
      assert.doesNotMatch(shown, /\ufffd/);
    }
    const second = await search.search({ query: 'okapi', page: 1 });
    assert.deepEqual([second.hits.length, second.more], [5, false]);
    const all = [...first.hits, ...second.hits].map(({ session_id }) => session_id);
    assert.equal(new Set(all).size, MAX_HITS + 5);
  });

  test('of time leave the rest for later and say how much that is', async () => {
    await using home = new SearchHome();
    for (let at = 0; at < 200; at++) home.say(home.session(), 'user', `okapi ${at}`);
    const hurried = await home.open({ patienceMs: -1 }).search({ query: 'okapi' });
    assert.deepEqual([hurried.hits.length, hurried.pending], [0, 200]);
    const patient = await home.open().search({ query: 'okapi' });
    assert.deepEqual([patient.hits.length, patient.more, patient.pending], [MAX_HITS, true, 0]);
  });
});

suite('filters', () => {
  test('choose by agent, sender, folder, role, time and session', async () => {
    await using home = new SearchHome();
    const here = home.session({ cwd: '/work', sender: 'tg:1' });
    const below = home.session({ cwd: '/work/sub' });
    const beside = home.session({ cwd: '/workshop', agent: 'other' });
    for (const session of [here, below, beside]) home.say(session, 'user', 'okapi');
    home.say(below, 'assistant', 'okapi okapi');
    const search = home.open();
    const sessions = async (filters: object) => {
      const names = new Map([here, below, beside].map(({ id }, at) => [id, ['here', 'below', 'beside'][at]]));
      return (await found(search, 'okapi', { filters })).map(([id]) => names.get(id)).sort();
    };
    assert.deepEqual(await sessions({}), ['below', 'beside', 'here']);
    assert.deepEqual(await sessions({ agent: 'other' }), ['beside']);
    assert.deepEqual(await sessions({ sender: 'tg:1' }), ['here']);
    assert.deepEqual(await sessions({ cwd: '/work' }), ['below', 'here']);
    assert.deepEqual(await sessions({ cwd: '/work/' }), ['below', 'here']);
    assert.deepEqual(await sessions({ cwd: '/' }), ['below', 'beside', 'here']);
    assert.deepEqual(await sessions({ role: 'assistant' }), ['below']);
    assert.deepEqual(await sessions({ exceptSession: below.id }), ['beside', 'here']);
    assert.deepEqual(await sessions({ until: START + 181_000 }), ['here']);
    assert.deepEqual(await sessions({ since: START + 184_000 }), ['below']);
    assert.deepEqual(await sessions({ since: START + 10 ** 9 }), []);
    assert.deepEqual(await found(search, 'okapi', { filters: { session: below.id } }), [
      [below.id, 0],
      [below.id, 1],
    ]);
  });
});

suite('the index', () => {
  test('forgets a session whose file is gone', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'okapi');
    const search = home.open();
    assert.deepEqual(await found(search, 'okapi'), [[session.id, 0]]);
    unlinkSync(session.path);
    assert.deepEqual(await found(search, 'okapi'), []);
    assert.deepEqual((await search.check()).messages, 0);
  });

  test('takes in what is appended without reading the rest again', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'okapi');
    const search = home.open();
    await found(search, 'okapi');
    home.say(session, 'assistant', 'quokka');
    await search.read([session.path]);
    assert.deepEqual(await found(search, 'quokka', {}), [[session.id, 1]]);
    home.add(session, { type: 'session_info', name: 'numbat' });
    assert.deepEqual(await found(search, 'numbat okapi'), [[session.id, 0]]);
  });

  test('reads no line that has no end yet, and no file that is no session', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'okapi');
    const { size } = statSync(session.path);
    home.say(session, 'user', 'quokka');
    truncateSync(session.path, size + 40);
    const newer = home.session();
    writeFileSync(
      newer.path,
      line({ type: 'session', version: 99, id: newer.id }) +
        line(
          home.entry({
            type: 'message',
            message: { role: 'user', content: 'okapi', timestamp: 1 },
          }),
        ),
    );
    writeFileSync(home.session().path, 'okapi\n\u0000\u0000\n');
    writeFileSync(home.session().path, '');
    const search = home.open();
    const reply = await search.search({ query: 'okapi quokka' });
    assert.deepEqual(
      reply.hits.map(({ session_id, msg_idx }) => [session_id, msg_idx]),
      [[session.id, 0]],
    );
    assert.equal(reply.pending, 0);
  });
});

suite('a query', () => {
  for (const query of ['', '   ', '\u0000', '"""', '*', '()', '…', '^ : { } - + |'])
    test(`of ${JSON.stringify(query)} finds nothing`, async () => {
      await using home = new SearchHome();
      home.say(home.session(), 'user', 'okapi AND "quokka" NEAR(numbat, 2)');
      assert.deepEqual(await found(home.open(), query), []);
    });

  test('has no syntax: operators, quotes and columns are words', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'okapi AND "quokka" NEAR(numbat, 2) user');
    const search = home.open();
    for (const query of [
      '"okapi',
      'okapi AND missing',
      'NOT okapi',
      'quokka*',
      'NEAR(x y)',
      '{user}: z',
      "okapi'; --",
      'oka\u0000 okapi',
    ])
      assert.deepEqual(await found(search, query), [[session.id, 0]], query);
  });

  test('of ten megabytes is cut and answered', async () => {
    await using home = new SearchHome();
    const session = home.session();
    home.say(session, 'user', 'okapi');
    const search = home.open();
    assert.deepEqual(await found(search, `okapi ${'word '.repeat(2_000_000)}`), [[session.id, 0]]);
    assert.deepEqual(await found(search, 'x'.repeat(10_000_000)), []);
  });

  test('that is taken back rejects with the reason', async () => {
    await using home = new SearchHome();
    const reason = new Error('no more');
    await assert.rejects(home.open().search({ query: 'okapi' }, AbortSignal.abort(reason)), reason);
  });
});
