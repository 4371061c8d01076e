// A page as a model reads it: its accessibility tree in lines, each element with a reference that the other tools take. The
// reference is the browser's own number for the node, so that it stays the same while the node lives.

import type { JsonObject } from '../../core/schema.ts';
import { listIn, objectIn } from './dev-tools.ts';

/** Characters of a snapshot. */
export const MAX_SNAPSHOT = 30_000;

/** Drawn, and of no meaning. */
const SILENT = new Set(
  (
    'generic none presentation InlineTextBox LineBreak RootWebArea IframePresentational group LabelText ListMarker ' +
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

/** The nodes of `Accessibility.getFullAXTree` of frames, by the `backendDOMNodeId` of the element that holds each. */
export type Frames = ReadonlyMap<string, unknown>;

/** The nodes of one document. */
type ById = ReadonlyMap<string, JsonObject>;

interface Place {
  readonly node: JsonObject;
  readonly depth: number;
  readonly byId: ById;
}

interface Walk {
  readonly frames: Frames;
  readonly lines: string[];
  length: number;
}

/** The nodes of `Accessibility.getFullAXTree` as lines. */
export function snapshotText(nodes: unknown, frames: Frames = new Map()): string {
  const walk: Walk = { frames, lines: [], length: 0 };
  // A list and no recursion: pages nest as deep as they like.
  const stack = [...rootsOf(nodes, 0)];
  for (let next = stack.pop(); next !== undefined && walk.length < MAX_SNAPSHOT; next = stack.pop()) {
    const { node, depth, byId } = next;
    const isShown = show(next, walk);
    const children = Array.isArray(node['childIds']) ? node['childIds'] : [];
    const below = depth + (isShown ? 1 : 0);
    for (const id of isTextHolder(node) ? [] : [...children].reverse()) {
      const child = byId.get(String(id));
      if (child !== undefined) stack.push({ node: child, depth: below, byId });
    }
    stack.push(...rootsOf(frames.get(String(node['backendDOMNodeId'])), below));
  }
  return walk.lines.join('\n') + (stack.length > 0 ? `\n[cut at ${MAX_SNAPSHOT} characters]` : '');
}

function rootsOf(nodes: unknown, depth: number): readonly Place[] {
  const all = listIn(nodes);
  const byId = new Map(all.map((node) => [String(node['nodeId']), node]));
  return all.filter(({ parentId }) => parentId === undefined).map((node) => ({ node, depth, byId }));
}

/** Its text stands in its own line. */
function isTextHolder(node: JsonObject): boolean {
  const role = roleOf(node);
  return role === 'StaticText' || (role === 'textbox' && valueIn(node['value']) !== '');
}

function show({ node, depth, byId }: Place, walk: Walk): boolean {
  if (node['ignored'] === true) return false;
  const role = roleOf(node);
  const name = valueIn(node['name']);
  if (SILENT.has(role)) return false;
  const indent = '  '.repeat(Math.min(depth, 20));
  if (role === 'StaticText') {
    // What a link or a button is named after need not be said twice.
    if (name !== '' && nameOfParent(node, byId) !== name) push(walk, `${indent}- text: ${name}`);
    return false;
  }
  const value = valueIn(node['value']);
  const reference =
    node['backendDOMNodeId'] === undefined ? '' : ` [ref=e${String(node['backendDOMNodeId'])}]`;
  const label = name === '' ? '' : ` ${JSON.stringify(name)}`;
  const rest = role === 'Iframe' ? frameNote(node, walk) : value;
  push(
    walk,
    `${indent}- ${shownRole(role)}${label}${reference}${statesOf(node)}${rest === '' ? '' : `: ${rest}`}`,
  );
  return true;
}

function shownRole(role: string): string {
  return role === 'Iframe' ? 'iframe' : role;
}

function frameNote(node: JsonObject, { frames }: Walk): string {
  return frames.has(String(node['backendDOMNodeId'])) ? '' : 'of another site, and not shown here';
}

function push(walk: Walk, line: string): void {
  walk.lines.push(line);
  walk.length += line.length + 1;
}

function nameOfParent(node: JsonObject, byId: ById): string {
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
