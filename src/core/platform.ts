// The one interface between whoever speaks and whatever answers. The runtime implements it, a protocol
// carries it, a channel holds it, and a channel cannot tell near from far.

import type { Declaration } from './agent.ts';
import type { CommandInfo } from './command.ts';
import type { Address, SessionChoice, SessionInfo } from './conversation.ts';
import type { Event, Trigger } from './event.ts';
import type { Control } from './extension.ts';
import type { DocumentContent, ImageContent } from './message.ts';
import type { Answer } from './question.ts';

export interface OpenRequest {
  readonly agent: string;
  /** Absent for a client of its own: `cli:<session id>`. */
  readonly sender?: string;
  readonly cwd: string;
  readonly session: SessionChoice;
  readonly name?: string;
  readonly declaration: Declaration;
  /** Commands that the channel carries out itself. */
  readonly commands: readonly CommandInfo[];
}

export interface OpenReply {
  readonly address: Address;
  readonly session: SessionInfo;
  readonly commands: readonly CommandInfo[];
  /** What the person should know about the session, such as a torn tail that was set aside. */
  readonly notices: readonly string[];
}

export interface Prompt {
  readonly text: string;
  readonly attachments?: readonly (ImageContent | DocumentContent)[];
  /** Where this run begins, in place of the conversation's own folder. Absolute. */
  readonly cwd?: string;
  /** The agent that answers this time in place of the conversation's own, in words only. */
  readonly guest?: string;
  /** It is for a model, whatever its first letters say: nobody typed it. */
  readonly plain?: boolean;
  readonly trigger?: Trigger;
}

export interface Platform {
  /** Throws `CrabError` (`session-held`, `session-unknown`, `storage-failed`, …). */
  open(request: OpenRequest): Promise<OpenReply>;
  /**
   * Runs one line of input to its end: a command, a shell line or a prompt, as its first letters say. Prompts
   * of one conversation queue up. It does not throw; the last event is `runEnd`, which comes when everything before it
   * is durable, and the iteration ends right behind it. Aborting the signal cancels.
   */
  prompt(address: Address, prompt: Prompt, signal: AbortSignal): AsyncIterable<readonly Event[]>;
  /** False when the question is no longer open; the first valid answer wins. */
  answer(address: Address, questionId: string, answer: Answer): Promise<boolean>;
  control(address: Address, control: Control): Promise<void>;
  /**
   * Closes one conversation; everything acknowledged is on disk when it resolves. A run in flight ends first. `goesOn`: whoever
   * uses it does not know; what they chose and what they were not told yet is kept for the next opening.
   */
  leave(address: Address, how?: { readonly goesOn?: boolean }): Promise<void>;
  /** The session that an open conversation is at: a line may have taken it to another one. Undefined of one that is not open. */
  session?(address: Address): SessionInfo | undefined;
  /** How much works in the background of a conversation and would end with it; 0 of one that is not open. Absent where nothing does. */
  runningJobs?(address: Address): number;
  /** Everything acknowledged is on disk when this resolves. */
  close(): Promise<void>;
}
