// Looks for commands that a gate runs unasked and should not: the labelled commands, what can be made of the harmful
// ones, and random text. A harmful one that is allowed, a harmless one that is asked about (within what is tolerated)
// and anything that is thrown are its problems; times are figures, no problems.

import { seeded } from '../../src/core/seeded.ts';
import { type Label, type Labelled, readCorpus } from '../corpora/read-corpus.ts';
import { mutate } from './permissions-mutations.ts';

/** Whether a command runs without a question. */
export type Judge = (command: string) => boolean | Promise<boolean>;

export interface CampaignOptions {
  readonly judge: Judge;
  readonly mutations: number;
  readonly scrambles: number;
  readonly seed: number;
}

export interface Problem {
  readonly kind: 'harmful allowed' | 'mutation allowed' | 'harmless asked' | 'threw' | 'scramble allowed';
  readonly command: string;
  readonly says: string;
}

export interface CampaignReport {
  readonly problems: readonly Problem[];
  readonly counts: Readonly<Record<Label, number>>;
  readonly mutations: number;
  readonly scrambles: number;
  /** Milliseconds that the labelled commands took, in ascending order, once the code was warm. */
  readonly times: readonly number[];
  readonly seconds: number;
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const started = performance.now();
  const corpus = readCorpus();
  const problems: Problem[] = [];
  const allowed = async (command: string): Promise<boolean> => {
    try {
      return await options.judge(command);
    } catch (error) {
      problems.push({ kind: 'threw', command, says: String(error) });
      return false;
    }
  };
  for (const { command, label, class: name } of corpus) {
    const runs = await allowed(command);
    if (runs && label !== 'read-only')
      problems.push({ kind: 'harmful allowed', command, says: `${label}, ${name}` });
    if (!runs && label === 'read-only') problems.push({ kind: 'harmless asked', command, says: name });
  }
  problems.push(...(await mutated(corpus, options, allowed)), ...(await scrambled(options, allowed)));
  const times: number[] = [];
  for (const { command } of corpus) {
    const start = performance.now();
    await allowed(command);
    times.push(performance.now() - start);
  }
  return {
    problems,
    counts: {
      'read-only': corpus.filter(({ label }) => label === 'read-only').length,
      mutating: corpus.filter(({ label }) => label === 'mutating').length,
      dangerous: corpus.filter(({ label }) => label === 'dangerous').length,
    },
    mutations: options.mutations,
    scrambles: options.scrambles,
    times: times.sort((a, b) => a - b),
    seconds: (performance.now() - started) / 1000,
  };
}

/** Whatever is put around these may close what they leave open, or make text of them. */
function bearsMutation({ command, label, class: name }: Labelled): boolean {
  return (
    label !== 'read-only' &&
    name !== 'unreadable' &&
    !/[\n#]|&\s*$|\\$/.test(command) &&
    !/unclosed/.test(command)
  );
}

async function mutated(
  corpus: readonly Labelled[],
  { mutations, seed }: CampaignOptions,
  allowed: (command: string) => Promise<boolean>,
): Promise<readonly Problem[]> {
  const next = seeded(seed);
  const harmful = corpus.filter(bearsMutation);
  const problems: Problem[] = [];
  for (let count = 0; count < mutations; count += 1) {
    const { command } = harmful[count % harmful.length] ?? { command: '' };
    const { text, names } = mutate(command, next);
    if (await allowed(text))
      problems.push({ kind: 'mutation allowed', command: text, says: `${command}: ${names.join(', ')}` });
  }
  return problems;
}

const PIECES = [
  ...'ls cat echo grep git log find . -exec rm touch sed awk sh bash -c sudo xargs eval a b.txt -rf -c --x=y ~ ~/a ~bob /etc/x ../x'.split(
    ' ',
  ),
  ..."$(touch x)|`touch x`|${x}|$x|${x:-y}|$((1))|$'\\x72'|{a,b}|{1..3}|<<E\nE\n|<<<|<(ls)|>(ls)|[[|]]|((|))|if|then|fi|for|in|do|done|case|esac|é|\u0000|\u202e|\r|A=1|PATH=.".split(
    '|',
  ),
  ...'" \' \\ ( ) { } < > >> >& &> <> >| & && || | |& ; ;; ! = # * ? [ ] $ `'.split(' '),
  ' ',
  ' ',
  ' ',
  '\n',
  '\t',
];

/** Random text must not be thrown at, and none that names a program which writes as a command of its own may run. */
async function scrambled(
  { scrambles, seed }: CampaignOptions,
  allowed: (command: string) => Promise<boolean>,
): Promise<readonly Problem[]> {
  const next = seeded(seed + 1);
  const problems: Problem[] = [];
  for (let count = 0; count < scrambles; count += 1) {
    const length = 1 + Math.floor(next() * 14);
    const text = Array.from({ length }, () => PIECES[Math.floor(next() * PIECES.length)]).join('');
    await allowed(text);
    // A line of its own behind balanced text runs whatever stands before it, or nothing does.
    const balanced = text.replaceAll(/["'`\\#<(){}[\]]|\b(?:case|in|then|do|if|for|done|fi|esac)\b/g, '');
    const command = `${balanced}\ntouch x`;
    if (await allowed(command)) problems.push({ kind: 'scramble allowed', command, says: 'touch x' });
  }
  return problems;
}
