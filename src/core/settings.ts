// What a person's settings file says, as plain data: every layer is merged and every name checked by then. Where a
// key of a command line means the same, the command line wins.

import type { Effort } from './model.ts';
import type { PermissionMode, Rule } from './permission.ts';
import type { SandboxMode } from './sandbox.ts';

export interface Settings {
  readonly model?: string;
  /** Where to turn, in order, when the model fails. */
  readonly fallbackModels?: readonly string[];
  /** For summaries, titles and other light work. */
  readonly smallModel?: string;
  /** In place of `model` while the permission mode is `plan`. */
  readonly planModel?: string;
  readonly effort?: Effort;
  readonly fast?: boolean;
  /** Tokens that a model may write in one message. */
  readonly maxTokens?: number;
  /** A command whose output is the key of any provider that has no other. */
  readonly apiKeyHelper?: string;
  /** Milliseconds that the output of a helper stays good. */
  readonly apiKeyHelperTtlMs?: number;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** By `PROVIDER/ID` or `ID`. */
  readonly models: Readonly<Record<string, ModelSettings>>;
  readonly budget: BudgetSettings;
  readonly network: NetworkSettings;
  readonly history?: HistorySettings;
  readonly policy: PolicySettings;
  readonly permissions?: PermissionSettings;
  readonly tools?: ToolSettings;
  readonly shell?: ShellSettings;
  /** Language servers, by name. */
  readonly lsp?: Readonly<Record<string, LspServerSettings>>;
  readonly web?: WebSettings;
  readonly browser?: BrowserSettings;
  /** Other Crabs that tasks may be handed to, by name. */
  readonly remotes?: Readonly<Record<string, RemoteSettings>>;
  readonly sandbox?: SandboxSettings;
  readonly daemon?: DaemonSettings;
}

/** Of several files, the rules and folders of all hold; the mode is that of the last one that names it. */
export interface PermissionSettings {
  readonly mode?: PermissionMode;
  /** As written and not yet read; each names its file and line. */
  readonly rules: readonly Rule[];
  /** Folders that count as the workspace. Absolute. */
  readonly directories: readonly string[];
}

/** Which tools there are at all, by any of their names; `*` stands for any letters. */
export interface ToolSettings {
  readonly only?: readonly string[];
  /** Wins over `only`. */
  readonly without?: readonly string[];
}

/** The shell in which commands run. */
export interface ShellSettings {
  /** Absolute. Default: `bash`, or `sh` where there is none. */
  readonly program?: string;
  /** Lines that run before every command. */
  readonly prefix?: string;
}

/** A language server of one's own, or what differs for a known one of the same name. */
export interface LspServerSettings {
  readonly enabled?: boolean;
  /** The program and its arguments. */
  readonly command?: readonly string[];
  /** File name endings, each with the language that the protocol has for it. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Files that mark the root of a project. */
  readonly rootMarkers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly initializationOptions?: Readonly<Record<string, unknown>>;
  /** Started when a file of its own is edited, not only when it is asked something. */
  readonly startOnEdit?: boolean;
}

export interface WebSettings {
  /** Hosts on private addresses that tools may reach: `NAME`, `NAME:PORT`, `*.NAME`, an address, or a block of them. */
  readonly privateHosts?: readonly string[];
  /** The search engine, by name. */
  readonly searchBackend?: string;
  /** Its address, in place of the one that is known. */
  readonly searchUrl?: string;
}

export interface BrowserSettings {
  /** The program; else the usual ones are looked for. */
  readonly executable?: string;
  readonly headless?: boolean;
  /** The browser's own sandbox for pages. */
  readonly sandbox?: boolean;
}

/** How programs are confined; what is not said is as careful as the mode allows. */
export interface SandboxSettings {
  readonly mode?: SandboxMode;
  /** Folders beside the workspace. Absolute. */
  readonly writable?: readonly string[];
  /** Files and folders beside those that are hidden anyway. Absolute. */
  readonly unreadable?: readonly string[];
  /** Of all else only these, and what a system needs, may be read. Absolute. */
  readonly readable?: readonly string[];
  /** The programs, and folders of programs, that may be started. Absolute. */
  readonly executable?: readonly string[];
  readonly network?: 'none' | 'all';
  readonly allowedHosts?: readonly string[];
  readonly privateHosts?: readonly string[];
  readonly unixSockets?: boolean;
  readonly allowLeaving?: boolean;
  readonly maxFileMib?: number;
  readonly maxCpuSeconds?: number;
  readonly maxProcesses?: number;
  readonly maxMemoryMib?: number;
  /** The one backend that may be used, by name. */
  readonly backend?: string;
  /** Where each key stands that somebody has set, as `FILE:LINE`, by its name in the file. */
  readonly sources?: Readonly<Record<string, string>>;
}

