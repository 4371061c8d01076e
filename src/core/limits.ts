// The sizes that hold everywhere, near and far alike, so that no door accepts what another refuses.

/** Bytes of UTF-8 in one prompt. */
export const MAX_PROMPT_BYTES = 8 * 1024 * 1024;

/** Bytes of tool output that a model is shown in one result (law 5). */
export const MAX_RESULT_BYTES = 50 * 1024;

/** Lines of tool output that a model is shown in one result. */
export const MAX_RESULT_LINES = 2000;

/** Calls of one message that run side by side. */
export const MAX_PARALLEL_CALLS = 10;

/** Tokens that a model may write in one message unless somebody says otherwise. */
export const DEFAULT_MAX_TOKENS = 16_384;

/** Milliseconds without an event after which a print run ends. */
export const IDLE_TIMEOUT_MS = 120_000;
