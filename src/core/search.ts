// Searching what was said in all sessions. A hit shows the message that was found with a few around it, never a whole
// session: results of tools and attachments are large.

/** Bytes of UTF-8 that one message of a window shows at most. */
export const MAX_SNIPPET_BYTES = 1024;
/** Messages of a window, the one that was found among them. */
export const MAX_WINDOW = 16;
export const MAX_HITS = 20;

/** `tool` means calls and their results. */
export const SPOKEN_ROLES = ['user', 'assistant', 'tool'] as const;

export type SpokenRole = (typeof SPOKEN_ROLES)[number];

export interface SearchFilters {
  readonly agent?: string;
  /** This folder and those below it; absolute. */
  readonly cwd?: string;
  readonly sender?: string;
  /** When the message was said: milliseconds since the epoch, both ends included. */
  readonly since?: number;
  readonly until?: number;
  readonly role?: SpokenRole;
  /** Look in this session alone, by its id: each message is a hit of its own. */
  readonly session?: string;
  /** Leave out this session. */
  readonly exceptSession?: string;
}

export interface SearchRequest {
  /** Words; there are no operators. */
  readonly query: string;
  /** Messages before and after the one that was found; together with it at most `MAX_WINDOW`. Default 4 and 4. */
  readonly before?: number;
  readonly after?: number;
  /** Default and most: `MAX_HITS`. */
  readonly limit?: number;
  /** From 0. */
  readonly page?: number;
  readonly filters?: SearchFilters;
}

/** A message near one that was found: those before and after it in the file, whatever their branch. */
export interface WindowItem {
  readonly role: SpokenRole;
  /** From 0, among the messages of the session. */
  readonly msg_idx: number;
  /** Of a long message the part around the rarest word of the query, or the beginning. */
  readonly snippet: string;
  /** The message is longer. */
  readonly truncated: boolean;
  readonly tool_name?: string;
}

export interface FoundSession {
  /** The session's name, else how its first prompt begins; empty when it has neither. */
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly message_count: number;
  readonly agent: string;
  readonly cwd: string;
}

export interface SessionHit {
  /** A ULID, where the session is Crab's own. */
  readonly session_id: string;
  /** 0 when only the name or the summary of the session has the words. */
  readonly msg_idx: number;
  /** Greater is better; comparable within one reply. */
  readonly score: number;
  readonly meta: FoundSession;
  /** In the order of the file. */
  readonly window: readonly WindowItem[];
}

export interface SearchReply {
  /** Best first, one a session. */
  readonly hits: readonly SessionHit[];
  /** There is another page. */
  readonly more: boolean;
  /** Words of the query that are too common to look for beside the rarer ones. */
  readonly ignored: readonly string[];
  /** Sessions with something that is not indexed yet, and so could not be found. */
  readonly pending: number;
  /** Of these, what cannot be read: sessions, and folders of them. */
  readonly unreadable?: number;
}

export interface SessionSearch {
  /** Takes in what was written since, as far as there is time, and searches. Rejects only when the signal aborts. */
  search(request: SearchRequest, signal?: AbortSignal): Promise<SearchReply>;
  /** Tells that something was appended to this session file. It does not throw and waits for nothing. */
  appended(path: string): void;
}
