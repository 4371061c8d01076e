import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AssistantMessage,
  type Message,
  messageText,
  toolResultMessage,
  userMessage,
} from '../core/message.ts';
import { NO_USAGE } from '../core/usage.ts';
import { CLEARED, SNIPPED, Trimmer } from './trim.ts';

const WINDOW = 10_000;
const long = Array.from({ length: 400 }, (_, at) => `line ${at}`).join('\n');

/** One exchange: an answer that calls, with what the provider counted by then, and the result. */
function exchange(id: string, totalTokens: number, text = long): readonly Message[] {
  const answer: AssistantMessage = {
    role: 'assistant',
    content: [{ type: 'toolCall', id, name: 'look', arguments: {} }],
    api: 'x',
    provider: 'x',
    model: 'x',
    usage: { ...NO_USAGE, totalTokens },
    stopReason: 'toolUse',
    timestamp: 0,
  };
  return [
    answer,
    toolResultMessage({ id, name: 'look' }, [{ type: 'text', text }], { isError: false, timestamp: 0 }),
  ];
}

const options = { window: WINDOW, snipAt: 0.7, isReading: (id: string) => id.startsWith('r') };

/** What became of each result. */
function fates(messages: readonly Message[]): readonly string[] {
  return messages
    .filter((message) => message.role === 'toolResult')
    .map(messageText)
    .map((text) => (text === CLEARED ? 'cleared' : text.includes(SNIPPED) ? 'snipped' : 'whole'));
}

describe('what requests leave out of old results', () => {
  it('is nothing below the threshold', () => {
    const messages = [userMessage('go', 0), ...exchange('a', 1000), ...exchange('b', 6999)];
    assert.equal(new Trimmer().trim(messages, options), messages);
  });

  it('is most of each long result before the last turn', () => {
    const messages = [
      userMessage('go', 0),
      ...exchange('a', 1000),
      ...exchange('short', 1000, 'brief'),
      ...exchange('b', 7000),
    ];
    const trimmed = new Trimmer().trim(messages, options);
    assert.deepEqual(fates(trimmed), ['snipped', 'whole', 'whole']);
    const lines = messageText(trimmed[2] as Message).split('\n');
    assert.deepEqual(
      [lines.length, lines[0], lines[10], lines.at(-1)],
      [21, 'line 0', '[snipped] 380 lines', 'line 399'],
    );
    assert.equal(messageText(messages[2] as Message), long, 'the stored message is as it was');
  });

  it('clears what reading calls brought when that is not enough', () => {
    const messages = [
      userMessage('go', 0),
      ...exchange('r1', 1000),
      ...exchange('w1', 1000),
      ...exchange('r2', 7000),
      ...exchange('r3', 7500),
    ];
    assert.deepEqual(fates(new Trimmer().trim(messages, options)), [
      'cleared',
      'snipped',
      'snipped',
      'whole',
    ]);
  });

  it('moves on in steps and never back, whatever comes', () => {
    const rank = { whole: 0, snipped: 1, cleared: 2 };
    let messages: readonly Message[] = [userMessage('go', 0)];
    const trimmer = new Trimmer();
    let before: readonly Message[] = [];
    let moves = 0;
    for (let at = 0; at < 60; at++) {
      const size = at % 3 === 0 ? long : 'brief';
      messages = [
        ...messages,
        ...exchange(`${at % 2 === 0 ? 'r' : 'w'}${at}`, 5000 + ((at * 613) % 4000), size),
      ];
      const trimmed = trimmer.trim(messages, options);
      assert.deepEqual(trimmed, new Trimmer().trim(messages, options), 'the same after a restart');
      const [old, now] = [fates(before), fates(trimmed)];
      for (const [index, fate] of old.entries())
        assert.ok(rank[now[index] as keyof typeof rank] >= rank[fate as keyof typeof rank]);
      if (before.some((message, index) => trimmed[index] !== message)) moves++;
      before = trimmed;
    }
    assert.ok(moves > 3 && moves < 30, `${moves} moves in 60 requests`);
  });

  it('drops images of old results', () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
    const shown = toolResultMessage({ id: 'a', name: 'look' }, [image], { isError: false, timestamp: 0 });
    const [call] = exchange('a', 1000);
    const messages = [
      userMessage('go', 0),
      call as Message,
      shown,
      ...exchange('b', 1000),
      ...exchange('c', 8000),
    ];
    const trimmed = new Trimmer().trim(messages, options);
    assert.deepEqual((trimmed[2] as Message).content, [{ type: 'text', text: '[snipped] image' }]);
  });

  it('is read off each history anew, whichever was seen before', () => {
    const trimmer = new Trimmer();
    const grown = [userMessage('go', 0), ...exchange('a', 1000), ...exchange('b', 7000)];
    const other = [userMessage('a summary', 0), ...grown.slice(3)];
    const histories = [grown, other, [...other, ...exchange('c', 7600)], grown.slice(0, 3), [], grown];
    for (const messages of histories)
      assert.deepEqual(trimmer.trim(messages, options), new Trimmer().trim(messages, options));
    for (const window of [WINDOW, 4 * WINDOW])
      assert.deepEqual(
        trimmer.trim(grown, { ...options, window }),
        new Trimmer().trim(grown, { ...options, window }),
      );
  });
});
