// Work that goes on behind the call that began it: a command in the background, later a run of another agent. It
// belongs to its conversation and ends with it.

export type JobState = 'running' | 'done' | 'failed' | 'stopped';

export interface Job {
  /** Short and unique in its conversation: `c1`. */
  readonly id: string;
  readonly kind: 'command' | 'agent';
  /** What it does, in a line: the command, the task. */
  readonly title: string;
  readonly state: JobState;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Of a command that ended by itself; null when a signal ended it. */
  readonly exitCode?: number | null;
  readonly signal?: string;
  /** Bytes of output so far. */
  readonly bytes: number;
  /** Bytes of it that are in the file. */
  readonly kept: number;
  /** The file with the output, capped at 64 MiB. */
  readonly outputPath: string;
}

export interface JobWork {
  readonly kind: Job['kind'];
  readonly title: string;
  /** Resolves when it is over; a rejection is a failure whose message goes to the output. */
  run(
    /** Resolves when it is in the file: whoever waits for it is not faster than the disk. */
    output: (text: string) => Promise<void>,
    signal: AbortSignal,
  ): Promise<{ readonly exitCode?: number | null; readonly signal?: string | null }>;
  /** Takes what is typed for it; absent where nothing is read. */
  input?(text: string): Promise<void>;
}

export interface JobOutput {
  /** Valid UTF-8 from the offset that was asked for, at most the bytes that were asked for. */
  readonly text: string;
  /** Where the next reading begins. */
  readonly next: number;
  /** More is there already. */
  readonly more: boolean;
  /** The unfinished last line, such as a prompt: it may still change, and is read again when it is final. */
  readonly pending?: string;
}

/** The jobs of one conversation. Unknown ids throw `ToolFailure`. */
export interface Jobs {
  start(work: JobWork): Promise<Job>;
  /** The newest last; those that ended, too. */
  list(): readonly Job[];
  get(id: string): Job;
  read(id: string, from: number, bytes: number): Promise<JobOutput>;
  /** Resolves when there is output behind `from`, when the job is over, or after `ms`. */
  wait(id: string, from: number, ms: number, signal: AbortSignal): Promise<void>;
  /** Types for it. `ToolFailure` where it is over, or reads nothing. */
  write(id: string, text: string): Promise<void>;
  /** Whoever asked knows that it is over: the model is not told of it again. */
  seen(id: string): void;
  /** Resolves when nothing of it is left. */
  stop(id: string): Promise<Job>;
}
