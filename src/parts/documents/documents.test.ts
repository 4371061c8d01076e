// Hostile documents. What they must not do is hold up the program, so that each is read beside a timer that goes on ticking.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import { pdf, pdfOf } from '../../../test/support/pdf.ts';
import type { PdfText } from '../../core/document.ts';
import { createDocuments } from './documents.ts';

const never = new AbortController().signal;
const url = 'http://a.test/b/';
/** Short, so that a document without an end ends soon. */
const documents = createDocuments({ timeoutMs: 2500 });
/** For what is read to its end: only what hangs takes as long. */
const patient = createDocuments({ timeoutMs: 120_000 });

interface Watched<T> {
  readonly value?: T;
  readonly failure?: string;
  /** How often a timer of 10 ms came while the document was being read. */
  readonly ticks: number;
}

async function watched<T>(reading: Promise<T>): Promise<Watched<T>> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  try {
    return { value: await reading, ticks };
  } catch (error) {
    assert.equal((error as Error).name, 'ToolFailure', String(error));
    return { failure: (error as Error).message, ticks };
  } finally {
    clearInterval(timer);
  }
}

/** Threads are told of by the ports to them. */
function threads(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort' || kind === 'Worker')
    .length;
}

const MIB = 1024 * 1024;
const fill = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length));

const PAGES: Readonly<Record<string, string>> = {
  'elements inside elements, a million deep': fill('<div>', 5 * MIB),
  'nothing but brackets': fill('<', 5 * MIB),
  'tags that never end': fill('<p ', 5 * MIB),
  'one element of many attributes': `<p ${Array.from({ length: 150_000 }, (_, at) => `a${at}`).join(' ')}>x`,
  'tables inside tables': `${fill('<table><tr><td>', 6000)}x`,
};

describe('a page of HTML', () => {
  for (const [what, html] of Object.entries(PAGES))
    test(`of ${what} is read or given up while the program goes on`, async () => {
      const before = threads();
      const {
        value,
        failure = '',
        ticks,
      } = await watched(documents.page('The page', { html, url, format: 'markdown' }, never));
      if (value === undefined)
        assert.match(
          failure,
          /^The page cannot be read here: it (?:took longer than 2\.5 s|takes too much memory)\.$/,
        );
      assert.ok(ticks > 0);
      assert.equal(threads(), before);
    });

  test('becomes Markdown with its title', async () => {
    const html = '<title>Hi</title><h1>A</h1><p>see <a href="c">there</a></p>';
    assert.deepEqual(await patient.page('The page', { html, url, format: 'markdown' }, never), {
      title: 'Hi',
      text: '## A\n\nsee [there](http://a.test/b/c)',
    });
  });
});

test('a page of results without end is given up or read while the program goes on', async () => {
  const html = fill('<a class="result__a" href="', 5 * MIB);
  const { failure, ticks } = await watched(documents.results('The page of x', html, never));
  assert.match(failure ?? '', /^The page of x cannot be read/);
  assert.ok(ticks > 0);
});

/** A page whose content is what is given, with more objects of the document's from number 6 on. */
function page(content: Buffer, dictionary: string, more: readonly string[] = []): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> /Font << /F 5 0 R >> >> /Contents 4 0 R >>',
    `<< ${dictionary} /Length ${content.length} >>\nstream\n${content.toString('latin1')}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...more,
  ]);
}

const form = (content: string) =>
  `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R /Y 7 0 R >> >> /Length ${content.length} >>\nstream\n${content}\nendstream`;

const PDFS: Readonly<Record<string, () => Buffer>> = {
  'pages that hold themselves': () =>
    pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2000000000 >>']),
  'a form that draws itself': () => page(Buffer.from('/X Do'), '', [form('/X Do /X Do')]),
  'forms that draw each other, twice as often each time': () =>
    page(Buffer.from('/X Do'), '', [form('/Y Do /Y Do'), form('/X Do /X Do')]),
  'text without end': () =>
    page(
      deflateSync(Buffer.from(`BT /F 1 Tf ${fill('(aaaaaaaa) Tj ', 64 * MIB)} ET`)),
      '/Filter /FlateDecode',
    ),
  'an object that is itself': () => pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '2 0 R']),
};

describe('a PDF document', () => {
  for (const [what, make] of Object.entries(PDFS))
    test(`of ${what} is read or given up while the program goes on`, async () => {
      const bytes = make();
      const before = threads();
      const range = { first: 1, most: 20, bytes: 50_000 };
      const {
        value,
        failure = '',
        ticks,
      } = await watched<PdfText>(documents.pdf('The PDF document x', bytes, range, never));
      if (value === undefined) assert.match(failure, /^The PDF document x cannot be read/);
      assert.ok(ticks > 0);
      assert.equal(threads(), before);
    });

  test('of a thousand bytes that unpack to 256 MiB is given up for its memory', async () => {
    const packed = deflateSync(deflateSync(Buffer.alloc(256 * MIB, ' '), { level: 9 }), { level: 9 });
    const bytes = page(packed, '/Filter [/FlateDecode /FlateDecode]');
    const range = { first: 1, most: 1, bytes: 1000 };
    const { failure, ticks } = await watched(patient.pdf('x', bytes, range, never));
    assert.equal(failure, 'x cannot be read here: it takes too much memory.');
    assert.ok(ticks > 0);
  });

  test('gives its pages from the first that is wanted, as many as there is room for', async () => {
    const bytes = pdf(['One', '', 'Three', 'Four']);
    const read = (first: number, most: number, room = 1000) =>
      patient.pdf('x', bytes, { first, most, bytes: room }, never);
    assert.deepEqual(await read(1, 3), {
      total: 4,
      pages: [{ text: 'One' }, { text: '' }, { text: 'Three' }],
    });
    assert.deepEqual(await read(3, 20), { total: 4, pages: [{ text: 'Three' }, { text: 'Four' }] });
    assert.deepEqual(await read(1, 20, 2), { total: 4, pages: [{ text: 'One' }] });
    assert.deepEqual(await read(5, 20), { total: 4, pages: [] });
    assert.equal(bytes.length > 0 && bytes[0], 0x25, 'the bytes are still the caller’s');
  });
});

test('reading ends when it is given up, running or waiting for its turn', async () => {
  const before = threads();
  const stop = new AbortController();
  const html = PAGES['one element of many attributes'] ?? '';
  const readings = Array.from({ length: 4 }, () =>
    patient.page(
      'The page',
      { html: html.repeat(5).slice(0, MIB - 1), url, format: 'markdown' },
      stop.signal,
    ),
  );
  const ended = Promise.allSettled(readings);
  await sleep(50);
  stop.abort(new Error('given up'));
  for (const one of await ended)
    assert.equal(one.status === 'rejected' ? one.reason.message : 'fulfilled', 'given up');
  assert.equal(threads(), before);
  const { title } = await patient.page(
    'The page',
    { html: '<title>T</title>x', url, format: 'markdown' },
    never,
  );
  assert.equal(title, 'T');
});
