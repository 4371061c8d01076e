// The tool `ask_user`: the model asks the person, who chooses or answers in words of their own. Where nobody can be asked
// the model is told so at once: waiting for an answer that cannot come would end the run.

import { ToolFailure } from '../../core/errors.ts';
import type { ChoiceQuestion } from '../../core/question.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';

const MAX_QUESTIONS = 4;
const MAX_OPTIONS = 6;

type Asked = ChoiceQuestion['questions'][number];

export const askUserTool: Tool = {
  name: 'ask_user',
  aliases: ['AskUserQuestion', 'ask_user_question', 'question'],
  source: 'builtin',
  asksPerson: true,
  description:
    'Asks the user up to four questions and waits. The user picks an option, or answers in words of their own, so leave out "Other".',
  input: {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_QUESTIONS,
        items: {
          type: 'object',
          properties: {
            question: { type: 'string' },
            header: { type: 'string', description: 'The topic in a word or two' },
            options: {
              type: 'array',
              maxItems: MAX_OPTIONS,
              description: 'The recommended one first; leave out for an open question',
              items: {
                type: 'object',
                properties: {
                  label: { type: 'string', description: 'One to five words' },
                  description: { type: 'string', description: 'What follows from it' },
                },
                required: ['label'],
              },
            },
            multiSelect: { type: 'boolean', description: 'Several may be chosen' },
          },
          required: ['question'],
        },
      },
    },
    required: ['questions'],
  },
  guidelines: [
    'Ask with ask_user only what you cannot find out yourself and what changes what you do; else decide and say so.',
  ],
  prepare,
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: false }),
  run,
  show: async (input) => ({
    kind: 'markdown',
    text: questionsIn(input)
      .map(({ text }) => text)
      .join('\n'),
  }),
};

async function run(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const questions = questionsIn(input);
  const answers = await askedOf(questions, context);
  const lines = questions.map(({ text }, index) => `${text}\n→ ${answers[index] ?? '(no answer)'}`);
  return textOutput(lines.join('\n\n'), { kind: 'markdown', text: lines.join('\n') });
}

/** Throws `ToolFailure` when nobody is there. */
async function askedOf(questions: readonly Asked[], context: ToolContext): Promise<readonly string[]> {
  let answers: readonly string[] = [];
  try {
    const answer = await context.ask({ kind: 'choice', questions });
    if (answer.kind === 'choice') answers = answer.answers;
  } catch (error) {
    context.signal.throwIfAborted();
    throw new ToolFailure(NOBODY, { cause: error });
  }
  if (answers.length === 0) throw new ToolFailure(NOBODY);
  return answers;
}

const NOBODY =
  'Nobody is here to answer. Decide yourself on what is most likely meant, and say in your answer what you assumed.';

/** One question alone, and options that are plain texts, are common mistakes. */
function prepare(input: JsonObject): JsonObject {
  const { questions, question, ...rest } = input;
  const list = Array.isArray(questions)
    ? questions
    : question === undefined
      ? undefined
      : [{ ...rest, question }];
  if (list === undefined) return input;
  return { questions: list.map(prepareOne) };
}

function prepareOne(given: unknown): unknown {
  if (typeof given === 'string') return { question: given };
  const { text, options, multi_select, multiple, ...rest } = Object(given) as JsonObject;
  const several = rest['multiSelect'] ?? multi_select ?? multiple;
  return {
    ...rest,
    ...(rest['question'] === undefined && text !== undefined && { question: text }),
    ...(several !== undefined && { multiSelect: several }),
    ...(Array.isArray(options) && {
      options: options.map((each: unknown) => (typeof each === 'string' ? { label: each } : each)),
    }),
  };
}

function questionsIn({ questions }: JsonObject): readonly Asked[] {
  return (questions as readonly JsonObject[]).map(({ question, header, options, multiSelect }) => ({
    text: String(question),
    ...(typeof header === 'string' && header.trim() !== '' && { header: header.trim() }),
    options: ((options ?? []) as readonly { label: string; description?: string }[]).map(
      ({ label, description }) => ({ label, ...(description !== undefined && { description }) }),
    ),
    ...(multiSelect === true && { multiple: true }),
  }));
}
