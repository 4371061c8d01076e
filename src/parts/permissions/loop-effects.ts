// What a stretch of a text may do to folders and variables when it runs any number of times: told from its tree,
// before it is read.

import type { SyntaxNode } from './grammar.ts';

/** Whether it may leave the shell in another folder. */
export function movesIn(node: SyntaxNode, text: string): boolean {
  if (!/\b(?:cd|pushd|popd)\b/.test(text.slice(node.start, node.end))) return false;
  if (/^(?:subshell|command_substitution|process_substitution)$/.test(node.type)) return false;
  const inner = node.children.filter(({ children }) => children.length > 0);
  return node.type === 'command' || inner.length === 0 || inner.some((child) => movesIn(child, text));
}

/** The signs of arithmetic that set what stands beside them. */
const SETS = /^(?:\+\+|--|(?:[-+*/%&|^]|<<|>>|\*\*)?=)$/;

/** The names that are set below a node, and whether only to numbers. */
export function assignedIn(
  node: SyntaxNode,
  text: string,
  found = new Map<string, boolean>(),
): Map<string, boolean> {
  const raw = ({ start, end }: SyntaxNode) => text.slice(start, end);
  if (node.type === 'variable_assignment') {
    const [name, , value] = node.children;
    const own = name === undefined ? '' : raw(name);
    const counts = value?.type === 'arithmetic_expansion' || value?.type === 'number';
    found.set(own, counts && found.get(own) !== false);
  }
  if (node.type === 'command' && /^(?:read|mapfile|readarray|getopts|printf|let|local)\b/.test(raw(node)))
    for (const child of node.children) if (child.type === 'word') found.set(raw(child), false);
  if (
    /^(?:postfix|unary|binary)_expression$/.test(node.type) &&
    node.children.some(({ type }) => SETS.test(type))
  )
    for (const child of node.children.slice(0, node.type === 'binary_expression' ? 1 : 2))
      if (/^(?:variable_name|word)$/.test(child.type)) {
        const own = raw(child);
        found.set(own, found.get(own) !== false);
      }
  for (const child of node.children) {
    // The variable of a loop within.
    const variable = child.children.find(({ type }) => type === 'variable_name');
    if (child.type === 'for_statement' && variable !== undefined) found.set(raw(variable), false);
    assignedIn(child, text, found);
  }
  return found;
}
