import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outbox } from './outbox.ts';

function outbox(): { box: Outbox<string>; abandoned: () => boolean } {
  let left = false;
  const box = new Outbox<string>({
    onAbandon: () => {
      left = true;
    },
    onLost: (error) => [`lost: ${error}`],
  });
  return { box, abandoned: () => left };
}

async function taken(box: Outbox<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const batch of box) all.push(...batch);
  return all;
}

describe('the outbox', () => {
  it('keeps the order, and holds what follows behind what is not yet durable', async () => {
    const { box } = outbox();
    let resolve = () => {};
    box.push(
      ['a'],
      new Promise((done) => {
        resolve = done;
      }),
    );
    box.push(['b']);
    box.end();
    const all = taken(box);
    let early = true;
    all.then(() => {
      early = false;
    });
    await new Promise((done) => setImmediate(done));
    assert.equal(early, true);
    resolve();
    assert.deepEqual(await all, ['a', 'b']);
  });

  it('says what was lost, and nothing after it', async () => {
    const { box } = outbox();
    box.push(['a']);
    box.push(['b'], Promise.reject(new Error('disk')));
    box.push(['c']);
    assert.deepEqual(await taken(box), ['a', 'lost: Error: disk']);
  });

  it('makes the writer wait for the reader', async () => {
    const { box } = outbox();
    box.push(['a']);
    let free = false;
    const drained = box.drained().then(() => {
      free = true;
    });
    await new Promise((done) => setImmediate(done));
    assert.equal(free, false);
    await box[Symbol.asyncIterator]().next();
    await drained;
    assert.equal(free, true);
  });

  it('tells when the reader leaves, and lets the writer go', async () => {
    const { box, abandoned } = outbox();
    box.push(['a']);
    box.push(['b']);
    for await (const _ of box) break;
    await box.drained();
    assert.equal(abandoned(), true);
  });
});
