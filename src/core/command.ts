// Commands: lines that Crab answers without a model. One registry serves `/x` and `,x` alike; what a command
// does to the outside comes back as an effect, which each channel carries out in its own way.

export interface CommandInfo {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** How its arguments are written, for help: `[name] [summary]`. */
  readonly usage: string;
  /** Who carries it out. A channel's own commands are listed at `open`. */
  readonly side: 'runtime' | 'channel';
}

/** What a command did. Closed, so that every channel has an answer to each. */
export type Effect =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'error'; readonly message: string }
  /** A new session took the conversation's place. */
  | { readonly kind: 'session'; readonly session: string; readonly text: string }
  /** A command of the channel's own: it knows what to do. */
  | { readonly kind: 'channel'; readonly name: string; readonly args: string };
