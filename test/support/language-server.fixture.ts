// A language server that misbehaves in the way that its first argument names. It speaks the protocol with its own
// hands, so that it can also speak it wrongly.

import { appendFileSync, existsSync, writeFileSync } from 'node:fs';

const [kind = '', file = ''] = process.argv.slice(2);

function send(message: Readonly<Record<string, unknown>>): boolean {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return process.stdout.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
}

interface Incoming {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly textDocument?: { readonly uri: string; readonly text?: string };
    readonly changes?: readonly { readonly uri: string; readonly type: number }[];
  };
}

const RANGE = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };

function published(uri: string | undefined, ...messages: readonly string[]): void {
  const diagnostics = messages.map((message) => ({ range: RANGE, severity: 1, message }));
  send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics } });
}

/** More than any reader keeps, in messages that each are in order. */
async function flood(): Promise<void> {
  for (let at = 0; at < 20_000; at++) {
    const uri = `file:///flood/${at}.fake`;
    const diagnostics = Array.from({ length: 10 }, () => ({ range: RANGE, message: 'x'.repeat(200) }));
    const fits = send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics } });
    if (!fits) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

let asked = 0;

async function answer(message: Incoming): Promise<void> {
  const { id, method, params } = message;
  if (file !== '') appendFileSync(file, `${method}\n`);
  const uri = params?.textDocument?.uri;
  switch (method) {
    case 'initialize':
      if (kind === 'never') return;
      if (kind === 'garbage') return void process.stdout.write('Debugger listening on port 9229\n');
      if (kind === 'huge') return void process.stdout.write('Content-Length: 999999999\r\n\r\n{');
      if (kind === 'no-json') return void process.stdout.write('Content-Length: 3\r\n\r\n{"a');
      return void send({ id, result: { capabilities: { hoverProvider: true, definitionProvider: true } } });
    case 'initialized':
      if (kind === 'watches') {
        const watching = [{ id: 'w', method: 'workspace/didChangeWatchedFiles' }];
        send({ id: 1, method: 'client/registerCapability', params: { registrations: watching } });
      }
      return;
    case 'workspace/didChangeWatchedFiles':
      return void appendFileSync(file, `${JSON.stringify(params?.changes)}\n`);
    case 'textDocument/didOpen':
    case 'textDocument/didChange':
      if (kind !== 'publishes') return;
      published(uri);
      return published(uri, 'one', 'two');
    case 'textDocument/hover':
      if (kind === 'learns' && ++asked < 3) return void send({ id, result: null });
      if (kind === 'hangs') return;
      if (kind === 'crashes' || (kind === 'crashes-once' && !existsSync(`${file}.crashed`))) {
        if (file !== '') writeFileSync(`${file}.crashed`, '');
        process.stderr.write('panic: out of cheese\n');
        process.exit(3);
      }
      if (kind === 'deaf') {
        send({ id: 1, method: 'workspace/applyEdit', params: { edit: {} } });
        process.stdin.pause();
        return;
      }
      if (kind === 'floods') await flood();
      return void send({ id, result: kind === 'nonsense' ? [[{ contents: 5 }]] : { contents: 'a hover' } });
    case 'textDocument/definition':
      return void send({
        id,
        result: [{ uri: 'jar:file:///x' }, null, 7, { uri: 'file:///a', range: RANGE }],
      });
    case 'shutdown':
      return void (kind !== 'hangs' && send({ id, result: null }));
    case 'exit':
      if (kind !== 'hangs') process.exit(0);
  }
}

let held = Buffer.alloc(0);
process.stdin.on('data', (bytes: Buffer) => {
  held = Buffer.concat([held, bytes]);
  for (;;) {
    const end = held.indexOf('\r\n\r\n');
    const length = Number(/\d+/.exec(held.subarray(0, Math.max(0, end)).toString())?.[0]);
    if (end < 0 || held.length < end + 4 + length) return;
    const body = held.subarray(end + 4, end + 4 + length).toString();
    held = held.subarray(end + 4 + length);
    void answer(JSON.parse(body) as Incoming);
  }
});
if (kind !== 'hangs') process.stdin.on('end', () => process.exit(0));
