// A question as text. A person decides on what stands here, so nothing is cut, and everything that cannot
// be seen or reorders what can is shown as a mark.

import type { Display } from '../core/display.ts';
import type { Risk } from '../core/permission.ts';
import type { ChoiceQuestion, PermissionQuestion, Question } from '../core/question.ts';
import { details, headline } from './display-text.ts';
import { type Paint, paintFor } from './paint.ts';
import { visibleStrictly } from './visible.ts';

/** Whole lines, without the line that asks for the answer. */
export function questionText(question: Question, colour: boolean): string {
  const paint = paintFor(colour);
  return question.kind === 'permission' ? permissionText(question, paint) : choiceText(question, paint);
}

function permissionText(question: PermissionQuestion, paint: Paint): string {
  const { risk } = question;
  const badge = risk === undefined ? '' : ` [${colourOf(risk, paint)(visibleStrictly(badgeText(risk)))}]`;
  const title = `${paint.yellow('?')} ${paint.bold(visibleStrictly(question.tool))} wants to run${badge}:\n`;
  const body = indent(subject(question.display, paint));
  const why = `  ${paint.dim('because')} ${visibleStrictly(question.reason.trim())}\n`;
  const { rule, sessionOnly } = question;
  const keys = sessionOnly === true ? 'a allows' : 'a and p allow';
  const kept = rule === undefined ? '' : `  ${paint.dim(keys)} ${visibleStrictly(rule)}\n`;
  return `${title}${body}${why}${kept}`;
}

/** `mutating: outside`; one word where the second would say the same. */
export function badgeText({ effect, word }: Risk): string {
  return word === 'danger' ? effect : `${effect}: ${word}`;
}

function colourOf({ severity }: Risk, paint: Paint): (text: string) => string {
  if (severity === 3) return paint.red;
  return severity === 2 ? paint.yellow : paint.dim;
}

/** The whole of what would happen, from data made visible first: colours come after, so they survive. */
function subject(display: Display, paint: Paint): readonly string[] {
  const strict = strictly(display);
  if (strict.kind === 'command') {
    const where = strict.cwd === undefined ? [] : [paint.dim(`in ${strict.cwd}`)];
    return [...strict.command.split('\n').map((line) => paint.bold(line)), ...where];
  }
  return [headline(strict, paint, Infinity), ...details(strict, paint, Infinity)];
}

function strictly(display: Display): Display {
  return JSON.parse(JSON.stringify(display), (_key, value: unknown) =>
    typeof value === 'string' ? visibleStrictly(value) : value,
  ) as Display;
}

function choiceText(question: ChoiceQuestion, paint: Paint): string {
  let text = '';
  for (const { header, text: asked, options, multiple } of question.questions) {
    const about = header === undefined ? '' : `${paint.cyan(visibleStrictly(header))}: `;
    text += `${paint.yellow('?')} ${about}${paint.bold(visibleStrictly(asked))}${multiple ? ' (several)' : ''}\n`;
    for (const [at, option] of options.entries()) {
      const more =
        option.description === undefined ? '' : ` ${paint.dim(visibleStrictly(option.description))}`;
      text += `  ${at + 1}  ${visibleStrictly(option.label)}${more}\n`;
    }
  }
  return text;
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
