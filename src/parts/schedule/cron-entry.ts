// One entry of `crons.toml`: when, what, and as whom. What fires is a line of input to an agent, the same way that a
// person's line comes: a prompt, or `/skill` for an entry that names a skill.

import { ToolFailure } from '../../core/errors.ts';

export interface CronEntry {
  /** Counts up from 1. */
  readonly id: number;
  /** A cron expression of five fields, or of six with the seconds first. */
  readonly schedule: string;
  /** What is said to the agent; absent where a skill is named. */
  readonly prompt?: string;
  readonly skill?: string;
  readonly agent: string;
  readonly sender: string;
  /** Where it runs; absolute. */
  readonly cwd?: string;
  /** `HH:MM`. Ticks from `quietStart` until before `quietEnd` are left out, also over midnight; one alone means nothing. */
  readonly quietStart?: string;
  readonly quietEnd?: string;
  /** IANA name; default: that of the machine. */
  readonly tz?: string;
  /** Fires once and is taken out. */
  readonly once: boolean;
}

export type NewCron = Omit<CronEntry, 'id'>;

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const MAX_PROMPT = 8000;

/** How many ticks in a row quiet hours may swallow before an entry counts as one that never fires. */
const MAX_QUIET_TICKS = 5000;

/** Throws `ToolFailure` that says what is wrong. */
export async function checkCron(entry: NewCron, now: Date): Promise<void> {
  const fields = entry.schedule.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6)
    throw new ToolFailure(
      `The schedule ${JSON.stringify(entry.schedule)} has ${fields} fields; five (minute hour day month weekday) or six (with seconds first) are expected, such as "0 9 * * *" for every day at 9:00.`,
    );
  if ((entry.prompt === undefined) === (entry.skill === undefined))
    throw new ToolFailure('Either a prompt or a skill is to be named.');
  if (entry.prompt !== undefined && (entry.prompt.trim() === '' || entry.prompt.length > MAX_PROMPT))
    throw new ToolFailure(`The prompt must have 1 to ${MAX_PROMPT} characters.`);
  if (entry.skill !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(entry.skill))
    throw new ToolFailure(`${JSON.stringify(entry.skill)} is no name of a skill.`);
  for (const time of [entry.quietStart, entry.quietEnd])
    if (time !== undefined && !TIME.test(time))
      throw new ToolFailure(`Quiet hours are given as HH:MM, not ${JSON.stringify(time)}.`);
  if ((await nextRun(entry, now)) === undefined)
    throw new ToolFailure(`The schedule ${JSON.stringify(entry.schedule)} never fires.`);
}

/** Undefined when it never fires again. Throws `ToolFailure` for an expression or a time zone that is none. */
export async function nextRun(entry: NewCron, after: Date): Promise<Date | undefined> {
  const { Cron } = await import('croner');
  try {
    const cron = new Cron(entry.schedule, {
      paused: true,
      ...(entry.tz !== undefined && { timezone: entry.tz }),
    });
    let at = cron.nextRun(after);
    for (let ticks = 0; at !== null && isQuiet(entry, at); ticks++) {
      if (ticks === MAX_QUIET_TICKS) return undefined;
      at = cron.nextRun(at);
    }
    return at ?? undefined;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ToolFailure(`The schedule ${JSON.stringify(entry.schedule)} cannot be read: ${why}`, { cause });
  }
}

/** Whether a tick at that time is left out. */
export function isQuiet({ quietStart, quietEnd, tz }: NewCron, at: Date): boolean {
  if (quietStart === undefined || quietEnd === undefined || quietStart === quietEnd) return false;
  const time = at.toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(tz !== undefined && { timeZone: tz }),
  });
  return quietStart < quietEnd
    ? time >= quietStart && time < quietEnd
    : time >= quietStart || time < quietEnd;
}
