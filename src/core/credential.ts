// How one is let in by a provider: the scheme that its row declares, and the credential that was found for it. Who
// speaks to the provider never sees where a secret was kept, and who keeps secrets knows no wire.

/** How a key is written on a request: `Authorization: Bearer KEY`, or the key alone in a header of this name. */
export type KeyStyle = 'bearer' | 'x-api-key' | 'api-key' | 'x-goog-api-key';

/** An OAuth 2.0 client (RFC 6749) with PKCE (RFC 7636), as `crab auth login` needs it. */
export interface OAuthClient {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The loopback port that the provider has registered; absent for any. */
  readonly port?: number;
  /** The path of the loopback address; `/callback` when absent. */
  readonly path?: string;
  /** Where the provider shows a code to copy, for machines without a browser. */
  readonly pasteUrl?: string;
  /** Where a machine without a browser asks for a code that is entered on another one (RFC 8628). */
  readonly deviceUrl?: string;
  /** Added to the authorize address. */
  readonly parameters?: Readonly<Record<string, string>>;
  /**
   * What the code is exchanged for: tokens (RFC 6749) when absent, or a `key` of the person's own that is asked for in
   * JSON and does not run out, as OpenRouter does it.
   */
  readonly exchange?: 'tokens' | 'key';
}

export type AuthScheme =
  | {
      readonly kind: 'key';
      /** In order of preference. */
      readonly variables: readonly { readonly name: string; readonly style: KeyStyle }[];
      /** How a key from elsewhere (a helper, the keychain, a file) is written. */
      readonly style: KeyStyle;
      readonly oauth?: OAuthClient;
      /** Headers that go with a token of `oauth`, beside the bearer token. */
      readonly tokenHeaders?: Readonly<Record<string, string>>;
      /** Headers whose value is a claim of the access token (RFC 7519), by the path to it. */
      readonly tokenClaims?: Readonly<Record<string, readonly string[]>>;
      /** A command of this provider's own whose output is the key. */
      readonly helper?: string;
      /** The key itself, from a settings file. Accepted with a warning. */
      readonly literal?: string;
    }
  /** AWS Signature Version 4; also a bearer token of Bedrock's own. */
  | { readonly kind: 'aws'; readonly service: string; readonly region?: string; readonly profile?: string }
  /** An access token of Google Cloud. */
  | { readonly kind: 'google'; readonly scopes: readonly string[] }
  | { readonly kind: 'none' };

/** Who wants to be let in. */
export interface Account {
  /** The name of the provider's row. */
  readonly provider: string;
  readonly scheme: AuthScheme;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

/** A way in that was found. */
export interface Credential {
  /** In words that show nothing of it: `ANTHROPIC_API_KEY`, `the keychain`, `AWS profile work`. */
  readonly source: string;
  /** The headers that let this request in. At once unless something must be signed or renewed; rejects with `CrabError`. */
  headers(
    request: OutgoingRequest,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Texts that must appear nowhere (law 10), as they are at this moment. */
  secrets(): readonly string[];
  /** The provider refused it (401 or 403). True when another try with the same object may go better. */
  refused(status: number): Promise<boolean>;
  /** Where a cloud's account is, as far as its own files say so. */
  readonly place?: Place;
}

/** Where in a cloud requests go. */
export interface Place {
  readonly region?: string;
  readonly project?: string;
  /** Azure's name for an account. */
  readonly resource?: string;
}

export interface Credentials {
  /** Whether `find` would find one, by looking only at what costs nothing: no network, no process, no question. */
  has(account: Account): boolean;
  /** Undefined when there is none. Throws `CrabError` (`auth-refused`, `auth-failed`) for one that is there and unusable. */
  find(account: Account): Promise<Credential | undefined>;
}
