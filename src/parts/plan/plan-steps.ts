// The steps of a plan, read from its Markdown: the items of its numbered lists and its check boxes, or where it has
// neither those of its bulleted lists. Items below others belong to them, and code is no list.

export interface PlanStep {
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly text: string;
}

const ITEM = /^(?<indent> {0,3})(?:(?<mark>\d{1,4}[.)])|[-*+])[ \t]+(?<box>\[[ xX]\][ \t]+)?(?<text>\S.*)$/;
const FENCE = /^ {0,3}(?:```|~~~)/;

export function planSteps(markdown: string): readonly PlanStep[] {
  const items: { readonly text: string; readonly counts: boolean }[] = [];
  let inCode = false;
  let under: number | undefined;
  for (const line of markdown.split('\n')) {
    if (FENCE.test(line)) inCode = !inCode;
    if (inCode) continue;
    if (/^#{1,6}\s/.test(line)) under = undefined;
    const found = ITEM.exec(line)?.groups;
    if (found === undefined) continue;
    const indent = (found['indent'] ?? '').length;
    if (under !== undefined && indent > under) continue;
    under = indent;
    const counts = found['mark'] !== undefined || found['box'] !== undefined;
    items.push({ text: (found['text'] ?? '').trim(), counts });
  }
  const counted = items.filter(({ counts }) => counts);
  return (counted.length > 0 ? counted : items).map(({ text }, index) => ({ number: index + 1, text }));
}
