// In what servers of OpenAI's Chat Completions API differ from each other, as data: a server that differs in nothing
// needs none of it. Nothing here is guessed from a provider's name; a row, or a person's settings, says it.

import type { Effort } from '../../core/model.ts';

export interface OpenAiQuirks {
  /** Appended to the base URL; `{model}` stands for the id. Default: `/chat/completions`. */
  readonly path?: string;

  /** The field that bounds the answer. `none`: the server counts the prompt in, and does better by itself. Default: `max_tokens`. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens' | 'none';
  /** Who says the system prompt. Default: `system`. */
  readonly systemRole?: 'system' | 'developer' | 'user';
  /** Usage has to be asked for with `stream_options`. Default: true; false where the field is refused or means nothing. */
  readonly streamUsage?: boolean;
  /** Says `store: false`, for servers that keep answers unless told otherwise. Default: false. */
  readonly refuseStore?: boolean;
  /** The body field that caches are found by. Default: none. */
  readonly cacheField?: string;
  /** The header that brings a conversation back to the machine that has it cached. Default: none. */
  readonly conversationHeader?: string;
  /** Puts Anthropic's `cache_control` on the system prompt and on the end of the last two turns. Default: false. */
  readonly cacheMarks?: boolean;
  /** The `service_tier` that answers sooner for more money. Default: none is sold. */
  readonly fastTier?: string;

  /** Where an effort is written. `reasoning`: `{"reasoning":{"effort":…}}`. Default: `reasoning_effort`. */
  readonly effortField?: 'reasoning_effort' | 'reasoning' | 'none';
  /**
   * What the server calls an effort; an empty name says nothing. Default: `low`, `medium`, `high`, `high` for `max`,
   * and nothing for `off`.
   */
  readonly efforts?: Readonly<Partial<Record<Effort, string>>>;
  /** The only effort that is accepted beside tools. */
  readonly effortWithTools?: string;
  /**
   * What turns thinking on and off when an effort is asked for: `thinking: {"type":"enabled"}`, `enable_thinking: true`,
   * or `enable_thinking` and `thinking` within `chat_template_kwargs`. Default: `none`.
   */
  readonly thinkingSwitch?: 'thinking' | 'enable_thinking' | 'chat_template_kwargs' | 'none';

  /**
   * How the model's own thinking is given back to it: in a field of the message, as OpenRouter's opaque details, as a
   * content part (Mistral), or between `<think>` tags in the text. Default: `none`.
   */
  readonly replayThinking?:
    | 'reasoning_content'
    | 'reasoning'
    | 'reasoning_details'
    | 'thinking_part'
    | 'think_tags'
    | 'none';
  /** A message with calls is refused without the field of `replayThinking`: an empty one is sent. Default: false. */
  readonly thinkingRequired?: boolean;
  /** Thinking stands between `<think>` tags at the beginning of the text. Default: false. */
  readonly thinkTags?: boolean;

  /** Tools may be offered at all. Default: true. */
  readonly tools?: boolean;
  /**
   * How one tool is demanded: by its name; by its name, without thinking; as the only one offered, with a call
   * `required`; or as the only one offered and no more, where nothing can be demanded. Default: `named`.
   */
  readonly toolChoice?: 'named' | 'unthinking' | 'required' | 'none';
  /** Calls side by side have to be allowed, or forbidden, in so many words. Default: nothing is said. */
  readonly parallelCalls?: boolean;
  /** Says `strict: false` of every tool, where a missing word means strict. Default: false. */
  readonly looseTools?: boolean;
  /** `nine`: ids of calls are nine letters and digits, no others. Default: `any`. */
  readonly callIds?: 'any' | 'nine';
  /** A result says the name of its tool. Default: false. */
  readonly resultName?: boolean;
  /** The user may not speak right after a result: a word of the assistant comes between. Default: false. */
  readonly assistantAfterResult?: boolean;
  /** Calls that the model prints as text are recovered, when they name a tool that is offered. Default: false. */
  readonly textCalls?: boolean;

  /** Images are understood. Default: true; where false, a note takes their place. */
  readonly images?: boolean;
  /** Images may stand within a result. Default: false; they follow in a message of the user's. */
  readonly resultImages?: boolean;
  /** PDF files are understood, as parts of type `file`. Default: false; a note takes their place. */
  readonly documents?: boolean;

  /** How JSON of a certain shape is asked for. Default: `json_schema`, which only a server that says so is trusted to obey. */
  readonly responseFormat?: 'json_schema' | 'json_object' | 'none';
  /** Where in `usage` the price of the answer stands, as a path; US dollars. Default: nowhere. */
  readonly costField?: string;
  /** How many of what `costField` counts make one dollar. Default: 1. */
  readonly costPerUsd?: number;
}

/** Quirks of some of a provider's models, or of some of the addresses that its row may be moved to. */
export interface QuirksWhere {
  /** Ids that they hold for; all when absent. */
  readonly ids?: RegExp;
  /** Base URLs that they hold for; all when absent. */
  readonly at?: RegExp;
  readonly quirks: OpenAiQuirks;
}

/** What holds for one model at one address: of all that match, the last that names a quirk has the word. */
export function quirksFor(
  dialect: { readonly quirks?: OpenAiQuirks; readonly where?: readonly QuirksWhere[] },
  model: string,
  baseUrl: URL,
): OpenAiQuirks {
  let all = dialect.quirks ?? {};
  for (const { ids, at, quirks } of dialect.where ?? [])
    if (ids?.test(model) !== false && at?.test(baseUrl.href) !== false) all = { ...all, ...quirks };
  return all;
}
