// What a provider is: one row. One that speaks a known wire costs a row and nothing else: whatever
// sets it apart is data that its wire reads, never a name that code asks for.

import type { AuthScheme } from '../../core/credential.ts';
import type { Effort } from '../../core/model.ts';
import type { OpenAiQuirks, QuirksWhere } from './openai-quirks.ts';

export interface ProviderRow {
  readonly name: string;
  /** `{NAME}` in it stands for the variable of this name. */
  readonly baseUrl: string;
  /** `baseUrl` is the person's own choice. */
  readonly ownUrl?: true;
  /** The variable that replaces `baseUrl`; absent where there is none. */
  readonly baseUrlKey?: string;
  /** The variable by which the server itself is told where to listen; nobody is chosen for it. */
  readonly hostKey?: string;
  /** Suffixes of a base URL that people paste from examples; stripped, longest first. */
  readonly endpoints: readonly string[];
  readonly auth: AuthScheme;
  /** A base URL of one's own needs no credential: a local server. */
  readonly keyless: boolean;
  /** A server on this machine: its usual address, too, needs no credential. */
  readonly local?: true;
  /** Only who names it gets it: its variable is often set for another purpose. */
  readonly onlyNamed?: true;
  /** The variable that names the model when nobody else does. */
  readonly modelKey?: string;
  /** Absent where there is none that everybody has. */
  readonly defaultModel?: string;
  /** With a base URL of one's own, ask the server which models it has instead of taking the default. */
  readonly listsModels: boolean;
  /** Bare ids that mean this provider. */
  readonly ids?: RegExp;
  /** Ids that mean this provider before any pattern does. */
  readonly models?: readonly string[];
  /** The section of the catalogue that lists what it sells; its name when absent. */
  readonly catalogue?: string;
  /** Where the server tells what it knows of a model. */
  readonly probe?: ProbeName;
  /** What makes the context window larger, as the rest of a sentence; for servers that have to be told. */
  readonly widen?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  /** Spoken instead at a base URL of one's own on another host, where most servers know only an older format. */
  readonly moved?: Dialect;
}

/** `list`: its list of models; the others are addresses of certain servers. */
export type ProbeName = 'list' | 'ollama' | 'llamacpp' | 'lmstudio' | 'litellm';
export type Dialect = AnthropicDialect | OpenAiDialect | ResponsesDialect | GeminiDialect;

export interface AnthropicDialect {
  readonly wire: 'anthropic-messages';
  /** The first that matches the id counts; models that none matches think within a budget of tokens. */
  readonly adaptive: readonly AdaptiveThinking[];
}

/** A family of models that decide themselves how much to think. */
export interface AdaptiveThinking {
  readonly ids: RegExp;
  /** Without being asked to. */
  readonly byDefault: boolean;
  /** Whether it can be told not to. Where it cannot, it cannot be made to call a certain tool either. */
  readonly canStop: boolean;
  /** Thinking is signed together with all that precedes it, so a shortened history needs leave to drop it. */
  readonly bound: boolean;
}

export interface OpenAiDialect {
  readonly wire: 'openai-completions';
  /** In what the server differs from a plain one. */
  readonly quirks?: OpenAiQuirks;
  /** In what some of its models, or of its addresses, differ from `quirks`. */
  readonly where?: readonly QuirksWhere[];
}

export interface ResponsesDialect {
  readonly wire: 'openai-responses';
  /** Below the base URL; `/responses` when absent. */
  readonly path?: string;
  /** The first that matches the id counts; models that none matches do not reason. */
  readonly families: readonly ReasoningFamily[];
  /** How much of the reasoning is told; `auto` when absent. */
  readonly summary?: 'auto' | 'concise' | 'detailed' | 'none';
  /** Sent for a request without a system prompt, where the server refuses one without instructions. */
  readonly instructions?: string;
  /** The server refuses to be told how long an answer may be. */
  readonly unlimited?: boolean;
  /** The header that names the conversation, for servers that keep one's requests together. */
  readonly conversationHeader?: string;
}

/** Models that read each other's reasoning and know the same efforts. */
export interface ReasoningFamily {
  readonly ids: RegExp;
  readonly efforts: Readonly<Record<Effort, string>>;
}

export interface GeminiDialect {
  readonly wire: 'google-generative-ai';
  /** Below the base URL, with a query; `{model}` stands for the id. */
  readonly path: string;
  /** The first that matches the id counts; models that none matches do not think. */
  readonly families: readonly GeminiFamily[];
}

export interface GeminiFamily {
  readonly ids: RegExp;
  readonly thinking: ThinkingLevels | ThinkingBudget;
  /**
   * As Gemini 3 introduced it: a call without its signature is refused, a function's response may hold images, and an
   * answer of a given shape may be asked for beside tools.
   */
  readonly modern: boolean;
}

export interface ThinkingLevels {
  readonly kind: 'level';
  readonly levels: Readonly<Record<Effort, string>>;
}

/** Tokens. */
export interface ThinkingBudget {
  readonly kind: 'budget';
  readonly least: number;
  readonly most: number;
  /** Whether it can be told not to think. */
  readonly canStop: boolean;
}
