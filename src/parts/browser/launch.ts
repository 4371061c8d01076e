// Starts a Chromium with a profile of its own that is gone with the conversation. Nothing that it does by itself (updates,
// sync, reports) is left on, or finds a way out.

import { ToolFailure } from '../../core/errors.ts';
import type { OpenProcess, RunningProcess } from '../../core/host.ts';

export interface LaunchOptions {
  /** Absolute; else the usual ones are tried. */
  readonly executable?: string | undefined;
  readonly headless: boolean;
  readonly sandbox: boolean;
  /** A folder for all that it writes. */
  readonly folder: string;
}

const PROGRAMS = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'brave-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** Rejects with `ToolFailure` when there is none. */
export async function launch(
  options: LaunchOptions,
  open: OpenProcess,
  signal: AbortSignal,
): Promise<RunningProcess> {
  const { executable, folder } = options;
  const programs = executable === undefined ? PROGRAMS : [executable];
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder };
  for (const program of programs) {
    try {
      return await open(
        // Its own sandbox needs what ours forbids, and its only way out is a proxy of ours.
        { argv: [program, ...argumentsOf(options)], cwd: folder, env, channel: true, unconfined: true },
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ToolFailure)) throw error;
    }
  }
  throw new ToolFailure(
    executable === undefined
      ? 'There is no Chromium on this machine. The person can install one, or name it with browser.executable in the settings.'
      : `${executable} (browser.executable in the settings) cannot be started.`,
  );
}

/**
 * What asks its makers' servers for something while a page is open, opens another address than the one given, or keeps the
 * elements of a page that was left, which references could still mean.
 */
const UNWANTED = [
  'AutofillServerCommunication',
  'BackForwardCache',
  'DialMediaRouteProvider',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'MediaRouter',
  'OptimizationHints',
  'PreconnectToSearch',
  'Translate',
];

function argumentsOf({ headless, sandbox, folder }: LaunchOptions): readonly string[] {
  return [
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}/profile`,
    // Pages are given a proxy that answers. What the browser wants to tell its makers goes to one that does not.
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--google-base-url=http://127.0.0.1:9/',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-extensions',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-dev-shm-usage',
    `--disable-features=${UNWANTED.join(',')}`,
    '--password-store=basic',
    '--use-mock-keychain',
    '--mute-audio',
    '--window-size=1280,800',
    ...(headless ? ['--headless=new', '--hide-scrollbars', '--disable-gpu'] : []),
    ...(sandbox ? [] : ['--no-sandbox']),
    'about:blank',
  ];
}
