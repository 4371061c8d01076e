// `crab dev fake-provider`: the fake provider as a process of its own, which tells the person how to point
// a client at it and says one line a request.

import type { TokenCounts } from '../core/usage.ts';
import type { FakeProvider, RequestRecord } from './fake-provider.ts';
import { startFakeProvider } from './fake-provider.ts';
import { describeFindings } from './history-check.ts';
import { parseScenario } from './parse-scenario.ts';

export interface RunOptions {
  /** The text of the scenario file. */
  readonly script: string;
  /** Its name, for error messages. */
  readonly file: string;
  readonly port: number;
  /** What `{{cwd}}` in the scenario stands for. */
  readonly cwd: string;
  /** Takes one line without its end. */
  readonly print: (line: string) => void;
}

/** Serves until the signal aborts. Throws `CrabError` when the file or the port is of no use. */
export async function runFakeProvider(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { script, file, port, cwd, print } = options;
  const scenario = parseScenario(script, file);
  const provider = await startFakeProvider({
    scenario,
    port,
    vars: { cwd },
    keepBodies: false,
    onRequest: (request) => print(requestLine(request)),
  });
  for (const line of greeting(provider)) print(line);
  await aborted(signal);
  await provider.close();
}

function greeting({ url, openaiUrl }: FakeProvider): readonly string[] {
  return [
    `fake provider on ${url}`,
    `  Anthropic wire: ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=fake crab`,
    `  OpenAI wire:    OPENAI_BASE_URL=${openaiUrl} OPENAI_API_KEY=fake crab`,
    `  its requests:   ${url}/__fake/requests`,
    'Ctrl-C stops it.',
  ];
}

function requestLine(request: RequestRecord): string {
  const { method, path, model, turn, bodyBytes, status, findings, charged } = request;
  const about = turn === undefined ? '' : ` ${model}, turn ${turn}`;
  const faulty = findings.length > 0 ? `: ${describeFindings(findings)}` : '';
  const cost = charged === undefined ? '' : `, ${tokensOf(charged)}`;
  const line = `${status ?? 'reset'} ${method} ${path}${about}, ${bodyBytes} bytes${cost}${faulty}`;
  // A client chooses model and ids: they must not steer the terminal.
  return line.replace(/\p{Cc}/gu, '?');
}

function tokensOf({ input, output, cacheRead, cacheWrite }: TokenCounts): string {
  const cached =
    cacheRead + cacheWrite === 0 ? '' : ` (+${cacheRead} read and ${cacheWrite} written in the cache)`;
  return `${input}${cached} tokens in, ${output} out`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
