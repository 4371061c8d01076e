// The real runtime on the real request path, for one conversation: what is its own are the tools, which count their
// runs, the sleeps, which are short, and a recorder below the tape.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/cli/clock.ts';
import type { Extension } from '../../src/core/extension.ts';
import type { Clock } from '../../src/core/host.ts';
import { createIds } from '../../src/core/ids.ts';
import { type Message, messageText } from '../../src/core/message.ts';
import type { Model, Models } from '../../src/core/model.ts';
import { NO_SETTINGS } from '../../src/core/settings.ts';
import type { Tape, Tapes } from '../../src/core/tape.ts';
import { type Tool, textOutput } from '../../src/core/tool.ts';
import { createCredentials } from '../../src/parts/auth/credentials.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { createScratch } from '../../src/parts/files/scratch.ts';
import { createModels } from '../../src/parts/llm/models.ts';
import { createJobs } from '../../src/parts/process/jobs.ts';
import { createMemoryTapes, createTapes } from '../../src/parts/tape/tapes.ts';
import { createLedger } from '../../src/parts/usage/ledger.ts';
import type { RuntimeHost } from '../../src/runtime/host.ts';
import type { EndpointName } from './provider-endpoints.ts';
import type { CampaignWire } from './provider-wires.ts';

/** What a campaign can be given to break on purpose. */
export interface Plant {
  models?(models: Models): Models;
  tapes?(tapes: Tapes): Tapes;
  tools?(tools: readonly Tool[]): readonly Tool[];
}

export interface HostOptions {
  readonly wire: CampaignWire;
  readonly urls: Readonly<Record<EndpointName, string>>;
  /** Where the next request goes. */
  endpoint(): EndpointName;
  /** Crab's home. */
  readonly home: string;
  readonly random: () => number;
  readonly plant: Plant;
}

export interface CampaignHost extends RuntimeHost {
  /** The word of every call that ran, as often as it ran. */
  readonly ran: readonly string[];
  /** What is on the tape itself. */
  messages(): readonly Message[];
  /** The file that holds it. */
  path(): string | undefined;
}

/** In place of minutes. Far above what this machine needs between two bytes, and far below the campaign's patience. */
const LIMITS = {
  connectMs: 1500,
  headersMs: 1500,
  firstByteMs: 1500,
  stallMs: 1500,
  firstContentMs: 3000,
  contentMs: 3000,
  maxBytes: 24 * 1024 * 1024,
};

/** Where nothing may be found, a machine that is busy with something else must not be taken for a silent provider. */
const PATIENT_LIMITS = { ...LIMITS, firstContentMs: 10_000, contentMs: 10_000 };

/** Milliseconds: a wait for longer than this one is waited for until somebody cancels. */
const LONGEST_WAIT_MS = 60_000;
const SHORT_WAIT_MS = 2;

export function campaignHost(options: HostOptions): CampaignHost {
  const { home, random, plant } = options;
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      sleep(ms > LONGEST_WAIT_MS ? ms : Math.min(ms, SHORT_WAIT_MS), undefined, { signal }),
  };
  const shared = { clock: systemClock, random };
  const recorder = recording();
  const plantTapes = (tapes: Tapes) => plant.tapes?.(recorder.watch(tapes)) ?? recorder.watch(tapes);
  const models = modelsOf(options, clock);
  const ran: string[] = [];
  const tools = countingTools(ran);
  const extension: Extension = { name: 'campaign', tools: async () => plant.tools?.(tools) ?? tools };
  return {
    clock,
    newId: createIds({ now: clock.now, random }),
    models: plant.models?.(models) ?? models,
    tapes: plantTapes(createTapes({ home, ...shared })),
    memoryTapes: plantTapes(createMemoryTapes(shared)),
    files: createLocalFiles(),
    ledger: createLedger({ folder: join(home, 'usage'), now: systemClock.now }),
    exec: async () => {
      throw new Error('no command is run here');
    },
    open: async () => {
      throw new Error('no program is opened here');
    },
    jobs: (folder) => createJobs({ clock, folder }),
    confine: async () => {
      throw new Error('nothing is confined here');
    },
    sweep: async () => {},
    scratch: createScratch(home),
    homeFolder: undefined,
    memories: {
      of: () => {
        throw new Error('nothing is remembered here');
      },
      teamFolder: () => undefined,
      consolidations: () => Promise.reject(new Error('nothing is remembered here')),
    },
    extensions: [extension],
    ran,
    messages: recorder.messages,
    path: recorder.path,
  };
}

/** One model to the runtime, whose requests go wherever the turn wants them. */
function modelsOf({ wire, urls, endpoint, random, plant }: HostOptions, clock: Clock): Models {
  const limits = Object.keys(plant).length === 0 ? PATIENT_LIMITS : LIMITS;
  const made = new Map<EndpointName, Models>();
  const at = (name: EndpointName): Models => {
    const env = wire.env(urls[name]);
    const models =
      made.get(name) ??
      createModels({
        env,
        credentials: wire.credentials ?? createCredentials({ env }),
        settings: NO_SETTINGS,
        clock,
        random,
        userAgent: 'crab-campaign',
        limits,
      });
    made.set(name, models);
    return models;
  };
  return {
    list: (provider) => at('plain').list(provider),
    async resolve() {
      const plain = await at('plain').resolve(wire.model);
      const stream: Model['stream'] = async function* (request, signal) {
        const model = await at(endpoint()).resolve(wire.model);
        yield* model.stream(request, signal);
      };
      return { ...plain, stream };
    },
  };
}

function recording() {
  let tape: Tape | undefined;
  const watch = (tapes: Tapes): Tapes => ({
    ...tapes,
    create: async (request) => {
      tape = await tapes.create(request);
      return tape;
    },
  });
  const messages = () =>
    [...(tape?.branch() ?? [])].flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
  return { watch, messages, path: () => tape?.path };
}

const WORD = {
  type: 'object',
  properties: { word: { type: 'string' }, why: { type: 'string' } },
  required: ['word'],
} as const;

/** `note` may not be run twice and runs alone; `look` may start while the message still streams. */
function countingTools(ran: string[]): readonly Tool[] {
  const tool = (name: string, safe: boolean): Tool => ({
    name,
    source: 'builtin',
    description: `${name}s what it is given.`,
    input: WORD,
    plan: async () => ({ access: { kind: 'none' }, parallel: safe, repeatable: safe }),
    run: async (input, { signal }) => {
      ran.push(String(input['word']));
      await sleep(1, undefined, { signal });
      return textOutput(`${name}: ${String(input['word']).slice(0, 40)}`);
    },
    show: async () => ({ kind: 'markdown', text: name }),
  });
  return [tool('note', false), tool('look', true)];
}

export function promptsOn(messages: readonly Message[]): readonly string[] {
  return messages.filter(({ role }) => role === 'user').map(messageText);
}
