// The questions that a model may ask, and their answers as it reads them: a line for each place, with what stands there,
// in positions from 1 as editors show them. Answers are capped, and files that are kept from the model are left out.

import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import { type OpenDocument, readText } from './documents.ts';
import type { LanguageServer } from './language-server.ts';
import type { Operation } from './lsp-tool.ts';
import {
  type CallItem,
  type Diagnostic,
  fields,
  items,
  kindName,
  type Location,
  type Position,
  readCallItem,
  readHover,
  readLocations,
  readRanges,
  readSymbols,
  type SymbolInfo,
  severityName,
} from './protocol.ts';

const MAX_LINES = 200;
const MAX_LINE_LENGTH = 200;
const MAX_HOVER_LENGTH = 8000;
const DIAGNOSTICS_MS = 15_000;

export interface Question {
  readonly operation: Operation;
  readonly server: LanguageServer;
  readonly path: string;
  /** Undefined for what is asked about a whole file. */
  readonly position?: Position;
  readonly query: string;
  readonly files: Files;
  readonly signal: AbortSignal;
  /** Files that the model may not read. */
  readonly withheld: ((path: string) => boolean) | undefined;
  /** A path as the model is shown it. */
  shown(path: string): string;
}

export interface Reply {
  readonly title: string;
  readonly lines: readonly string[];
  readonly truncated: boolean;
}

/** Throws `ToolFailure`. */
export function ask(question: Question): Promise<Reply> {
  const { operation } = question;
  switch (operation) {
    case 'go_to_definition':
      return places(question, { capability: 'definitionProvider', method: 'definition' });
    case 'go_to_implementation':
      return places(question, { capability: 'implementationProvider', method: 'implementation' });
    case 'find_references':
      return places(question, {
        capability: 'referencesProvider',
        method: 'references',
        context: { includeDeclaration: true },
      });
    case 'hover':
      return hover(question);
    case 'document_symbols':
      return documentSymbols(question);
    case 'workspace_symbols':
      return workspaceSymbols(question);
    case 'incoming_calls':
    case 'outgoing_calls':
      return calls(question);
    case 'diagnostics':
      return diagnostics(question);
  }
}

interface PlaceQuestion {
  readonly capability: string;
  readonly method: string;
  readonly context?: unknown;
}

async function places(question: Question, { capability, method, context }: PlaceQuestion): Promise<Reply> {
  const { server, signal } = question;
  requireCapability(question, capability);
  const params = { ...(await positionParams(question)), ...(context !== undefined && { context }) };
  const found = readLocations(await server.request(`textDocument/${method}`, params, { signal }));
  return reply(question, await describeLocations(found, question));
}

async function hover(question: Question): Promise<Reply> {
  const { server, signal } = question;
  requireCapability(question, 'hoverProvider');
  const answer = await server.request('textDocument/hover', await positionParams(question), { signal });
  const text = readHover(answer);
  const cut = text.length > MAX_HOVER_LENGTH;
  const lines = cut ? [text.slice(0, MAX_HOVER_LENGTH).toWellFormed(), '[cut]'] : text === '' ? [] : [text];
  return { title: titleOf(question), lines, truncated: cut };
}

async function documentSymbols(question: Question): Promise<Reply> {
  const { server, path, signal } = question;
  requireCapability(question, 'documentSymbolProvider');
  const { uri } = await server.open(path, question);
  const params = { textDocument: { uri } };
  const found = readSymbols(await server.request('textDocument/documentSymbol', params, { signal }));
  return reply(question, outline(found, 0));
}

function outline(symbols: readonly SymbolInfo[], depth: number): readonly string[] {
  return symbols.flatMap(({ name, kind, range, children }) => [
    `${'  '.repeat(depth)}${at(range.start)} ${kindName(kind)} ${oneLine(name)}`,
    ...outline(children, depth + 1),
  ]);
}

async function workspaceSymbols(question: Question): Promise<Reply> {
  const { server, query, signal, shown } = question;
  requireCapability(question, 'workspaceSymbolProvider');
  const found = readSymbols(await server.request('workspace/symbol', { query }, { signal }));
  const mayShow = (path: string | undefined): path is string =>
    path !== undefined && question.withheld?.(path) !== true;
  const lines = found.flatMap(({ name, kind, range, path, container }) => {
    if (!mayShow(path)) return [];
    const inside = container === undefined ? '' : ` in ${oneLine(container)}`;
    return `${shown(path)}:${at(range.start)} ${kindName(kind)} ${oneLine(name)}${inside}`;
  });
  return reply(question, lines);
}

