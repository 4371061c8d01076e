// The chain of models that a run goes down when one fails. It never goes up again within a run: what was busy a moment
// ago is busy still, and each switch costs the provider's cache. The next prompt begins at the top.

import { type CrabError, messageOf } from '../core/errors.ts';
import type { Model } from '../core/model.ts';

export interface FallbackModel {
  /** As the person wrote it. */
  readonly name: string;
  /** Throws `CrabError` when it cannot be used, such as for want of a key. */
  find(): Promise<Model>;
}

export interface ChainOptions {
  /** The model at the top; asked before each request, since it may change. */
  first(): Promise<Model>;
  readonly others: readonly FallbackModel[];
  /** Why a model of the chain must not be used here; undefined when it may. */
  refuses(model: Model): string | undefined;
  /** A model was passed over. */
  notice(text: string): void;
}

export class Chain {
  readonly #options: ChainOptions;
  #at = 0;
  #model: Model | undefined;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** How many times the run has gone down. */
  get depth(): number {
    return this.#at;
  }

  get length(): number {
    return this.#options.others.length;
  }

  async current(): Promise<Model> {
    return this.#model ?? (await this.#options.first());
  }

  /** Goes to the next model that can be used, which is another than `failed`; undefined when none is left. */
  async next(failed: Model): Promise<Model | undefined> {
    const { others, refuses, notice } = this.#options;
    for (let at = this.#at; at < others.length; at++) {
      const other = others[at];
      if (other === undefined) break;
      const found = await find(other);
      const reason = typeof found === 'string' ? found : refuses(found);
      if (typeof found === 'string' || reason !== undefined) {
        notice(`The fallback model ${other.name} is passed over: ${reason}`);
        continue;
      }
      if (nameOf(found) === nameOf(failed)) continue;
      this.#at = at + 1;
      this.#model = found;
      return found;
    }
    this.#at = others.length;
    return undefined;
  }
}

async function find(model: FallbackModel): Promise<Model | string> {
  try {
    return await model.find();
  } catch (thrown) {
    return messageOf(thrown);
  }
}

export function nameOf({ info }: Pick<Model, 'info'>): string {
  return `${info.provider}/${info.id}`;
}

/** Faults of a provider that another one may not share; a wrong request or key is wrong everywhere. */
export function mayFallBack(error: CrabError): boolean {
  switch (error.code) {
    case 'rate-limited':
    case 'quota-exhausted':
    case 'provider-overloaded':
    case 'provider-failed':
    case 'provider-stalled':
    case 'provider-protocol':
    case 'stream-cut':
    case 'network':
      return true;
    default:
      return false;
  }
}
