// What a person's settings file says, as plain data: every layer is merged and every name checked by then. Where a
// key of a command line means the same, the command line wins.

import type { Effort } from './model.ts';

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