async function calls(question: Question): Promise<Reply> {
  const { server, signal } = question;
  requireCapability(question, 'callHierarchyProvider');
  const prepared = await server.request('textDocument/prepareCallHierarchy', await positionParams(question), {
    signal,
  });
  const [item] = items(prepared).flatMap((one) => readCallItem(one) ?? []);
  if (item === undefined) return reply(question, []);
  const isIncoming = question.operation === 'incoming_calls';
  const method = isIncoming ? 'callHierarchy/incomingCalls' : 'callHierarchy/outgoingCalls';
  const answer = items(await server.request(method, { item: item.raw }, { signal }));
  const lines = answer.flatMap((one) => callLine(one, isIncoming ? 'from' : 'to', question));
  return reply(question, lines);
}

/** `src/a.ts:3:7 function greet, at lines 10, 12`: who it is, and where the calls are. */
function callLine(value: unknown, side: 'from' | 'to', { withheld, shown }: Question): readonly string[] {
  const { [side]: other, fromRanges } = fields(value);
  const item: CallItem | undefined = readCallItem(other);
  if (item === undefined || withheld?.(item.location.path) === true) return [];
  const { path, range } = item.location;
  const lines = [...new Set(readRanges(fromRanges).map(({ start }) => start.line + 1))].slice(0, 20);
  const where = lines.length === 0 ? '' : `, call${lines.length > 1 ? 's' : ''} at line ${lines.join(', ')}`;
  return [`${shown(path)}:${at(range.start)} ${kindName(item.kind)} ${oneLine(item.name)}${where}`];
}

async function diagnostics(question: Question): Promise<Reply> {
  const { server, path } = question;
  const found = await server.diagnostics(path, DIAGNOSTICS_MS, question);
  if (found === undefined)
    throw new ToolFailure(
      `The language server ${server.row.name} said nothing of ${question.shown(path)} in ${DIAGNOSTICS_MS / 1000} s.`,
    );
  return reply(question, found.map(diagnosticLine));
}

export function diagnosticLine({ range, severity, message, code, source }: Diagnostic): string {
  const from = [source, code].filter((one) => one !== undefined).join(' ');
  return `${at(range.start)} ${severityName(severity)}: ${oneLine(message)}${from === '' ? '' : ` (${from})`}`;
}

async function positionParams(question: Question) {
  const { server, path, position } = question;
  if (position === undefined)
    throw new ToolFailure(`${question.operation} needs line, and character or symbol.`);
  const { uri, text } = await server.open(path, question);
  checkPosition(position, { path, text }, question);
  return { textDocument: { uri }, position };
}

/** A server answers a position that is not there with nothing, which would look like an answer. */
function checkPosition(
  { line, character }: Position,
  { path, text }: Pick<OpenDocument, 'path' | 'text'>,
  { shown }: Question,
): void {
  const lines = linesOf(text);
  const own = lines[line];
  if (own === undefined)
    throw new ToolFailure(`${shown(path)} has ${lines.length} lines; line ${line + 1} is not there.`);
  if (character > own.length)
    throw new ToolFailure(
      `Line ${line + 1} of ${shown(path)} has ${own.length} characters; character ${character + 1} is not there. The line is: ${own.trim().slice(0, MAX_LINE_LENGTH)}`,
    );
}

async function describeLocations(found: readonly Location[], question: Question): Promise<readonly string[]> {
  const { files, withheld, shown } = question;
  const lines = new Map<string, readonly string[]>();
  const described: string[] = [];
  for (const { path, range } of found) {
    if (withheld?.(path) === true) continue;
    if (described.length <= MAX_LINES && !lines.has(path))
      lines.set(path, linesOf(await readText(path, files).catch(() => '')));
    const text = lines.get(path)?.[range.start.line]?.trim().slice(0, MAX_LINE_LENGTH).toWellFormed() ?? '';
    described.push(`${shown(path)}:${at(range.start)}${text === '' ? '' : `: ${text}`}`);
  }
  return described;
}

function reply(question: Question, lines: readonly string[]): Reply {
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length - shown.length;
  return {
    title: titleOf(question),
    lines: more > 0 ? [...shown, `[${more} more]`] : shown,
    truncated: more > 0,
  };
}

function titleOf({ operation, path, position, query, shown }: Question): string {
  if (operation === 'workspace_symbols') return `workspace symbols ${JSON.stringify(query)}`;
  const where = position === undefined ? '' : `:${at(position)}`;
  return `${operation.replaceAll('_', ' ')} ${shown(path)}${where}`;
}

function requireCapability({ server, operation }: Question, capability: string): void {
  if (!server.can(capability))
    throw new ToolFailure(`The language server ${server.row.name} has no ${operation.replaceAll('_', ' ')}.`);
}

export function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/);
}

function at({ line, character }: Position): string {
  return `${line + 1}:${character + 1}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 500).toWellFormed();
}
