// The grammar cannot read a `[ … ]` that compares with `\<` or groups with `\(`. Where it holds nothing but plain words and
// these signs, it is written as `test …`, which means the same.

const WORD = String.raw`(?:"?\$(?:\w+|\{\w+\})"?|"[\w .,:+-]*"|'[\w .,:+-]*'|(?!/)[\w.:+-][\w/.:+-]*)`;
const SIGN = String.raw`(?:\\[<>()]|'[<>()]'|"[<>()]"|==?|!=|!)`;
const BRACKET = new RegExp(
  String.raw`(^|[;&|\n(){}]|\b(?:if|elif|while|until|then|else|do)\b|!)([ \t]*)\[((?:[ \t]+(?:${SIGN}|${WORD}))+)[ \t]+\](?=[ \t]*(?:$|[;&|\n)]))`,
  'g',
);

/** Undefined when there is nothing to do. */
export function withTestWords(text: string): string | undefined {
  if (!text.includes('[') || text.includes('..')) return undefined;
  const written = text.replace(
    BRACKET,
    (_, before: string, blanks: string, words: string) => `${before}${blanks || ' '}test${words}`,
  );
  return written === text ? undefined : written;
}
