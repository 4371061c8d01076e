import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { structuredOutput } from './structured.ts';

describe('a value of a shape', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;

  it('is taken from a text that is it', () => {
    const { finish } = structuredOutput(schema);
    assert.equal(finish.native?.accept(' {"n": 7}\n'), undefined);
    assert.deepEqual(finish.value(), { n: 7 });
    assert.deepEqual(finish.native?.output, { name: 'structured_output', schema });
  });

  it('is not taken from a text that is another, and the text says why', () => {
    const { finish } = structuredOutput(schema);
    const why = ['seven', '{"n":"x"}', '[]'].map((text) => finish.native?.accept(text) ?? '');
    assert.match(why[0] ?? '', /^The answer is not valid JSON: /);
    assert.match(why[1] ?? '', /^The answer does not have the shape asked for: \/n /);
    assert.match(why[2] ?? '', /: the value /);
    assert.equal(finish.value(), undefined);
  });

  it('that is no object stands in one on its way', () => {
    const { finish } = structuredOutput({ type: 'array', items: { type: 'string' } });
    assert.equal(finish.native?.accept('{"value":["a"]}'), undefined);
    assert.deepEqual(finish.value(), ['a']);
  });
});
