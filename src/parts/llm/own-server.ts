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
import { type Cut, PromptCuts } from './prompt-cut.ts';

export interface OwnServer {
  /** As people know it, such as `ollama at 127.0.0.1:11434`. */
  readonly name: string;
  /** What the server says of the model; empty when it says nothing. Never rejects. */
  probe(signal: AbortSignal): Promise<ModelFacts>;
  /** What the person's settings say: it wins over the server. */
  readonly fixed: ModelFacts;
  /** What makes the window larger, as the rest of a sentence. */
  readonly widen: string | undefined;
  /** Said once, before the first answer. */
  readonly introduction: string | undefined;
}

/** Milliseconds that anybody waits for a probe. */
const PATIENCE_MS = 500;
/** A server that is asked for the third time what it did not say twice will not say it. */
const MOST_PROBES = 3;

export interface OwnModel extends Model {
  /** Asks the server, and waits for it for half a second at most. */
  learn(): Promise<void>;
}

export function onOwnServer(model: Model, server: OwnServer): OwnModel {
  let info: ModelInfo = model.info;
  let window: number | undefined;
  let probes = 0;
  let introduction = server.introduction;
  const cuts = new PromptCuts();
  const told = new WeakSet<Message>();

  async function learn(): Promise<void> {
    if (window !== undefined || probes++ >= MOST_PROBES) return;
    const facts = await server.probe(AbortSignal.timeout(PATIENCE_MS));
    window = facts.contextWindow;
    info = { ...info, ...facts, ...server.fixed };
  }

  function noticeOf(request: ModelRequest, end: ModelChunk & { type: 'end' }): ModelChunk | undefined {
    const cut = cuts.look(request, end.tokens, window);
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
    for await (const batch of model.stream(request, signal)) {
      const end = batch.at(-1);
      if (end?.type !== 'end') {
        yield batch;
        continue;
      }
      // The model is loaded by now, so the server knows its window, and what the answer costs is not yet reckoned.
      await learn();
      const notice = noticeOf(request, end);
      yield notice === undefined ? batch : [...batch.slice(0, -1), notice, end];
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
