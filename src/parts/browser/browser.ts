// One browser of one conversation: its tabs, what they say, and where they may go. Each page that a tab would open is judged
// at that moment, because rules change while a browser is open: a click, a script or a redirect leads only to hosts that
// the rules allow or that a call of `browser_navigate` was allowed to open; else it is stopped and the model is told the URL.

import { ToolFailure } from '../../core/errors.ts';

import type { JsonObject } from '../../core/schema.ts';
import type { ToolContext } from '../../core/tool.ts';
import { type DevTools, type DevToolsEvent, objectIn } from './dev-tools.ts';

const MAX_CONSOLE = 200;
const MAX_NOTES = 20;
/** Hosts that pages wanted something of. */
const MAX_ASKED = 10_000;
/** Milliseconds that a page may take to load before what is there is shown. */
const LOAD_MS = 30_000;
/** Milliseconds in which a click has begun to lead somewhere, if it does. */
const SETTLE_MS = 150;

export interface Tab {
  readonly target: string;
  readonly session: string;
  url: string;
  title: string;
  isLoading: boolean;
  readonly console: string[];
}

export class Browser {
  readonly devTools: DevTools;
  readonly #clock: ToolContext['clock'];
  readonly #permits: ToolContext['permits'];
  /** By target, once they are prepared. */
  readonly #tabs = new Map<string, Tab>();
  /** By session, from the first on: what a page wants may come together with the last answer of its preparation. */
  readonly #attached = new Map<string, Tab>();
  readonly #hosts = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #notes: string[] = [];
  #active: Tab | undefined;
  #context = '';

