// A conversation is a pair of names, (agent, sender), with one session in front; a session is one tape file.

/** `sender` says who speaks, such as `cli:01J…` or `tg:12345`; what they may do never comes from it. */
export interface Address {
  readonly agent: string;
  readonly sender: string;
}

/** Which session a conversation opens with. */
export type SessionChoice =
  /** A file of its own, written when the first prompt arrives. */
  | {
      readonly kind: 'new';
      readonly id?: string;
      /** The file of the session that it belongs to. */
      readonly parentSession?: string;
    }
  /** The newest session of this folder. */
  | ({ readonly kind: 'continue' } & Forked)
  /** An id, the beginning of one, or a name. */
  | ({
      readonly kind: 'resume';
      readonly id: string;
      /** Nobody left it: the permission mode is the one that it was in, whatever is declared. */
      readonly goesOn?: boolean;
    } & Forked)
  | ({ readonly kind: 'file'; readonly path: string } & Forked)
  /** The session that the pair of names is at, whoever used it last, or a new one. It goes on. The request names a sender. */
  | { readonly kind: 'head' }
  /** Nothing is written. */
  | { readonly kind: 'memory' };

interface Forked {
  /** Go on in a copy of its branch; it stays as it is, and another process may have it open. */
  readonly fork?: boolean;
}

export interface SessionInfo {
  readonly id: string;
  /** Absent for a session that is kept in memory. */
  readonly path?: string;
  readonly name?: string;
  readonly cwd: string;
  readonly messages: number;
}
