// `crab models`: what can be asked, by provider, with what it can do and what it costs. People get a table, in which who
// cannot be asked takes one line; `--json` is everything, for programs.

import { CrabError, EXIT } from '../core/errors.ts';
import type { ModelListing, ProviderListing } from '../core/model.ts';
import type { Price } from '../core/usage.ts';
import { type Arguments, readArguments } from './arguments.ts';
import type { Environment } from './home.ts';
import { createHost } from './host.ts';
import { loadSettings } from './settings.ts';
import { sinkOf } from './sink.ts';

const HELP = `Usage: crab models [PATTERN] [--provider NAME] [--json]

  Lists the models that can be asked, with their context window, longest answer, price in dollars for a million
  tokens (input / output) and abilities. The one that is asked when you name none is marked with *.

  PATTERN            only models whose PROVIDER/ID has this text in it; * stands for anything
  --provider NAME    only this provider, also where it cannot be asked
  --json             one JSON array, with everything; docs/guide/models.md describes it
`;

interface Wish {
  readonly pattern: string | undefined;
  readonly provider: string | undefined;
  readonly json: boolean;
}

export async function modelsCommand(argv: readonly string[], env: Environment): Promise<number> {
  const out = sinkOf(process.stdout, env);
  const { own, args } = splitOwn(argv);
  if (own.help || args.has('help')) {
    await out.write(HELP);
    return EXIT.success;
  }
  const wish: Wish = { pattern: patternOf(args), provider: own.provider, json: own.json };
  const warn = (text: string) => void process.stderr.write(`crab: ${text}\n`);
  const { models } = createHost({ env, settings: await loadSettings({ args, env, warn }), warn });
  const listings = matching(await models.list(wish.provider), wish.pattern);
  await out.write(wish.json ? `${JSON.stringify(listings.map(jsonOf), null, 2)}\n` : tableOf(listings, wish));
  return EXIT.success;
}

interface Own {
  help: boolean;
  json: boolean;
  provider: string | undefined;
}

/** The flags that only this command has; the others mean what they mean everywhere. */
function splitOwn(argv: readonly string[]): { readonly own: Own; readonly args: Arguments } {
  const own: Own = { help: false, json: false, provider: undefined };
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    const [flag, inline] = word.split(/=(.*)/s);
    if (word === '--help' || word === '-h') own.help = true;
    else if (word === '--json') own.json = true;
    else if (flag === '--provider') own.provider = inline ?? argv[++at] ?? '';
    else rest.push(word);
  }
  if (own.provider === '') {
    throw new CrabError('usage', '--provider needs a value: --provider NAME.', {
      hint: 'Run `crab models`.',
    });
  }
  return { own, args: readArguments(rest) };
}

function patternOf({ words }: Arguments): string | undefined {
  if (words.length > 1) {
    throw new CrabError('usage', '`crab models` takes one pattern.', {
      hint: 'Put a prompt that begins with `models` in quotes.',
    });
  }
  return words[0];
}

/** Providers without a model that matches are left out. */
function matching(
  listings: readonly ProviderListing[],
  pattern: string | undefined,
): readonly ProviderListing[] {
  if (pattern === undefined) return listings;
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  const wanted = new RegExp(escaped, 'i');
  return listings
    .map((listing) => ({
      ...listing,
      models: listing.models.filter(({ id }) => wanted.test(`${listing.provider}/${id}`)),
    }))
    .filter(({ models }) => models.length > 0);
}

function tableOf(listings: readonly ProviderListing[], { pattern, provider }: Wish): string {
  if (listings.length === 0) return `No model has ${JSON.stringify(pattern)} in its name.\n`;
  const chosen = pattern !== undefined || provider !== undefined;
  const usable = listings.filter((listing) => chosen || listing.missing === undefined);
  const others = listings.filter((listing) => !usable.includes(listing));
  const blocks = usable.map(blockOf);
  if (others.length > 0) blocks.push(['Not usable yet', ...others.map(lineOf)].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}

function blockOf(listing: ProviderListing): string {
  const { provider, baseUrl, missing, failure, models } = listing;
  const lines = [`${provider}  ${baseUrl}`];
  if (missing !== undefined) lines.push(`  not usable: ${missing}`);
  if (failure !== undefined) lines.push(`  its own list could not be had: ${failure.message}`);
  if (models.length === 0 && missing === undefined && failure === undefined) lines.push('  no models');
  const rows = models.map(cellsOf);
  const widths = HEADER.map((title, at) =>
    Math.max(...[HEADER, ...rows].map((row) => (row[at] ?? title).length)),
  );
  for (const row of rows.length === 0 ? [] : [HEADER, ...rows]) {
    const cells = row.map((cell, at) =>
      isFigure(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    );
    lines.push(`  ${cells.join('  ').trimEnd()}`);
  }
  return lines.join('\n');
}

function lineOf({ provider, models, missing }: ProviderListing): string {
  const count = models.length === 0 ? '' : ` (${models.length} models)`;
  return `  ${provider}${count}: ${missing}`;
}

const HEADER: readonly string[] = ['  model', 'window', 'output', 'price', 'abilities'];

function isFigure(column: number): boolean {
  return column === 1 || column === 2;
}

function cellsOf(model: ModelListing): readonly string[] {
  const abilities = [
    ...(model.input ?? []),
    ...(model.reasoning ? ['thinking'] : []),
    ...(model.structured ? ['json'] : []),
  ];
  return [
    `${model.isDefault ? '*' : ' '} ${model.id}`,
    tokens(model.contextWindow),
    tokens(model.maxOutput),
    dollars(model.price),
    abilities.join(' '),
  ];
}

/** `200k`, `1.05M`; a dash for what nobody knows. */
function tokens(count: number | undefined): string {
  if (count === undefined) return '-';
  if (count < 1000) return String(count);
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${Number((count / 1e6).toFixed(2))}M`;
}

/** A plus sign stands for a higher price of long prompts. */
function dollars(price: Price | undefined): string {
  if (price === undefined) return '-';
  if (price.input === 0 && price.output === 0) return 'free';
  return `$${price.input} / $${price.output}${price.above === undefined ? '' : ' +'}`;
}

function jsonOf({ provider, api, baseUrl, local, missing, failure, models }: ProviderListing): object {
  return {
    provider,
    api,
    base_url: baseUrl,
    local,
    usable: missing === undefined,
    ...(missing !== undefined && { missing }),
    ...(failure !== undefined && { failure }),
    models: models.map((model) => ({
      id: model.id,
      name: `${provider}/${model.id}`,
      default: model.isDefault,
      source: model.source,
      ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
      ...(model.maxOutput !== undefined && { max_output: model.maxOutput }),
      ...(model.price !== undefined && { price: jsonPrice(model.price) }),
      ...(model.input !== undefined && { input: model.input }),
      ...(model.reasoning !== undefined && { reasoning: model.reasoning }),
      ...(model.structured !== undefined && { structured: model.structured }),
    })),
  };
}

function jsonPrice({ input, output, cacheRead, cacheWrite, above }: Price): object {
  return {
    input,
    output,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    ...(above !== undefined && { above: { tokens: above.tokens, price: jsonPrice(above.price) } }),
  };
}
