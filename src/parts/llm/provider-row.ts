// What a provider is: one row. One that speaks a known wire costs a row and nothing else: whatever
// sets it apart is data that its wire reads, never a name that code asks for.

import type { AuthScheme } from '../../core/credential.ts';
import type { OpenAiQuirks, QuirksWhere } from './openai-quirks.ts';

export interface ProviderRow {
  readonly name: string;
  /** Where there is no address that everybody has, an example of one. */
  readonly baseUrl: string;
  /** Everybody has an address of their own: `baseUrlKey` must be set. */
  readonly ownAddress?: true;
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
  readonly dialect: AnthropicDialect | OpenAiDialect;
}

/** `list`: its list of models; the others are addresses of certain servers. */
export type ProbeName = 'list' | 'ollama' | 'llamacpp' | 'lmstudio' | 'litellm';

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
