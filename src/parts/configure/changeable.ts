// The settings that the tool `config` shows and changes.

/** What each of them means. */
export const SETTINGS = {
  model: 'the model of new sessions',
  small_model: 'the model for summaries and other light work',
  plan_model: 'the model in plan mode',
  effort: 'how much a model thinks',
  fast: 'faster answers at a higher price',
  max_tokens: 'tokens that a model may write in one message',
} as const;
