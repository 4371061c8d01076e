// Whether a server cut the beginning off a prompt. Servers that do so (Ollama, and LM Studio where it is set to) answer
// 200 and count only what they kept; what they throw away is the system prompt and the task. The counts give them
// away: Ollama keeps half of its window (github.com/ollama/ollama/issues/17427), others keep all of it, and a
// conversation that grew never had a shorter prompt before.

import type { Message } from '../../core/message.ts';
import type { ModelRequest } from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';

export interface Cut {
  /** Tokens of the prompt that the server counted. */
  readonly counted: number;
  /** Tokens that there must have been, at least. */
  readonly least: number;
}

/** Letters in a token, as text has them in the long run, and what hardly any text exceeds. */
const USUAL_LETTERS = 4;
const MOST_LETTERS = 8;
/** How far from half or all of the window a cut prompt may end. */
const EDGE = 16;
/** By how much the usual estimate must exceed a count that lies on an edge. */
const CLEARLY = 1.3;

interface Sent {
  readonly counted: number;
  readonly letters: number;
}

/** Remembers of each conversation how long its last prompt was. */
export class PromptCuts {
  readonly #sent = new WeakMap<Message, Sent>();
  readonly #letters = new WeakMap<object, number>();

  /** `window` is how many tokens the server says it takes; undefined where it says nothing. */
  look(request: ModelRequest, tokens: TokenCounts, window: number | undefined): Cut | undefined {
    const counted = tokens.input + tokens.cacheRead + tokens.cacheWrite;
    const [first] = request.messages;
    if (first === undefined || counted === 0) return undefined;
    const letters = this.#lettersOf(request);
    const earlier = this.#sent.get(first);
    this.#sent.set(first, { counted, letters });
    if (window !== undefined && (counted > window || counted < window / 2 - EDGE)) return undefined;
    const least =
      leastOf({ counted, letters }, window) ?? this.#shrunk(request, { counted, letters }, earlier);
    return least === undefined ? undefined : { counted, least };
  }

  /** A prompt that has all of an earlier one in it was counted shorter than that. */
  #shrunk({ messages }: ModelRequest, sent: Sent, earlier: Sent | undefined): number | undefined {
    if (earlier === undefined || sent.letters < earlier.letters) return undefined;
    // Templates leave old thinking out.
    const thinking = messages.reduce((sum, message) => sum + thoughtIn(message), 0);
    const slack = Math.max(2 * EDGE, earlier.counted / 50) + thinking / 2;
    return sent.counted < earlier.counted - slack ? earlier.counted : undefined;
  }

  #lettersOf({ system, messages, tools }: ModelRequest): number {
    let letters = system.length + this.#once(tools, () => JSON.stringify(tools).length);
    for (const message of messages) letters += this.#once(message, () => lettersIn(message));
    return letters;
  }

  #once(key: object, measure: () => number): number {
    const known = this.#letters.get(key) ?? measure();
    this.#letters.set(key, known);
    return known;
  }
}

function leastOf({ counted, letters }: Sent, window: number | undefined): number | undefined {
  if (window === undefined) return undefined;
  if (letters / MOST_LETTERS > window) return Math.round(letters / MOST_LETTERS);
  const usual = letters / USUAL_LETTERS;
  const atEdge = counted <= window / 2 + EDGE || counted >= window - EDGE;
  return atEdge && usual > counted * CLEARLY ? Math.round(usual) : undefined;
}

/** What the model reads of a message as text; thinking is not sent to all of them. */
function lettersIn({ content }: Message): number {
  if (typeof content === 'string') return content.length;
  let letters = 0;
  for (const block of content) {
    if (block.type === 'text') letters += block.text.length;
    else if (block.type === 'toolCall') letters += block.name.length + JSON.stringify(block.arguments).length;
  }
  return letters;
}

function thoughtIn({ content }: Message): number {
  if (typeof content === 'string') return 0;
  let letters = 0;
  for (const block of content) if (block.type === 'thinking') letters += block.thinking.length;
  return letters;
}
