// A typed line as the answer to a question. Only the exact words allow anything: an empty line, or the
// beginning of a prompt that somebody was already typing, must never count as a yes.

import type { Answer, ChoiceQuestion, PermissionQuestion, Question } from '../../core/question.ts';
import { visibleLine } from '../../faces/visible.ts';

export interface Asking {
  readonly question: Question;
  /** What stands before the answer. */
  prompt(): string;
  /** The answer, once the line completes it; a string says what is wrong with the line. */
  take(line: string): Answer | string | undefined;
}

export function ask(question: Question): Asking {
  return question.kind === 'permission' ? askPermission(question) : askChoice(question);
}

/** The letters that allow and are remembered. */
const REMEMBERED = {
  a: { remember: 'session', means: 'this session' },
  p: { remember: 'always', means: 'always here' },
} as const;

function askPermission(question: PermissionQuestion): Asking {
  const { tool, rule, sessionOnly } = question;
  const kept = rule === undefined ? [] : sessionOnly === true ? (['a'] as const) : (['a', 'p'] as const);
  const choices = ['y', 'n', ...kept.map((letter) => `${letter} (${REMEMBERED[letter].means})`)].join(' / ');
  const words = ['y', 'n', ...kept].join(', ').replace(/, (?=.$)/, ' or ');
  return {
    question,
    prompt: () => `Allow ${visibleLine(tool, 40)}? ${choices} / n and why: `,
    take: (line) => permissionAnswer(line.trim(), kept) ?? `Type ${words}; after n you may say why.`,
  };
}

function permissionAnswer(line: string, kept: readonly (keyof typeof REMEMBERED)[]): Answer | undefined {
  const lower = line.toLowerCase();
  if (lower === 'y' || lower === 'yes') return { kind: 'permission', allowed: true };
  const letter = kept.find((one) => one === lower);
  if (letter !== undefined)
    return { kind: 'permission', allowed: true, remember: REMEMBERED[letter].remember };
  const no = /^(?:n|no)(?:[\s,:]+(?<why>.*))?$/is.exec(line);
  if (no === null) return undefined;
  const why = no.groups?.['why']?.trim() ?? '';
  return { kind: 'permission', allowed: false, ...(why !== '' && { feedback: why }) };
}

function askChoice(question: ChoiceQuestion): Asking {
  const answers: string[] = [];
  const { questions } = question;
  return {
    question,
    prompt() {
      const place = questions.length > 1 ? ` ${answers.length + 1} of ${questions.length}` : '';
      return `Answer${place} (number or text): `;
    },
    take(line) {
      const current = questions[answers.length];
      const text = line.trim();
      if (current && text === '') return 'Type a number, or an answer of your own.';
      if (current) answers.push(choiceAnswer(current, text));
      return answers.length < questions.length ? undefined : { kind: 'choice', answers: [...answers] };
    },
  };
}

function choiceAnswer(asked: ChoiceQuestion['questions'][number], text: string): string {
  const parts = asked.multiple ? text.split(',').map((part) => part.trim()) : [text];
  return parts.map((part) => optionOf(asked, part) ?? part).join(', ');
}

function optionOf(asked: ChoiceQuestion['questions'][number], text: string): string | undefined {
  return /^\d+$/.test(text) ? asked.options[Number(text) - 1]?.label : undefined;
}
