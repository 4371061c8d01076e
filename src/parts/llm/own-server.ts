// A model on a server that knows more of it than we do, or that one runs oneself: what the server tells becomes part of
// the model's facts, and what it does not tell, that it cut the prompt, is found out and said. All of it happens
// between requests and with the last chunk of one; the chunks before it pass through untouched.

import type { Message } from '../../core/message.ts';
import type {
  Model,
  ModelChunk,
  ModelFacts,
  ModelInfo,
  ModelRequest,
  StreamModel,
} from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';
import { type Cut, PromptCuts } from './prompt-cut.ts';

export interface OwnServer {
  /** As people know it, such as `ollama at 127.0.0.1:11434`. */
  readonly name: string;
  /** It costs next to nothing to ask, and what it says changes with what it has loaded. */
  readonly local: boolean;
  /** What the server says of the model; empty when it says nothing. Never rejects. */
  probe(signal: AbortSignal): Promise<ModelFacts>;
  /** What the person's settings say: it wins over the server. */
  readonly fixed: ModelFacts;
  /** What makes the window larger, as the rest of a sentence. */
  readonly widen: string | undefined;
  /** Said once, before the first answer. */
  readonly introduction: string | undefined;
}

/** Milliseconds that a probe may take. */
const PATIENCE = { local: 500, remote: 2_000 } as const;
/** A server that did not say its window so often will not say it. */
const MOST_PROBES = { local: 3, remote: 1 } as const;

export interface OwnModel extends Model {
  /** Asks the server, for half a second at most where it runs here. */
  learn(signal?: AbortSignal): Promise<void>;
}

export function onOwnServer(model: Model, server: OwnServer): OwnModel {
  const kind = server.local ? 'local' : 'remote';
  let info: ModelInfo = model.info;
  let window: number | undefined;
  let probes = 0;
  let { introduction } = server;
  const cuts = new PromptCuts();
  const told = new WeakSet<Message>();

  async function learn(signal?: AbortSignal): Promise<void> {
    const isKnown = server.local
      ? window !== undefined
      : info.contextWindow !== undefined && info.price !== undefined;
    if (isKnown || probes++ >= MOST_PROBES[kind]) return;
    const bound = AbortSignal.timeout(PATIENCE[kind]);
    const facts = await server.probe(signal === undefined ? bound : AbortSignal.any([signal, bound]));
    window = facts.contextWindow;
    info = { ...info, ...facts, ...server.fixed };
  }

  function noticeOf(request: ModelRequest, tokens: TokenCounts): ModelChunk | undefined {
    const cut = cuts.look(request, tokens, window);
    const [first] = request.messages;
    if (cut === undefined || first === undefined || told.has(first)) return undefined;
    told.add(first);
    return { type: 'notice', text: describe(cut, window, server) };
  }

  const stream: StreamModel = async function* (request, signal) {
    if (introduction !== undefined) {
      const text = introduction;
      introduction = undefined;
      yield [{ type: 'notice', text }];
    }
    const over = new AbortController();
    const learning = server.local ? undefined : learn(over.signal);
    try {
      for await (const batch of model.stream(request, signal)) {
        const end = batch.at(-1);
        if (end?.type !== 'end') {
          yield batch;
          continue;
        }
        // A model that runs here is loaded by now, so that its server knows its window.
        await (learning ?? learn(over.signal));
        const notice = noticeOf(request, end.tokens);
        yield notice === undefined ? batch : [...batch.slice(0, -1), notice, end];
      }
    } finally {
      over.abort();
    }
  };

  return Object.defineProperty({ ...model, stream, learn }, 'info', { get: () => info, enumerable: true });
}

function describe({ counted, least }: Cut, window: number | undefined, { name, widen }: OwnServer): string {
  const whole = `${name} read ${number(counted)} tokens of a prompt of at least ${number(least)}`;
  const why = window === undefined ? '' : `, because its context window has ${number(window)}`;
  const remedy = widen === undefined ? 'give it a larger context window' : widen;
  return `${whole}${why}: the beginning, with the instructions, was cut off. To mend it, ${remedy}.`;
}

function number(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
