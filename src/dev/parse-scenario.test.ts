import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../core/errors.ts';
import { parseScenario } from './parse-scenario.ts';

function refusal(scenario: unknown): string {
  const text = typeof scenario === 'string' ? scenario : JSON.stringify(scenario);
  try {
    parseScenario(text, 'demo.json');
  } catch (error) {
    assert.ok(error instanceof CrabError);
    assert.equal(error.code, 'input-malformed');
    return error.message;
  }
  assert.fail('the scenario was accepted');
}

test('a scenario with every field is taken as it is', () => {
  const scenario = {
    scripts: [
      {
        when: { pattern: '^fix' },
        replies: [
          {
            text: ['a', 'b'],
            thinking: 'hm',
            calls: [{ name: 'ls', input: { deep: [1] }, id: 'x' }],
            stop: 'length',
            usage: { input: 1, cacheRead: 2 },
            chunk: 3,
            delayMs: 0,
            repeat: 2,
            fault: { status: 500, headers: { a: 'b' }, body: { own: null } },
            times: 1,
          },
        ],
        otherwise: { generate: { deltas: 10, text: 'x' } },
      },
      { when: 'text', replies: [] },
    ],
    otherwise: {},
  };
  assert.deepEqual(parseScenario(JSON.stringify(scenario)), scenario);
});

const reply = (fields: object) => ({ replies: [{}, fields] });

const REFUSALS: readonly (readonly [unknown, string])[] = [
  [[], 'demo.json: expected an object, found []'],
  [{}, 'demo.json: expected either replies or scripts at the top'],
  [{ replies: [], scripts: [] }, 'demo.json: expected either replies or scripts at the top'],
  [
    { replies: [], finally: {} },
    'demo.json: finally: unknown field; known here: replies, scripts, otherwise, models, server',
  ],
  [{ replies: {} }, 'demo.json: replies: expected an array, found {}'],
  [{ replies: [], otherwise: 'x' }, 'demo.json: otherwise: expected an object, found "x"'],
  [{ scripts: [{}] }, 'demo.json: scripts[0]: replies is missing'],
  [
    { scripts: [{ when: 1, replies: [] }] },
    'demo.json: scripts[0].when: expected a string or { "pattern": … }, found 1',
  ],
  [
    reply({ txt: 'x' }),
    'demo.json: replies[1].txt: unknown field; known here: text, generate, thinking, calls, stop, usage, chunk, delayMs, drip, repeat, headers, fault, times',
  ],
  [
    JSON.stringify(reply({})).replace('{},{}', '{"__proto__":{}}'),
    'demo.json: replies[0].__proto__: unknown field; known here: text, generate, thinking, calls, stop, usage, chunk, delayMs, drip, repeat, headers, fault, times',
  ],
  [reply({ text: 1 }), 'demo.json: replies[1].text: expected a string or an array of strings, found 1'],
  [reply({ text: ['a', 1] }), 'demo.json: replies[1].text[1]: expected a string, found 1'],
  [
    reply({ text: 'x', generate: { deltas: 1, text: 'x' } }),
    'demo.json: replies[1]: expected either text or generate, found both',
  ],
  [
    reply({ generate: { deltas: 0, text: '' } }),
    'demo.json: replies[1].generate.deltas: expected a whole number from 1 on, found 0',
  ],
  [reply({ calls: [{ name: 'x' }] }), 'demo.json: replies[1].calls[0]: input is missing'],
  [
    reply({ calls: [{ name: 'x', input: 'y'.repeat(80) }] }),
    `demo.json: replies[1].calls[0].input: expected an object, found "${'y'.repeat(59)}…`,
  ],
  [
    reply({ stop: 'x' }),
    'demo.json: replies[1].stop: expected one of "stop", "length", "toolUse", found "x"',
  ],
  [
    reply({ usage: { input: -1 } }),
    'demo.json: replies[1].usage.input: expected a whole number from 0 on, found -1',
  ],
  [reply({ times: 1 }), 'demo.json: replies[1]: times belongs to a fault'],
  [
    reply({ fault: {} }),
    'demo.json: replies[1].fault: expected exactly one of status, overflow, html, cutAfter, resetAfter, stallAfter, pingEveryMs, errorEvent, badJson, garble, flood, gzipBomb, hugeHeader, reset, noStop, refuse',
  ],
  [
    reply({ fault: { html: true, reset: true } }),
    'demo.json: replies[1].fault: expected exactly one of status, overflow, html, cutAfter, resetAfter, stallAfter, pingEveryMs, errorEvent, badJson, garble, flood, gzipBomb, hugeHeader, reset, noStop, refuse',
  ],
  [
    reply({ fault: { html: true, message: 'x' } }),
    'demo.json: replies[1].fault.message: unknown field; known here: html',
  ],
  [
    reply({ fault: { status: 200 } }),
    'demo.json: replies[1].fault.status: expected a status between 400 and 599, found 200',
  ],
  [
    reply({ fault: { status: 500, headers: { a: 1 } } }),
    'demo.json: replies[1].fault.headers.a: expected a string, found 1',
  ],
  [
    reply({ fault: { cutAfter: 'text' } }),
    'demo.json: replies[1].fault.cutAfter: expected a number of bytes or one of "call", "event", "character", "end", found "text"',
  ],
  [
    reply({ fault: { errorEvent: { type: 'x' } } }),
    'demo.json: replies[1].fault.errorEvent: message is missing',
  ],
  [reply({ fault: { badJson: true } }), 'demo.json: replies[1]: this fault needs a reply with calls'],
  [reply({ fault: { garble: 'badUtf8' } }), 'demo.json: replies[1]: this fault needs a reply with text'],
  [{ server: 'vllm', replies: [] }, 'demo.json: server: expected one of "ollama", "llama.cpp", found "vllm"'],
  [reply({ fault: { refuse: false } }), 'demo.json: replies[1].fault.refuse: expected true, found false'],
];

for (const [scenario, message] of REFUSALS) {
  test(`refused: ${message.slice('demo.json: '.length, 90)}`, () => assert.equal(refusal(scenario), message));
}

test('what is no JSON is refused with the reason', () => {
  assert.match(refusal('{ "replies": [ }'), /^demo\.json: not JSON: Unexpected token/);
});

test('a pattern that is no regular expression is refused', () => {
  const message = refusal({ scripts: [{ when: { pattern: '(' }, replies: [] }] });
  assert.match(message, /^demo\.json: scripts\[0\]\.when\.pattern: not a regular expression: /);
});
