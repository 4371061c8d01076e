// That a job has ended, told with the next request: to the model as a message of its own on the tape, to the person as a
// notice. What they printed stays in their files until somebody reads it.

import type { Event } from '../core/event.ts';
import { userMessage } from '../core/message.ts';
import type { EntryBody } from '../core/tape.ts';
import { standing } from '../parts/shell/standing.ts';
import type { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';

const JOBS_ENTRY = 'crab.jobs';

/** More than these are counted: whoever ends hundreds at once knows about it. */
const MAX_TOLD = 20;

/** Undefined where no job has ended since the last time. */
export function jobNews(
  { clock, redact }: Pick<RuntimeHost, 'clock' | 'redact'>,
  conversation: Pick<Conversation, 'jobs' | 'say' | 'takeCompleted'>,
): Promise<readonly Event[]> | undefined {
  const ended = conversation.jobs.ended();
  const completed = conversation.takeCompleted();
  if (ended.length === 0) return completed.length === 0 ? undefined : Promise.resolve(completed);
  const now = clock.now();
  const lines = ended
    .slice(0, MAX_TOLD)
    .map((job) => `${standing(job, now)}, having printed ${job.bytes} bytes: ${job.title}`);
  if (ended.length > MAX_TOLD) lines.push(`${ended.length - MAX_TOLD} more jobs ended.`);
  const text = (redact ?? String)(lines.join('\n'));
  const content = `<background_jobs>\n${text}\n</background_jobs>`;
  const entry: EntryBody = { type: 'custom_message', customType: JOBS_ENTRY, content, display: true };
  const notices = text.split('\n').map((line): Event => ({ type: 'notice', level: 'info', text: line }));
  return conversation.say(entry, userMessage(content, now)).then(() => [...completed, ...notices]);
}
