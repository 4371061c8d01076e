// What a provider is: one row. One that speaks a known wire costs a row and nothing else: whatever
// sets it apart is data that its wire reads, never a name that code asks for.

import type { AuthScheme, Place } from '../../core/credential.ts';
import type { Effort } from '../../core/model.ts';

export interface ProviderRow {
  readonly name: string;
  readonly baseUrl: string;
  /** Stands behind the base URL, also behind one of one's own. */
  readonly accountPath?: string;
  /** What stands in braces in `baseUrl` and `accountPath`: `{region}`, `{project}`. */
  readonly place?: readonly PlacePart[];
  /** Regions whose address is made in another way; the first that matches counts. */
  readonly regions?: readonly { readonly ids: RegExp; readonly baseUrl: string }[];
  /** The variable that replaces `baseUrl`; absent where there is none. */
  readonly baseUrlKey?: string;
  /** Suffixes of a base URL that people paste from examples; stripped, longest first. */
  readonly endpoints: readonly string[];
  readonly auth: AuthScheme;
  /** How one gets in, as a sentence in the imperative, where that takes more than a key. */
  readonly access?: string;
  /** Without being named it is taken only when one of these variables is set; absent where its key is reason enough. */
  readonly meantBy?: readonly string[];
  /** A base URL of one's own needs no credential: a local server. */
  readonly keyless: boolean;
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
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  /** Models of this provider that speak another wire; the first that matches the id counts. */
  readonly others?: readonly { readonly ids: RegExp; readonly dialect: Dialect }[];
}

export type Dialect = AnthropicDialect | OpenAiDialect | ConverseDialect;

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
  /** Hosts (and their subdomains) that take `max_completion_tokens`; all others take `max_tokens`. */
  readonly completionTokenHosts: readonly string[];
  /** The first that matches the id counts. */
  readonly efforts: readonly EffortNames[];
}

export interface EffortNames {
  readonly ids: RegExp;
  /** What the provider calls an effort, where it is not the same word. */
  readonly names: Partial<Record<Effort, string>>;
  /** The only effort that this endpoint accepts beside tools. */
  readonly withTools?: string;
}
