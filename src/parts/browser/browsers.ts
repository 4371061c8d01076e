// The browsers of all conversations, each a job of its own: it is started by the first call that needs it, lives on between
// prompts, and is gone with its conversation.

import { ToolFailure } from '../../core/errors.ts';
import type { NetworkGuard } from '../../core/network.ts';
import type { ToolContext } from '../../core/tool.ts';
import { Browser } from './browser.ts';
import { DevTools } from './dev-tools.ts';
import { type FilterProxy, startFilterProxy } from './filter-proxy.ts';
import { launch } from './launch.ts';

export interface BrowserOptions {
  guard(): Promise<NetworkGuard>;
  /** The proxy that the person reaches a host through, if any. */
  upstream(url: URL): Promise<URL | undefined>;
  readonly executable?: string | undefined;
  /** Default: true. */
  readonly headless?: boolean | undefined;
  /** Default: true, unless the program runs as root, which the browser's sandbox does not allow. */
  readonly sandbox?: boolean | undefined;
}

export interface OpenBrowser {
  readonly browser: Browser;
  readonly guard: NetworkGuard;
  readonly job: string;
  takeRefusals: FilterProxy['takeRefusals'];
  endForbidden: FilterProxy['endForbidden'];
}

export interface Browsers {
  /** Starts one where there is none. Rejects with `ToolFailure`. */
  start(context: ToolContext): Promise<OpenBrowser>;
  /** Rejects with `ToolFailure` where there is none. */
  get(context: ToolContext): Promise<OpenBrowser>;
  stop(context: ToolContext): Promise<boolean>;
}

/** Milliseconds in which a browser is there. */
const START_MS = 30_000;
/** Characters of what it says of itself that are kept for an error. */
const MAX_STDERR = 2000;

export function createBrowsers(options: BrowserOptions): Browsers {
  const open = new Map<string, Promise<OpenBrowser>>();
  const keyOf = ({ identity }: ToolContext) => `${identity.agent}\n${identity.sender}\n${identity.session}`;
  const browsers: Browsers = {
    start(context) {
      const key = keyOf(context);
      const known = open.get(key);
      if (known !== undefined) return known;
      const started = startBrowser(options, context, () => open.delete(key));
      open.set(key, started);
      started.catch(() => open.delete(key));
      return started;
    },
    async get(context) {
      const known = open.get(keyOf(context));
      if (known === undefined) throw new ToolFailure('No page is open; begin with browser_navigate.');
      return known;
    },
    async stop(context) {
      const known = open.get(keyOf(context));
      if (known === undefined) return false;
      await context.jobs.stop((await known).job);
      return true;
    },
  };
  return browsers;
}

async function startBrowser(
  options: BrowserOptions,
  context: ToolContext,
  ended: () => void,
): Promise<OpenBrowser> {
  const { jobs, clock, signal } = context;
  const guard = await options.guard();
  const folder = await context.scratch();
  const ready = Promise.withResolvers<Started>();
  ready.promise.catch(() => {});
  const job = await jobs.start({
    kind: 'command',
    title: 'browser',
    async run(output, stop) {
      try {
        return await live({ options, context, guard, folder }, { output, stop }, ready.resolve);
      } catch (error) {
        ready.reject(error);
        throw error;
      } finally {
        ready.reject(new ToolFailure('The browser ended at once.'));
        ended();
      }
    },
  });
  const late = new AbortController();
  const timeout = clock.sleep(START_MS, AbortSignal.any([signal, late.signal])).then(() => {
    throw new ToolFailure(`The browser did not start within ${START_MS / 1000} seconds.`);
  });
  timeout.catch(() => {});
  try {
    return { ...(await Promise.race([ready.promise, timeout])), guard, job: job.id };
  } catch (error) {
    await jobs.stop(job.id);
    throw error;
  } finally {
    late.abort();
  }
}

type Started = Pick<OpenBrowser, 'browser' | 'takeRefusals' | 'endForbidden'>;

interface Living {
  readonly options: BrowserOptions;
  readonly context: ToolContext;
  readonly guard: NetworkGuard;
  readonly folder: string;
}

interface JobSide {
  readonly output: (text: string) => Promise<void>;
  readonly stop: AbortSignal;
}

async function live(
  { options, context, guard, folder }: Living,
  { output, stop }: JobSide,
  ready: (started: Started) => void,
): Promise<{ readonly exitCode: number | null }> {
  const proxy = new AbortController();
  try {
    const denied = deniedBy(context.permits);
    const filter = await startFilterProxy(
      { guard, upstream: options.upstream, denied },
      AbortSignal.any([stop, proxy.signal]),
    );
    const { executable, headless = true, sandbox = process.getuid?.() !== 0 } = options;
    const child = await launch({ executable, headless, sandbox, folder }, context.open, stop);
    const said = keepEnd(child.stderr, output);
    drain(child.stdout);
    if (child.channel === undefined) throw new ToolFailure('The browser has no pipes to be spoken to.');
    const devTools = new DevTools(child.channel, context.clock);
    const browser = new Browser(devTools, context);
    const failure = child.ended.then(() => {
      throw new ToolFailure(`The browser ended while it started. ${startHint(said())}`);
    });
    failure.catch(() => {});
    await Promise.race([browser.start(filter.port, stop), failure]);
    ready({ browser, takeRefusals: filter.takeRefusals, endForbidden: filter.endForbidden });
    const { exitCode } = await child.ended;
    return { exitCode };
  } finally {
    proxy.abort();
  }
}

/** Why a rule forbids a URL. A mode that would ask, or refuse what it cannot ask about, says nothing of parts of a page. */
function deniedBy(permits: ToolContext['permits']): (url: string) => Promise<string | undefined> {
  return async (url) => {
    const { decision, rule, reason } = await permits({ kind: 'network', url });
    return decision === 'deny' && rule !== undefined ? reason : undefined;
  };
}

function startHint(said: string): string {
  if (/No usable sandbox|sandbox_host|namespace/i.test(said))
    return 'Its sandbox cannot be made here; the person can set browser.sandbox = false in the settings.';
  return `It said: ${said.trim()}`;
}

/** Reads on, so that the program can; what it said last is kept for an error. */
function keepEnd(stream: AsyncIterable<Uint8Array>, output: (text: string) => Promise<void>): () => string {
  let end = '';
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      end = (end + text).slice(-MAX_STDERR);
      await output(text);
    }
  };
  read().catch(() => {});
  return () => end;
}

function drain(stream: AsyncIterable<Uint8Array>): void {
  const read = async () => {
    for await (const _ of stream);
  };
  read().catch(() => {});
}
