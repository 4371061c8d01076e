// Finds what the catalogue knows of a model under the name that a seller gives it. The same Claude is
// `claude-sonnet-4-5-20250929`, `claude-sonnet-4-5@20250929` (Vertex), `us.anthropic.claude-sonnet-4-5-20250929-v1:0`
// (Bedrock) and `anthropic/claude-sonnet-4.5` (OpenRouter). A model that is not there works all the same.

import type { ModelFacts } from '../../core/model.ts';
import type { Price } from '../../core/usage.ts';
import { CATALOGUE, type Section } from './catalogue.ts';

export type { ModelFacts } from '../../core/model.ts';

export const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** `seller` is the section of the catalogue that lists the models of whoever is asked, if there is one. */
export function factsOf(id: string, seller?: string): ModelFacts {
  const name = read(id);
  const own = seller === undefined ? undefined : sectionOf(seller);
  const sold = own && (entry(own, id) ?? entry(own, name.plain));
  const { price, ...rest } = sold ?? elsewhere(name.plain);
  const asked = name.free ? FREE : name.variant ? undefined : price && scaled(price, name.factor);
  return asked === undefined ? rest : { ...rest, price: asked };
}

/** The names of all models that a seller's section lists. */
export function namesOf(seller: string): readonly string[] {
  return Object.keys(sectionOf(seller)?.models ?? {});
}

function elsewhere(name: string): ModelFacts {
  for (const section of Object.values(CATALOGUE)) {
    const facts = entry(section, name);
    if (facts === undefined) continue;
    if (section.closed) return facts;
    const { price: _, ...rest } = facts;
    return rest;
  }
  return {};
}

interface Name {
  /** As the vendor writes it, without a date. */
  readonly plain: string;
  /** What the place where it runs makes of the price. */
  readonly factor: number;
  /** OpenRouter sells variants (`:free`, `:nitro`) at prices of their own. */
  readonly variant: boolean;
  readonly free: boolean;
}

const BEDROCK = /^(?:([a-z-]+)\.)?anthropic\.(claude-.+?)(?:-v\d+(?::\d+)*(?::\d+k)?)?$/;
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;
/** What Bedrock adds for keeping a request within a part of the world, for Claude 4.5 and later. */
const REGIONAL = 1.1;
const BEFORE_REGIONAL = /^claude-(?:opus|sonnet)-4(?:-[01])?$/;

function read(id: string): Name {
  const last = id.slice(id.lastIndexOf('/') + 1);
  const bedrock = BEDROCK.exec(last);
  if (bedrock !== null) {
    const [, region, model = ''] = bedrock;
    const plain = model.replace(DATED, '');
    const global = region === undefined || region === 'global' || BEFORE_REGIONAL.test(plain);
    return { plain, factor: global ? 1 : REGIONAL, variant: false, free: false };
  }
  const [base = '', variant] = (last.split('@')[0] ?? '').split(':');
  const dashed = base.startsWith('claude-') ? base.replaceAll('.', '-') : base;
  return {
    plain: dashed.replace(DATED, ''),
    factor: 1,
    variant: variant !== undefined,
    free: variant === 'free',
  };
}

function scaled(price: Price, factor: number): Price {
  if (factor === 1) return price;
  const times = (rate: number) => Math.round(rate * factor * 1e6) / 1e6;
  return {
    input: times(price.input),
    output: times(price.output),
    cacheRead: times(price.cacheRead),
    cacheWrite: times(price.cacheWrite),
    ...(price.above && { above: { ...price.above, price: scaled(price.above.price, factor) } }),
  };
}

function sectionOf(seller: string): Section | undefined {
  return Object.hasOwn(CATALOGUE, seller) ? CATALOGUE[seller] : undefined;
}

function entry({ models }: Section, name: string): ModelFacts | undefined {
  return Object.hasOwn(models, name) ? models[name] : undefined;
}
