// A page as a model reads it: its accessibility tree in lines, each element with a reference that the other tools take. The
// reference is the browser's own number for the node, so that it stays the same while the node lives.

import type { JsonObject } from '../../core/schema.ts';
import { listIn, objectIn } from './dev-tools.ts';

/** Characters of a snapshot. */
export const MAX_SNAPSHOT = 30_000;

/** Drawn, and of no meaning. */
const SILENT = new Set(
  (
    'generic none presentation InlineTextBox LineBreak RootWebArea Iframe IframePresentational group LabelText ListMarker ' +
    'LayoutTable LayoutTableRow LayoutTableCell MenuListPopup Section paragraph'
  ).split(' '),
);

const STATES = [
  'checked',
  'disabled',
  'expanded',
  'focused',
  'level',
  'pressed',
  'required',
  'selected',
] as const;

interface Walk {
  readonly byId: ReadonlyMap<string, JsonObject>;
  readonly lines: string[];
  length: number;
}

/** The nodes of `Accessibility.getFullAXTree` as lines. */
export function snapshotText(nodes: unknown): string {
  const all = listIn(nodes);
  const walk: Walk = {
    byId: new Map(all.map((node) => [String(node['nodeId']), node])),
    lines: [],
    length: 0,
  };
  // A list and no recursion: pages nest as deep as they like.
  const stack = all.filter(({ parentId }) => parentId === undefined).map((node) => ({ node, depth: 0 }));
  for (let next = stack.pop(); next !== undefined && walk.length < MAX_SNAPSHOT; next = stack.pop()) {
    const isShown = show(next.node, next.depth, walk);
    const children = Array.isArray(next.node['childIds']) ? next.node['childIds'] : [];
    const below = next.depth + (isShown ? 1 : 0);
    for (const id of isTextHolder(next.node) ? [] : [...children].reverse()) {
      const node = walk.byId.get(String(id));
      if (node !== undefined) stack.push({ node, depth: below });
    }
  }
  return walk.lines.join('\n') + (stack.length > 0 ? `\n[cut at ${MAX_SNAPSHOT} characters]` : '');
}

/** Its text stands in its own line. */
function isTextHolder(node: JsonObject): boolean {
  const role = roleOf(node);
  return role === 'StaticText' || (role === 'textbox' && valueIn(node['value']) !== '');
}

function show(node: JsonObject, depth: number, walk: Walk): boolean {
  if (node['ignored'] === true) return false;
  const role = roleOf(node);
  const name = valueIn(node['name']);
  if (SILENT.has(role)) return false;
  const indent = '  '.repeat(Math.min(depth, 20));
  if (role === 'StaticText') {
    // What a link or a button is named after need not be said twice.
    if (name !== '' && nameOfParent(node, walk) !== name) push(walk, `${indent}- text: ${name}`);
    return false;
  }
  const value = valueIn(node['value']);
  const reference =
    node['backendDOMNodeId'] === undefined ? '' : ` [ref=e${String(node['backendDOMNodeId'])}]`;
  const label = name === '' ? '' : ` ${JSON.stringify(name)}`;
  push(walk, `${indent}- ${role}${label}${reference}${statesOf(node)}${value === '' ? '' : `: ${value}`}`);
  return true;
}

function push(walk: Walk, line: string): void {
  walk.lines.push(line);
  walk.length += line.length + 1;
}

function nameOfParent(node: JsonObject, { byId }: Walk): string {
  return valueIn(byId.get(String(node['parentId']))?.['name']);
}

function roleOf(node: JsonObject): string {
  return valueIn(node['role']);
}

function valueIn(property: unknown): string {
  const { value } = objectIn(property);
  return value === undefined || value === null
    ? ''
    : String(value).replace(/\s+/g, ' ').trim().slice(0, 500).toWellFormed();
}

function statesOf(node: JsonObject): string {
  const properties = new Map(
    listIn(node['properties']).map(({ name, value }) => [String(name), valueIn(value)]),
  );
  return STATES.map((state) => {
    const value = properties.get(state) ?? '';
    if (value === '' || value === 'false') return '';
    return value === 'true' ? ` [${state}]` : ` [${state}=${value}]`;
  }).join('');
}
