import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AssistantMessage, type Message, toolResultMessage, userMessage } from '../core/message.ts';
import { NO_USAGE } from '../core/usage.ts';
import { createView } from './view.ts';

const user = (text: string): Message => userMessage(text, 0);

function assistant(
  content: AssistantMessage['content'],
  stopReason: AssistantMessage['stopReason'] = 'stop',
): Message {
  const base = { api: 'x', provider: 'x', model: 'x', usage: NO_USAGE, timestamp: 0 };
  return { role: 'assistant', content, stopReason, ...base };
}

const text = (words: string) => ({ type: 'text', text: words }) as const;
const call = (id: string) => ({ type: 'toolCall', id, name: 'look', arguments: {} }) as const;
const result = (id: string, words: string): Message =>
  toolResultMessage({ id, name: 'look' }, [text(words)], { isError: false, timestamp: 0 });

/** Roles, with what a result answers and whether it is an error. */
function shape(messages: readonly Message[]): readonly string[] {
  return messages.map((message) =>
    message.role === 'toolResult' ? `${message.toolCallId}${message.isError ? '!' : ''}` : message.role,
  );
}

describe('the view of a history', () => {
  const cases: readonly (readonly [string, readonly Message[], readonly string[]])[] = [
    [
      'puts results in call order',
      [user('q'), assistant([call('a'), call('b')]), result('b', '2'), result('a', '1')],
      ['user', 'assistant', 'a', 'b'],
    ],
    [
      'answers a call that was interrupted',
      [user('q'), assistant([call('a'), call('b')]), result('b', '2')],
      ['user', 'assistant', 'a!', 'b'],
    ],
    [
      'answers it before the next prompt too',
      [user('q'), assistant([call('a')]), user('r')],
      ['user', 'assistant', 'a!', 'user'],
    ],
    [
      'passes over a result that nobody asked for',
      [user('q'), result('x', '?'), assistant([text('hi')])],
      ['user', 'assistant'],
    ],
    [
      'leaves out an answer that says nothing',
      [user('q'), assistant([text(' ')], 'aborted'), user('r')],
      ['user'],
    ],
    [
      'keeps the words of a cut answer and drops its calls',
      [user('q'), assistant([text('half'), call('a')], 'error'), user('r')],
      ['user', 'assistant', 'user'],
    ],
    [
      'leaves out a cut answer that was asked for again',
      [user('q'), assistant([text('half')], 'error'), assistant([text('whole')]), user('r')],
      ['user', 'assistant', 'user'],
    ],
    [
      'does not end with a cut answer: a request wants the person to have spoken last',
      [user('q'), assistant([text('half')], 'error')],
      ['user'],
    ],
    [
      'leaves out an answer of thinking alone',
      [user('q'), assistant([{ type: 'thinking', thinking: 'hm' }])],
      ['user'],
    ],
  ];
  for (const [what, messages, expected] of cases)
    it(what, () => assert.deepEqual(shape(createView(messages).messages()), expected));

  it('joins prompts that follow each other', () => {
    const [joined] = createView([user('one'), user('two')]).messages();
    assert.deepEqual(joined?.content, [text('one'), text('two')]);
  });

  it('keeps the identity of messages, so that a wire can cache them', () => {
    const messages = [user('q'), assistant([text('hi')])];
    const view = createView(messages);
    assert.deepEqual(
      view.messages().map((message, at) => message === messages[at]),
      [true, true],
    );
    view.add(user('r'));
    assert.equal(view.messages()[0], messages[0]);
  });
});
