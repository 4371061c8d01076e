// What a run may ask of whoever is there, and the answer. The first valid answer wins.

import type { Display } from './display.ts';
import type { Risk } from './permission.ts';

export type Question = PermissionQuestion | ChoiceQuestion;

export interface PermissionQuestion {
  readonly kind: 'permission';
  readonly id: string;
  /** The call that waits. */
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly display: Display;
  readonly reason: string;
  readonly risk?: Risk;
  /** The rule that remembering the answer would add. Absent where none can: then it is always asked about. */
  readonly rule?: string;
  /** The answer can be remembered for this session and no longer. */
  readonly sessionOnly?: true;
}

export interface ChoiceQuestion {
  readonly kind: 'choice';
  readonly id: string;
  readonly callId: string;
  readonly questions: readonly {
    /** What it is about, in a word or two, where room is short. */
    readonly header?: string;
    readonly text: string;
    readonly options: readonly { readonly label: string; readonly description?: string }[];
    readonly multiple?: boolean;
  }[];
}

export type Remember = 'session' | 'always';

export type Answer =
  | {
      readonly kind: 'permission';
      readonly allowed: boolean;
      /** Told to the model, so that it can do better. */
      readonly feedback?: string;
      /** Never ask about the same call again: in this session, or ever in this folder. */
      readonly remember?: Remember;
    }
  /** One text for each question: labels, joined by a comma and a space, or words of the person's own. None: nobody answered. */
  | { readonly kind: 'choice'; readonly answers: readonly string[] };
