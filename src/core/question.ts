// What a run may ask of whoever is there, and the answer. The first valid answer wins.

import type { Display } from './display.ts';

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
}

export interface ChoiceQuestion {
  readonly kind: 'choice';
  readonly id: string;
  readonly callId: string;
  readonly questions: readonly {
    readonly text: string;
    readonly options: readonly { readonly label: string; readonly description?: string }[];
    readonly multiple?: boolean;
  }[];
}

export type Answer =
  | {
      readonly kind: 'permission';
      readonly allowed: boolean;
      /** Told to the model, so that it can do better. */
      readonly feedback?: string;
      /** Never ask about the same call again in this session. */
      readonly remember?: boolean;
    }
  | { readonly kind: 'choice'; readonly answers: readonly string[] };
