// Pages, searches and a browser, asked for by a model of the built program. The servers are on this machine, so the settings
// have to allow them: without that, the same calls are refused.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Journey, journey, onEachWire } from '../support/journey.ts';
import { smallPdf } from '../support/small-pdf.ts';

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly string[];
}

async function site(listener: RequestListener): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(`${request.method} ${request.url}`);
    listener(request, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const page: RequestListener = (request, answer) => {
  if (request.url === '/away') answer.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  else if (request.url === '/a.pdf')
    answer.writeHead(200, { 'content-type': 'application/pdf' }).end(smallPdf('Hello crabs'));
  else
    answer
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<title>Crabs</title><h1>Crabs</h1><p>They walk <b>sideways</b>.</p>');
};

/** What the model was told of its calls, joined. */
function told(trip: Journey): string {
  const { messages } = trip.asked().at(-1) ?? assert.fail('nothing was asked');
  return messages.map((message) => (message.role === 'result' ? message.text : '')).join('\n');
}

function call(name: string, input: Readonly<Record<string, unknown>>) {
  return { calls: [{ name, input }] };
}

const ALLOWED = ['--allowedTools', 'WebFetch(domain:localhost),WebSearch'];

onEachWire('a page is fetched where the settings and a rule allow it', async (wire) => {
  await using pages = await site(page);
  const url = `http://localhost:${pages.port}/`;
  await using trip = await journey(wire, {
    script: [
      call('WebFetch', { url, prompt: 'How do they walk?' }),
      call('web_fetch', { url: `${url}away` }),
      call('web_fetch', { url: `${url}a.pdf` }),
      { text: 'Sideways.' },
    ],
    files: { 'web.toml': `[web]\nprivate_hosts = ["localhost:${pages.port}"]\n` },
  });
  const exit = await trip.run(['-p', 'read it', '--config', 'web.toml', ...ALLOWED]);
  assert.deepEqual({ stdout: exit.stdout, code: exit.code }, { stdout: 'Sideways.\n', code: 0 });
  assert.deepEqual(pages.asked, ['GET /', 'GET /away', 'GET /a.pdf']);
  const results = told(trip);
  for (const part of [
    `<web_page url="${url}" title="Crabs">`,
    'They walk **sideways**.',
    '## Page 1\n\nHello crabs',
  ])
    assert.ok(results.includes(part), results);
  assert.ok(results.includes('169.254.169.254 is not an address of the public internet.'), results);
});

onEachWire(
  'without a rule nobody is there to ask, and without the setting the network is closed',
  async (wire) => {
    await using pages = await site(page);
    const url = `http://localhost:${pages.port}/`;
    await using trip = await journey(wire, { script: [call('web_fetch', { url }), { text: 'No.' }] });
    await trip.run(['-p', 'read it']);
    assert.match(told(trip), /Nobody can be asked here, so it is refused/);
    await trip.run(['-p', 'read it', '--permission-mode', 'bypassPermissions']);
    assert.match(
      told(trip),
      /localhost:\d+ is a name of a private network\. The person can allow the host with web\.private_hosts/,
    );
    assert.deepEqual(pages.asked, []);
  },
);

onEachWire('a search goes to the engine of the settings', async (wire) => {
  const results = [{ title: 'Crabs', url: 'https://crab.example/', content: 'They walk sideways.' }];
  await using engine = await site((_, answer) => void answer.end(JSON.stringify({ results })));
  await using trip = await journey(wire, {
    script: [call('web_search', { query: 'crabs' }), { text: 'Found.' }],
  });
  const env = { SEARXNG_URL: `http://127.0.0.1:${engine.port}` };
  assert.equal((await trip.run(['-p', 'search', ...ALLOWED], { env })).stdout, 'Found.\n');
  assert.deepEqual(engine.asked, ['GET /search?q=crabs&format=json']);
  assert.match(told(trip), /1\. Crabs\nhttps:\/\/crab\.example\/\nThey walk sideways\./);
});

const hasChromium = spawnSync('chromium', ['--version'], { stdio: 'ignore' }).status === 0;

test('a browser is driven, and gone when the program ends', {
  skip: !hasChromium && 'there is no chromium',
}, async () => {
  await using pages = await site(
    (_, answer) =>
      void answer
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          "<title>Shop</title><p id=p>full</p><script>document.getElementById('p').textContent = 'by script'</script>",
        ),
  );
  await using trip = await journey('anthropic', {
    script: [
      call('browser_navigate', { url: `http://localhost:${pages.port}/` }),
      call('browser_evaluate', { function: '() => 1' }),
      { text: 'Seen.' },
    ],
    files: { 'web.toml': `[web]\nprivate_hosts = ["localhost:${pages.port}"]\n` },
  });
  const exit = await trip.run(['-p', 'look', '--config', 'web.toml', ...ALLOWED]);
  assert.deepEqual({ stdout: exit.stdout, code: exit.code }, { stdout: 'Seen.\n', code: 7 });
  assert.match(told(trip), /title="Shop">\n- text: by script\n<\/browser_page>\n\n/);
  assert.match(told(trip), /BrowserEvaluate would allow it\. Nobody can be asked here, so it is refused/);
  const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  assert.deepEqual(
    stdout
      .split('\n')
      .filter((line) => line.includes('--remote-debugging-pipe') && line.includes(trip.work.home)),
    [],
  );
});
