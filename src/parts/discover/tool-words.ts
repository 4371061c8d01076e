// The words of a name or a text about a tool: `task_create`, `TaskCreate` and "creates a task" are made of the same.

const COMMON = new Set(
  'a an and another as at be by can do does for from how i in into is it me my of on or some something that the these this to tool tools use with you your'.split(
    ' ',
  ),
);

/** In lower case, without the words that stand everywhere. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !COMMON.has(word));
}
