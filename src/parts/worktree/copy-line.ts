// One copy in one line, for a model and a person alike.

import type { Copy } from './copies.ts';

export function copyLine(copy: Copy): string {
  const { path, condition, losses, visitor } = copy;
  const branch = visitor?.branch ?? '-';
  const lost = losses.length === 0 ? '' : `: ${losses.join(' and ')}`;
  return `${path}  ${branch}  ${condition}${lost}  ${whose(copy)}`;
}

function whose({ use, visitor }: Copy): string {
  if (visitor === undefined) return 'of no conversation that is known';
  const { agent, session } = visitor;
  const who = `${agent} ${session}`;
  switch (use) {
    case 'used':
      return `in use by ${who}`;
    case 'open':
      return `left by ${who}, which is open`;
    case 'closed':
      return `left by ${who}`;
    case 'gone':
      return `left by ${who}, which is not kept any more`;
    default:
      return '';
  }
}
