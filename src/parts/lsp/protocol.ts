// The few shapes of the Language Server Protocol (3.17) that are used, and readers that take them out of answers in
// which anything may stand: what is not as it should be is left out.

import { fileURLToPath, pathToFileURL } from 'node:url';

/** Both from 0; `character` counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface Location {
  readonly path: string;
  readonly range: Range;
}

export interface Diagnostic {
  readonly range: Range;
  /** 1 error, 2 warning, 3 information, 4 hint. */
  readonly severity: number;
  readonly message: string;
  readonly code?: string;
  readonly source?: string;
}

export interface SymbolInfo {
  readonly name: string;
  readonly kind: number;
  /** Where its name stands; `path` only of symbols of a whole workspace. */
  readonly range: Range;
  readonly path?: string;
  readonly container?: string;
  readonly children: readonly SymbolInfo[];
}

export interface CallItem {
  readonly name: string;
  readonly kind: number;
  readonly location: Location;
  /** As the server sent it: it goes back with the next question. */
  readonly raw: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** Levels of nested symbols: a server that nests further is broken, or wants to break us. */
const MAX_DEPTH = 16;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** Undefined for what is no file of this machine, such as the source inside an archive. */
export function pathOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function readPosition(value: unknown): Position | undefined {
  const { line, character } = fields(value);
  const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && Number(given) >= 0;
  return isCount(line) && isCount(character) ? { line, character } : undefined;
}

function readRange(value: unknown): Range | undefined {
  const { start, end } = fields(value);
  const [from, to] = [readPosition(start), readPosition(end)];
  return from === undefined || to === undefined ? undefined : { start: from, end: to };
}

/** `Location`, `Location[]`, `LocationLink[]` or null. */
export function readLocations(value: unknown): readonly Location[] {
  const all = Array.isArray(value) ? value : [value];
  return all.flatMap((one) => {
    const { uri, range, targetUri, targetRange, targetSelectionRange } = fields(one);
    const path = pathOf(uri ?? targetUri);
    const where = readRange(range ?? targetSelectionRange ?? targetRange);
    return path === undefined || where === undefined ? [] : [{ path, range: where }];
  });
}

export function readDiagnostics(value: unknown, most: number): readonly Diagnostic[] {
  return items(value)
    .slice(0, most)
    .flatMap((one) => {
      const { range, severity, message, code, source } = fields(one);
      const where = readRange(range);
      if (where === undefined || typeof message !== 'string') return [];
      return {
        range: where,
        severity: typeof severity === 'number' ? severity : 1,
        message: message.slice(0, 2000),
        ...((typeof code === 'string' || typeof code === 'number') && { code: String(code) }),
        ...(typeof source === 'string' && { source }),
      };
    });
}

/** `DocumentSymbol[]`, `SymbolInformation[]`, `WorkspaceSymbol[]` or null. */
export function readSymbols(value: unknown, depth = 0): readonly SymbolInfo[] {
  if (depth > MAX_DEPTH) return [];
  return items(value).flatMap((one) => {
    const { name, kind, selectionRange, range, location, containerName, children } = fields(one);
    const place = fields(location);
    // A symbol of the workspace may come without its range: then its file is all that is known.
    const where = readRange(selectionRange ?? range ?? place['range']) ?? FILE_START;
    if (typeof name !== 'string') return [];
    const path = pathOf(place['uri']);
    return {
      name,
      kind: typeof kind === 'number' ? kind : 0,
      range: where,
      ...(path !== undefined && { path }),
      ...(typeof containerName === 'string' && containerName !== '' && { container: containerName }),
      children: readSymbols(children, depth + 1),
    };
  });
}

const FILE_START: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

export function readCallItem(value: unknown): CallItem | undefined {
  const { name, kind, uri, range, selectionRange } = fields(value);
  const [location] = readLocations({ uri, range: selectionRange ?? range });
  if (typeof name !== 'string' || location === undefined) return undefined;
  return { name, kind: typeof kind === 'number' ? kind : 0, location, raw: value };
}

export function readRanges(value: unknown): readonly Range[] {
  return items(value).flatMap((one) => readRange(one) ?? []);
}

/** `MarkupContent`, `MarkedString` or a list of these. */
export function readHover(value: unknown): string {
  const { contents } = fields(value);
  const texts = (Array.isArray(contents) ? contents : [contents]).map((one) => {
    if (typeof one === 'string') return one;
    const { value: text, language } = fields(one);
    if (typeof text !== 'string') return '';
    return typeof language === 'string' ? `\`\`\`${language}\n${text}\n\`\`\`` : text;
  });
  return texts
    .filter((text) => text.trim() !== '')
    .join('\n\n')
    .trim();
}

const SYMBOL_KINDS =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum_member struct event operator type_parameter'.split(
    ' ',
  );

export function kindName(kind: number): string {
  return SYMBOL_KINDS[kind - 1]?.replace('_', ' ') ?? 'symbol';
}

const SEVERITIES = ['error', 'warning', 'information', 'hint'];

export function severityName(severity: number): string {
  return SEVERITIES[severity - 1] ?? 'error';
}
