// Every way that Crab fails, in one table: a permanent code, the exit status it leads to, and what the
// person can do about it. `docs/guide/errors.md` lists the same codes; a test holds the two together.

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  auth: 3,
  rateLimit: 4,
  budget: 5,
  context: 6,
  refused: 7,
  network: 8,
  session: 9,
  input: 42,
  turnLimit: 53,
  idle: 124,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitName = keyof typeof EXIT;

interface ErrorRow {
  readonly exit: ExitName;
  /** What to do about it, as one sentence in the imperative. */
  readonly hint: string;
}

export const ERRORS = {
  usage: { exit: 'usage', hint: 'Run `crab --help` to see what is accepted.' },
  'settings-invalid': { exit: 'usage', hint: 'Mend the file; nothing was started.' },
  'input-empty': { exit: 'input', hint: 'Give a prompt as an argument or on standard input.' },
  'input-too-large': { exit: 'input', hint: 'Put the text in a file and name the file in the prompt.' },
  'input-not-text': { exit: 'input', hint: 'Send UTF-8 text, or name the file in the prompt.' },
  'input-malformed': { exit: 'input', hint: 'Send one JSON object a line, as the guide describes.' },
  'auth-missing': {
    exit: 'auth',
    hint: 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for a local server; `crab demo` needs none.',
  },
  'auth-refused': { exit: 'auth', hint: 'Check the key and the account that it belongs to.' },
  'auth-failed': { exit: 'auth', hint: 'See what `crab auth status` says.' },
  'model-unknown': {
    exit: 'usage',
    hint: 'Name a model as PROVIDER/ID, for example anthropic/claude-sonnet-4-5.',
  },
  'rate-limited': { exit: 'rateLimit', hint: 'Wait and try again, or use another model.' },
  'quota-exhausted': { exit: 'rateLimit', hint: 'Raise the limit or add credit with the provider.' },
  'budget-exhausted': { exit: 'budget', hint: 'Raise --max-budget-usd and go on with --continue.' },
  'budget-unpriced': { exit: 'budget', hint: 'Set the price of the model in the settings, or no budget.' },
  'context-overflow': { exit: 'context', hint: 'Start a new session, or leave out large files.' },
  network: { exit: 'network', hint: 'Check the address, the connection and the proxy settings.' },
  'provider-protocol': {
    exit: 'network',
    hint: 'Check that the base URL is that of an API and not of a web page.',
  },
  'provider-stalled': { exit: 'network', hint: 'Try again; the provider stopped sending.' },
  'stream-cut': { exit: 'network', hint: 'Try again; the answer so far is kept.' },
  'provider-request': { exit: 'failure', hint: 'The provider refused the request; its message says why.' },
  'provider-overloaded': { exit: 'rateLimit', hint: 'Wait and try again, or use another model.' },
  'provider-failed': { exit: 'failure', hint: 'Try again later; the fault is on the provider’s side.' },
  'content-refused': { exit: 'failure', hint: 'The model refused to answer; say it another way.' },
  'output-limit': { exit: 'failure', hint: 'Ask for a shorter answer, or for the rest of it.' },
  'turn-limit': { exit: 'turnLimit', hint: 'Raise --max-turns and go on with --continue.' },
  'permission-refused': {
    exit: 'refused',
    hint: 'Allow it with --allowedTools or another --permission-mode.',
  },
  'idle-timeout': { exit: 'idle', hint: 'Try again, or raise --timeout.' },
  'structured-output': { exit: 'failure', hint: 'Simplify the schema, or ask more precisely.' },
  interrupted: { exit: 'interrupted', hint: 'Go on with --continue.' },
  terminated: { exit: 'terminated', hint: 'Go on with --continue.' },
  'tool-failed': { exit: 'failure', hint: 'See the message above.' },
  'command-failed': { exit: 'failure', hint: 'See the output above.' },
  'agent-unknown': { exit: 'usage', hint: 'Run `crab agents list` to see which agents there are.' },
  'agent-invalid': { exit: 'usage', hint: 'Mend the file, or take it away.' },
  'session-unknown': { exit: 'session', hint: 'Give the whole id, or the path of a session file.' },
  'session-ambiguous': { exit: 'session', hint: 'Give more letters of the id.' },
  'session-held': { exit: 'session', hint: 'Close the other process, or start a session of your own.' },
  'session-newer': { exit: 'session', hint: 'Update Crab; the file was left as it was.' },
  'session-damaged': {
    exit: 'session',
    hint: 'Try `crab session repair`, restore the file from a copy, or start a new session.',
  },
  'entry-unknown': { exit: 'session', hint: 'Take an id or a label that the tree of the session shows.' },
  'session-id-invalid': { exit: 'usage', hint: 'Use letters and digits, or a path that ends in .jsonl.' },
  'memory-damaged': { exit: 'session', hint: 'Restore the file from a copy, or move it away to begin anew.' },
  'memory-unknown': { exit: 'failure', hint: 'Run `crab memory list` to see what there is.' },
  'memory-taken': { exit: 'failure', hint: 'Choose another name, or change the memory that has it.' },
  'rewind-unknown': { exit: 'failure', hint: 'Type /rewind to see the prompts that can be gone back to.' },
  'storage-full': { exit: 'session', hint: 'Free some space; everything that was acknowledged is kept.' },
  'storage-failed': { exit: 'session', hint: 'Check that $CRAB_HOME can be written, or use --no-session.' },
  'sandbox-missing': {
    exit: 'refused',
    hint: 'See what `crab doctor` says, or choose --sandbox preferred or off.',
  },
  'cwd-missing': { exit: 'input', hint: 'Change into a folder that exists.' },
  'output-closed': { exit: 'failure', hint: 'The reader of the output went away.' },
  'output-failed': { exit: 'failure', hint: 'Check where the output goes: a full disk, or a closed device.' },
  'daemon-failed': {
    exit: 'network',
    hint: 'See what `crab daemon status` says; everything that was acknowledged is kept.',
  },
  'remote-failed': {
    exit: 'network',
    hint: 'Check the address, and that `crab serve` runs there; everything that was acknowledged is kept.',
  },
  'remote-refused': {
    exit: 'auth',
    hint: 'Ask whoever serves it for a token: `crab serve token` makes one.',
  },
  'program-updated': {
    exit: 'failure',
    hint: 'Everything that was acknowledged is kept: --continue goes on with a session.',
  },
  internal: { exit: 'failure', hint: 'This is a fault of Crab; please report it.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  readonly cause?: unknown;
  /** Replaces the table's hint where the place knows better. */
  readonly hint?: string;
  /** The HTTP status that a provider answered with. */
  readonly status?: number;
  /** Milliseconds that the other side asked us to wait. */
  readonly retryAfterMs?: number;
  /** The same request may succeed when it is sent again. */
  readonly retryable?: boolean;
}

/** An error that a person may see. `message` says what happened and why; `hint` says what to do. */
export class CrabError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CrabError';
    this.code = code;
    this.hint = details.hint ?? ERRORS[code].hint;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.retryable = details.retryable ?? false;
  }

  get exitCode(): number {
    return EXIT[ERRORS[this.code].exit];
  }
}

/** What a tool reports when the model can put it right: it becomes an error result, and the turn goes on. */
export class ToolFailure extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ToolFailure';
  }
}

/** An error as plain data, the way it rides on events and wires. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly status?: number;
}

export function errorData(error: CrabError): ErrorData {
  const { code, message, hint, status } = error;
  return status === undefined ? { code, message, hint } : { code, message, hint, status };
}

/** What any thrown value says of itself. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's own name of a failure, such as `ENOENT`. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Any thrown value as a `CrabError`; what is not one already is `internal`, but for what crab.cjs says of an update. */
export function asCrabError(thrown: unknown): CrabError {
  if (thrown instanceof CrabError) return thrown;
  const code = Object(thrown).code === 'program-updated' ? 'program-updated' : 'internal';
  return new CrabError(code, messageOf(thrown), { cause: thrown });
}
