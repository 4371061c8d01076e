// What a provider is: one row. One that speaks a known wire costs a row and nothing else: whatever
// sets it apart is data that its wire reads, never a name that code asks for.

import type { AuthScheme, Place } from '../../core/credential.ts';
import type { Effort } from '../../core/model.ts';
import type { OpenAiQuirks, QuirksWhere } from './openai-quirks.ts';

export interface ProviderRow {
  readonly name: string;
  readonly baseUrl: string;
  /** `baseUrl` is the person's own choice. */
  readonly ownUrl?: true;
  /** Stands behind the base URL, also behind one of one's own. */
  readonly accountPath?: string;
  /** What stands in braces in `baseUrl` and `accountPath`: `{region}`, `{project}`, `{resource}`. */
  readonly place?: readonly PlacePart[];
  /** Regions whose address is made in another way; the first that matches counts. */
  readonly regions?: readonly { readonly ids: RegExp; readonly baseUrl: string }[];
  /** The variable that replaces `baseUrl`; absent where there is none. */
  readonly baseUrlKey?: string;
  /** The variable by which the server itself is told where to listen; nobody is chosen for it. */
  readonly hostKey?: string;
  /** Suffixes of a base URL that people paste from examples; stripped, longest first. */
  readonly endpoints: readonly string[];
  readonly auth: AuthScheme;
  /** How one gets in, as a sentence in the imperative, where that takes more than a key. */
  readonly access?: string;
  /** Without being named it is taken only when one of these variables is set; absent where its key is reason enough. */
  readonly meantBy?: readonly string[];
  /** A base URL of one's own needs no credential: a local server. */
  readonly keyless: boolean;
  /** A server on this machine: its usual address, too, needs no credential. */
  readonly local?: true;
  /** The variable that names the model when nobody else does. */
  readonly modelKey?: string;
  /** Absent where there is none that everybody has. */
  readonly defaultModel?: string;
  /** With a base URL of one's own, ask the server which models it has instead of taking the default. */
  readonly listsModels: boolean;
  /** Finds, as its first group, the vendor's own name in an id of a provider that sells what others made. */
  readonly vendorId?: RegExp;
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
  /** Models of this provider that speak another wire; the first that matches the id counts. */
  readonly others?: readonly { readonly ids: RegExp; readonly dialect: Dialect }[];
}

/** `list`: its list of models; the others are addresses of certain servers. */
export type ProbeName = 'list' | 'ollama' | 'llamacpp' | 'lmstudio' | 'litellm';

/** Bedrock's own API for models of all makers. */
export interface ConverseDialect {
  readonly wire: 'bedrock-converse';
  /** Models that can be made to call a certain tool. */
  readonly forced: RegExp;
}

/** A part of an address that the account decides. */
export interface PlacePart {
  readonly name: keyof Place;
  /** From a settings file: wins over all else. */
  readonly value?: string;
  /** In order of preference; then counts what the credential says. */
  readonly variables: readonly string[];
  /** When nobody says; without it that is an error. */
  readonly fallback?: string;
}

export type Dialect = AnthropicDialect | OpenAiDialect | ResponsesDialect | GeminiDialect | ConverseDialect;

export interface AnthropicDialect {
  readonly wire: 'anthropic-messages';
  /** The first that matches the id counts; models that none matches think within a budget of tokens. */
  readonly adaptive: readonly AdaptiveThinking[];
  /** The first that matches the id counts; all others know one speed. */
  readonly fast?: readonly FastModels[];
  /** Models whose answer can be held to a JSON schema. */
  readonly structured?: RegExp;
  readonly quirks?: AnthropicQuirks;
  /** How a cloud wraps the API; absent for the API itself. */
  readonly envelope?: AnthropicEnvelope;
}

/** What a person may choose for a provider of this wire. */
export interface AnthropicQuirks {
  /** How long what is marked stays in the cache; five minutes when absent. Writing for an hour costs more. */
  readonly cacheTtl?: '5m' | '1h';
  /** Have the sources named of what is said about documents. The API refuses that beside a schema for the answer. */
  readonly citations?: boolean;
  /** Large attachments are uploaded once and referred to. */
  readonly files?: boolean;
}

/** Models that are sold at a higher speed. */
export interface FastModels {
  readonly ids: RegExp;
  /** The beta that must be asked for with it. */
  readonly beta?: string;
  /** A fast answer costs this many times the price. */
  readonly priceFactor: number;
}

/** The API behind a cloud's door: the model stands in the address, the version in the body. */
export interface AnthropicEnvelope {
  /** Below the base URL, with `{model}` for the id. */
  readonly path: string;
  /** `anthropic_version`. */
  readonly version: string;
  /** Where betas are asked for. */
  readonly betas: 'header' | 'body';
  /** Frames of AWS in place of server-sent events; the body does not say that it wants a stream then. */
  readonly framing?: 'aws-event-stream';
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
