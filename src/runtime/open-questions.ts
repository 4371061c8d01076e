// Questions that wait for somebody: the first valid answer wins, and nobody can answer one that was taken back.

import type { Answer, Question } from '../core/question.ts';

interface OpenQuestion {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
}

export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();

  /** Rejects when the signal aborts first. */
  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const close = () => {
        this.#open.delete(question.id);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        close();
        reject(signal.reason);
      };
      const settle = (answer: Answer) => {
        close();
        resolve(answer);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#open.set(question.id, { question, settle });
    });
  }

  /** False when the question is no longer open, or the answer is to another kind of question. */
  answer(id: string, answer: Answer): boolean {
    const open = this.#open.get(id);
    if (open === undefined || open.question.kind !== answer.kind) return false;
    open.settle(answer);
    return true;
  }
}
