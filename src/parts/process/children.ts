// The programs that this process has started and not seen the end of. Each is marked in its environment, so that what
// left its group is found all the same, and what is meant to live on is told from what escaped.

import { constants, getPriority, setPriority } from 'node:os';
import type { Bounds, Clock, Confinable } from '../../core/host.ts';
import { BoundsWatch } from './bounds.ts';
import { CALL_VARIABLE, declaredEnvironment } from './environment.ts';
import { Reaper } from './reaper.ts';
import { endTree, extinguish, findMarked, type Kill, killNow, killTree, nobody, type Tree } from './tree.ts';

export interface ChildrenOptions {
  /** The host's own environment; keys of providers are not passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Names of further variables that hold keys. */
  readonly keys?: readonly string[];
  /** Taken away by tests that must see processes survive. */
  readonly kill?: Kill;
}

/** At the end of a run a server that was left running has time to close its files. */
const SWEEP_PATIENCE_MS = 1000;

export class Children {
  readonly kill: Kill;
  readonly clock: Clock;
  readonly #base: Readonly<Record<string, string>>;
  readonly #instance = `${process.pid}.${Math.random().toString(36).slice(2)}.`;
  readonly #active = new Map<string, Tree>();
  readonly #watch: BoundsWatch;
  readonly #reaper: Reaper;
  #count = 0;
  #chases = 0;
  #priority = 0;
  #unswept = false;

  constructor({ env, clock, keys, kill = process.kill }: ChildrenOptions) {
    this.kill = kill;
    this.clock = clock;
    this.#base = declaredEnvironment(env, keys);
    this.#watch = new BoundsWatch(clock);
    this.#reaper = new Reaper(this.#instance);
  }

  /** For a program that is started next. A keeper is ended by the kernel when this process is gone. */
  mark({ keeper }: Confinable): string {
    if (keeper === undefined) this.#reaper.begin();
    return `${this.#instance}${++this.#count};`;
  }

  /** An agent that runs inside an agent is found by the outer one too: its marker comes behind the outer one's. */
  environment(marker: string, env: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
    return { ...this.#base, ...env, [CALL_VARIABLE]: (this.#base[CALL_VARIABLE] ?? '') + marker };
  }

  add(tree: Tree): void {
    this.#active.set(tree.marker, tree);
    if (tree.isKeeper !== true) this.#reaper.add(tree);
  }

  /** `exceeded` is called at most once, while the tree is active. */
  bound(tree: Tree, bounds: Bounds | undefined, exceeded: (sentence: string) => void): void {
    if (bounds !== undefined) this.#watch.add(tree, bounds, exceeded);
  }

  /**
   * Kills a tree that went over its bounds. What multiplies takes the processor from everybody: while that is chased,
   * this process comes first, where it may.
   */
  async endNow(tree: Tree): Promise<void> {
    const { clock, kill } = this;
    killNow([-tree.pid], kill);
    if (this.#chases++ === 0) {
      this.#priority = getPriority();
      prefer(constants.priority.PRIORITY_HIGHEST);
    }
    await endTree(tree, { clock, kill, patienceMs: 0 });
    if (--this.#chases === 0) prefer(this.#priority);
  }

  /** It has ended and its tree was looked after. */
  remove(tree: Tree): void {
    this.#watch.remove(tree);
    this.#reaper.remove(tree);
    this.#active.delete(tree.marker);
    this.#unswept = true;
  }

  /** Ends what outlived the programs that are over. Looks at `/proc` if anything was run. */
  async sweep(): Promise<void> {
    if (!this.#unswept) return;
    this.#unswept = false;
    const found = nobody();
    const strays = () => findMarked(this.#instance, this.#active.keys(), found);
    await extinguish(strays, { clock: this.clock, kill: this.kill, patienceMs: SWEEP_PATIENCE_MS });
    if (!this.#unswept) this.#reaper.swept();
  }

  /** Kills everything at once, synchronously. */
  killAll(): void {
    if (!this.#unswept && this.#active.size === 0) return;
    for (const tree of this.#active.values()) killTree(tree, this.kill);
    killNow(findMarked(this.#instance, []), this.kill);
  }
}

/** Only root may. */
function prefer(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Then it takes longer.
  }
}
