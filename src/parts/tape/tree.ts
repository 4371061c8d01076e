// The entries of one session as a tree with a head. The branch is built once and then grows by one entry
// an append: nothing here depends on the length of the history, except moving the head elsewhere.

import type { Entry } from '../../core/tape.ts';
import type { Totals } from './entry.ts';

export class EntryTree {
  readonly #entries = new Map<string, Entry>();
  /** Parents whose lines are damaged, and the entry that takes their place. */
  readonly #lost = new Map<string, string | null>();
  readonly #branch: Entry[] = [];
  #isBranchBuilt = false;
  #head: string | null = null;
  #messages = 0;
  #name: string | undefined;
  #lastAnswer: string | null = null;

  get head(): string | null {
    return this.#head;
  }

  /** The last assistant message in the order of writing, on whatever branch. */
  get lastAnswer(): string | null {
    return this.#lastAnswer;
  }

  get totals(): Totals {
    return { messages: this.#messages, ...(this.#name !== undefined && { name: this.#name }) };
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /**
   * Takes the next entry of a file. One whose parent is missing hangs from the head instead, so that a
   * damaged line costs that line and not the branch behind it.
   */
  addRead(entry: Entry): void {
    const parentId = this.#known(entry.parentId);
    const target = entry.type === 'leaf' ? { targetId: this.#known(entry.targetId) } : {};
    const isMended = parentId !== entry.parentId;
    this.add(isMended || entry.type === 'leaf' ? ({ ...entry, parentId, ...target } as Entry) : entry);
  }

  /** Takes an entry whose parent is in the tree. */
  add(entry: Entry): void {
    const growsBranch = entry.type !== 'leaf' && entry.parentId === this.#head;
    this.#entries.set(entry.id, entry);
    this.#head = entry.type === 'leaf' ? entry.targetId : entry.id;
    if (this.#isBranchBuilt) {
      if (growsBranch) this.#branch.push(entry);
      else this.#buildBranch();
    }
    if (entry.type === 'session_info') this.#name = entry.name;
    if (entry.type !== 'message') return;
    this.#messages++;
    if (entry.message.role === 'assistant') this.#lastAnswer = entry.id;
  }

  /** From the root to the head: always the same array, built when it is first asked for. */
  branch(): readonly Entry[] {
    if (!this.#isBranchBuilt) this.#buildBranch();
    return this.#branch;
  }

  #buildBranch(): void {
    this.#branch.length = 0;
    let at = this.#head === null ? undefined : this.#entries.get(this.#head);
    while (at !== undefined) {
      this.#branch.push(at);
      at = at.parentId === null ? undefined : this.#entries.get(at.parentId);
    }
    this.#branch.reverse();
    this.#isBranchBuilt = true;
  }

  #known(id: string | null): string | null {
    if (id === null || this.#entries.has(id)) return id;
    const instead = this.#lost.get(id);
    if (instead !== undefined) return instead;
    this.#lost.set(id, this.#head);
    return this.#head;
  }
}