  constructor(devTools: DevTools, { clock, permits }: Pick<ToolContext, 'clock' | 'permits'>) {
    this.devTools = devTools;
    this.#clock = clock;
    this.#permits = permits;
    devTools.listen((event) => this.#take(event));
  }

  /** Resolves when the first tab is there, in a context whose only way out is the proxy on this port. */
  async start(proxyPort: number, signal: AbortSignal): Promise<void> {
    const { browserContextId } = await this.devTools.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: `http://127.0.0.1:${proxyPort}`,
      // Without this, loopback would be reached past the proxy.
      proxyBypassList: '<-loopback>',
    });
    this.#context = String(browserContextId);
    await this.devTools.send('Browser.setDownloadBehavior', {
      behavior: 'deny',
      browserContextId,
      eventsEnabled: true,
    });
    await this.devTools.send('Target.setDiscoverTargets', { discover: true });
    await this.devTools.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: [{ type: 'page' }],
    });
    await this.open(signal);
  }

  get tabs(): readonly Tab[] {
    return [...this.#tabs.values()];
  }

  /** Throws `ToolFailure` when all are closed. */
  get active(): Tab {
    if (this.#active === undefined) throw new ToolFailure('No tab is open; browser_navigate opens one.');
    return this.#active;
  }

  send(method: string, params: JsonObject = {}): Promise<JsonObject> {
    return this.devTools.send(method, params, this.active.session);
  }

  /** What happened beside the call since the last look. */
  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Whether a page has wanted something of this host. */
  readonly hasAsked = (host: string): boolean => this.#asked.has(host);

  /** The URL's host has passed the permission rules. */
  permit(url: URL): void {
    this.#hosts.add(url.hostname);
  }

  async navigate(url: URL, signal: AbortSignal): Promise<void> {
    if (this.#active === undefined) await this.open(signal);
    const { errorText } = await this.send('Page.navigate', { url: url.href });
    if (typeof errorText === 'string' && errorText !== '' && errorText !== 'net::ERR_ABORTED')
      throw new ToolFailure(
        [`${url.href} could not be loaded: ${errorText}.`, ...this.takeNotes()].join('\n'),
      );
    await this.settle(signal);
  }

  /** Waits for what an action has set off, but not for ever. */
  async settle(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(SETTLE_MS, signal);
    await this.#until(() => this.#active?.isLoading !== true, LOAD_MS, signal);
    if (this.#active?.isLoading === true)
      this.#note(`The page was still loading after ${LOAD_MS / 1000} seconds.`);
  }

  async open(signal: AbortSignal): Promise<void> {
    const { targetId } = await this.devTools.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId: this.#context,
    });
    await this.#until(() => this.#tabs.has(String(targetId)), LOAD_MS, signal);
    this.select(String(targetId));
  }

  select(target: string): void {
    const tab = this.#tabs.get(target);
    if (tab === undefined) throw new ToolFailure('There is no such tab.');
    this.#active = tab;
  }

  async close(tab: Tab, signal: AbortSignal): Promise<void> {
    await this.devTools.send('Target.closeTarget', { targetId: tab.target });
    await this.#until(() => !this.#tabs.has(tab.target), LOAD_MS, signal);
  }

  /** Resolves when it holds, or after `ms`. */
  async until(holds: () => Promise<boolean>, ms: number, signal: AbortSignal): Promise<boolean> {
    const end = this.#clock.monotonic() + ms;
    for (;;) {
      if (await holds()) return true;
      if (this.#clock.monotonic() >= end) return false;
      await this.#clock.sleep(100, signal);
    }
  }

  async #until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const late = this.#clock.sleep(ms, AbortSignal.any([signal, stop.signal])).then(() => true);
    late.catch(() => {});
    try {
      while (!holds()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#waiting.add(resolve);
        const isLate = await Promise.race([promise, late, this.devTools.closed.then(() => true)]);
        this.#waiting.delete(resolve);
        if (isLate === true) return;
      }
    } finally {
      stop.abort();
    }
  }

  #note(text: string): void {
    if (this.#notes.length < MAX_NOTES && !this.#notes.includes(text)) this.#notes.push(text);
  }

  #take({ method, params, session }: DevToolsEvent): void {
    const tab = session === undefined ? undefined : this.#attached.get(session);
    switch (method) {
      case 'Target.attachedToTarget':
        this.#attach(params);
        break;
      case 'Target.detachedFromTarget':
        this.#detach(String(params['targetId'] ?? ''), String(params['sessionId'] ?? ''));
        break;
      case 'Target.targetInfoChanged':
        this.#rename(objectIn(params['targetInfo']));
        break;
      case 'Target.targetCrashed':
        this.#note('The page crashed.');
        break;
      case 'Browser.downloadWillBegin':
        this.#note(`A download of ${String(params['url']).slice(0, 500)} was refused.`);
        break;
      default:
        if (tab !== undefined) this.#takeOfTab(tab, method, params);
    }
    for (const wake of this.#waiting) wake();
  }

  #takeOfTab(tab: Tab, method: string, params: JsonObject): void {
    const isMain = params['frameId'] === tab.target;
    switch (method) {
      case 'Page.frameStartedLoading':
        if (isMain) tab.isLoading = true;
        break;
      case 'Page.frameStoppedLoading':
        if (isMain) tab.isLoading = false;
        break;
      case 'Page.frameNavigated': {
        const { id, url } = objectIn(params['frame']);
        if (id !== tab.target) break;
        tab.url = String(url);
        tab.console.length = 0;
        break;
      }
      case 'Page.javascriptDialogOpening':
        this.#dialog(tab, params);
        break;
      case 'Fetch.requestPaused':
        this.#judge(tab, params).catch(() => {});
        break;
      case 'Network.requestWillBeSent':
        this.#remember(String(objectIn(params['request'])['url']));
        break;
      case 'Runtime.consoleAPICalled':
        say(tab, `[${String(params['type'])}] ${argumentsText(params['args'])}`);
        break;
      case 'Runtime.exceptionThrown': {
        const { text, exception } = objectIn(params['exceptionDetails']);
        say(tab, `[exception] ${String(objectIn(exception)['description'] ?? text)}`);
        break;
      }
      case 'Log.entryAdded': {
        const { level, text, url } = objectIn(params['entry']);
        say(tab, `[${String(level)}] ${String(text)} ${String(url ?? '')}`.trimEnd());
      }
    }
  }

  #attach(params: JsonObject): void {
    const { targetId, type, url, title, browserContextId } = objectIn(params['targetInfo']);
    const session = String(params['sessionId']);
    // The browser's own first tab is in another context, and stays unused.
    if (type !== 'page' || browserContextId !== this.#context) return;
    const target = String(targetId);
    const tab: Tab = {
      target,
      session,
      url: String(url),
      title: String(title),
      isLoading: false,
      console: [],
    };
    const prepared = [
      ['Page.enable'],
      ['Network.enable'],
      ['Runtime.enable'],
      ['Log.enable'],
      ['Fetch.enable', { patterns: [{ resourceType: 'Document', requestStage: 'Request' }] }],
      ['Runtime.runIfWaitingForDebugger'],
    ] as const;
    this.#attached.set(session, tab);
    const all = prepared.map(([method, given]) => this.devTools.send(method, given, session));
    Promise.all(all).then(
      () => {
        if (!this.#attached.has(session)) return;
        this.#tabs.set(target, tab);
        // A window that a page opens is what the person would look at.
        this.#active = tab;
        for (const wake of this.#waiting) wake();
      },
      () => {},
    );
  }

  #detach(target: string, session: string): void {
    const tab = [...this.#attached.values()].find((one) => one.target === target || one.session === session);
    if (tab === undefined) return;
    this.#attached.delete(tab.session);
    this.#tabs.delete(tab.target);
    if (this.#active === tab) this.#active = this.tabs.at(-1);
  }

  #rename({ targetId, url, title }: JsonObject): void {
    const tab = this.#tabs.get(String(targetId));
    if (tab === undefined) return;
    tab.url = String(url);
    tab.title = String(title);
  }

  #remember(url: string): void {
    if (this.#asked.size < MAX_ASKED && URL.canParse(url)) this.#asked.add(new URL(url).hostname);
  }

  /** Nobody is there to answer: it is taken back, except for the one that would keep a page from being left. */
  #dialog(tab: Tab, { type, message }: JsonObject): void {
    const accept = type === 'beforeunload';
    if (!accept)
      this.#note(
        `The page showed a dialog (${String(type)}), which was dismissed: ${String(message).slice(0, 500)}`,
      );
    this.devTools.send('Page.handleJavaScriptDialog', { accept }, tab.session).catch(() => {});
  }

  /** What a frame loads is the proxy's to judge, like all else that a page is made of. */
  async #judge(tab: Tab, params: JsonObject): Promise<void> {
    const url = String(objectIn(params['request'])['url']);
    const isMain = params['frameId'] === tab.target;
    const refusal = isMain ? await this.#refusal(url).catch(() => ', which could not be judged.') : undefined;
    const { requestId } = params;
    const [method, given] =
      refusal === undefined
        ? ['Fetch.continueRequest', { requestId }]
        : ['Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }];
    if (refusal !== undefined) this.#note(`The page wanted to go to ${url.slice(0, 2000)}${refusal}`);
    await this.devTools.send(method, given, tab.session);
  }

  /** Why a tab may not open a URL, as the end of a sentence. */
  async #refusal(url: string): Promise<string | undefined> {
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isWeb) return ', which is no page of the web.';
    const { decision, reason } = await this.#permits({ kind: 'network', url });
    if (decision === 'deny') return `. ${reason}`;
    if (decision === 'allow' || this.#hosts.has(new URL(url).hostname)) return undefined;
    return ', which nobody has allowed yet. Call browser_navigate with that URL to go there.';
  }

  /** Leaves the page in front if the rules have come to forbid it. Rejects with `ToolFailure` then. */
  async leaveForbidden(signal: AbortSignal): Promise<void> {
    const { url } = this.active;
    if (!/^https?:/.test(url)) return;
    const { decision, reason } = await this.#permits({ kind: 'network', url });
    if (decision !== 'deny') return;
    this.#hosts.delete(new URL(url).hostname);
    await this.navigate(new URL('about:blank'), signal);
    throw new ToolFailure(`${url} was closed: ${reason}`);
  }
}

function say(tab: Tab, line: string): void {
  tab.console.push(line.slice(0, 2000).toWellFormed());
  if (tab.console.length > MAX_CONSOLE) tab.console.shift();
}

function argumentsText(args: unknown): string {
  const list = Array.isArray(args) ? args.map(objectIn) : [];
  return list
    .map(({ value, description }) =>
      value === undefined
        ? String(description ?? '')
        : typeof value === 'string'
          ? value
          : JSON.stringify(value),
    )
    .join(' ');
}