/** Of the daemon of this home. */
export interface DaemonSettings {
  /** `false`: only the sockets in the home. */
  readonly tcp?: boolean;
  readonly host?: string;
  readonly port?: number;
  /** Clients that may be connected at once. */
  readonly maxClients?: number;
  /** Who may use the shell although they come from elsewhere: the names in their tokens. */
  readonly shellSenders?: readonly string[];
  /** Conversations that nobody uses which stay in memory. */
  readonly maxLoadedSessions?: number;
  /** Milliseconds that one of them stays. */
  readonly idleMs?: number;
  /** Milliseconds that a question waits when nobody is there to answer it. */
  readonly questionMs?: number;
  /** Subscriptions to events that there may be. */
  readonly maxSubscriptions?: number;
  /** Events that may lead to one another in a row. */
  readonly maxEventHops?: number;
  /** MiB of a log file. */
  readonly logMib?: number;
  /** Log files that are kept beside the one in use. */
  readonly logFiles?: number;
}

/** Another Crab, and the token for it: in a variable, in a file, or stored by a login. */
export interface RemoteSettings {
  /** `wss://…`, or `ws://…` on this machine. */
  readonly url: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  /** Whom to ask where nobody is named. */
  readonly agent?: string;
  /** The folder there in which a conversation of one's own begins. */
  readonly cwd?: string;
}

/** What is kept of files so that runs can be undone. */
export interface HistorySettings {
  /** MiB on disk, of all workspaces; 0 keeps nothing. */
  readonly quotaMib?: number;
}

/** When something is done by itself. Shares are between 0 and 1. */
export interface PolicySettings {
  readonly autoCompact?: boolean;
  /** Tokens of the window that stay free. */
  readonly compactReserveTokens?: number;
  /** Tokens of the newest messages that a compaction leaves as they are. */
  readonly compactKeepRecentTokens?: number;
  /** Share of the window that may be used before the conversation is compacted. */
  readonly compactAt?: number;
  /** Share of the window from which requests leave out most of old tool results. */
  readonly snipAt?: number;
  /** A model is asked for a line in the place of each old result that requests leave out as a whole. */
  readonly tellResults?: boolean;
  /** In which order `recall` shows what it found. */
  readonly memoryRanking?: 'words' | 'age' | 'model';
  /** The system prompt lists what is remembered. */
  readonly memoryPrompt?: boolean;
  /** Notes that say the same are merged at the end of a conversation. */
  readonly memoryConsolidate?: boolean;
  /** US dollars that doing so may cost each time. */
  readonly memoryConsolidateUsd?: number;
}

/** US dollars. */
export interface BudgetSettings {
  /** All requests of a conversation in one process. */
  readonly runUsd?: number;
  /** All requests of a session, whenever they were. */
  readonly conversationUsd?: number;
  /** From midnight to midnight in the person's time zone, over all conversations. */
  readonly dayUsd?: number;
  /** In a day, for one sender. */
  readonly senderUsd?: number;
}

export interface NetworkSettings {
  /** In place of HTTPS_PROXY and HTTP_PROXY. */
  readonly proxy?: string;
  readonly noProxy?: string;
  /** PEM files. */
  readonly caFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** A provider of one's own, or what differs for a built-in one of the same name. */
export interface ProviderSettings {
  /** The wire format, by the name in `ModelInfo.api`. */
  readonly api?: string;
  readonly baseUrl?: string;
  /** The environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  /** The key itself. Accepted with a warning. */
  readonly apiKey?: string;
  readonly apiKeyHelper?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel?: string;
  /** Bare ids that mean this provider. No two providers may name the same. */
  readonly models?: readonly string[];
  readonly oauth?: OAuthSettings;
  readonly maxRetries?: number;
  /** Answers of the wire that differ from the format's own, by the names that the wire documents. */
  readonly quirks?: Readonly<Record<string, string | boolean>>;
  /** AWS and Google Cloud. */
  readonly region?: string;
  readonly profile?: string;
  readonly project?: string;
  /** Azure. */
  readonly resource?: string;
}

export interface OAuthSettings {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scopes?: readonly string[];
  readonly port?: number;
}

export interface ModelSettings {
  /** Tokens. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  /** US dollars for a million tokens. */
  readonly price?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  readonly input?: readonly ('image' | 'pdf')[];
  readonly reasoning?: boolean;
}

export const NO_SETTINGS: Settings = { providers: {}, models: {}, budget: {}, network: {}, policy: {} };
