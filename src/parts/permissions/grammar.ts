// The grammar of bash, tree-sitter-bash compiled to WebAssembly, and its trees as plain objects. A tree is only
// handed on when every letter of the text is in it: the grammar skips what it takes for a blank, and bash does not
// always agree, so that a word could hide in a gap.

import type { Language, Parser, TreeCursor } from 'web-tree-sitter';

export interface SyntaxNode {
  readonly type: string;
  /** False for a token that stands for itself, such as `&&`. */
  readonly named: boolean;
  /** In the UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
  readonly children: readonly SyntaxNode[];
}

export interface Syntax {
  readonly root: SyntaxNode;
  /** Why the tree may not be what bash makes of the text, as the end of a sentence: it … */
  readonly doubt: string | undefined;
}

export type Grammar = (text: string) => Syntax;

const DEEPEST = 200;

/**
 * V8 is kept from compiling the grammar a second time for speed: its lexer is one function of thousands of states, for
 * which the optimizing compiler takes half a gigabyte and a second of both cores, to save microseconds.
 */
const ONE_TIER = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'] as const;

let loading: Promise<Grammar> | undefined;

/** Compiled at the first command and kept: it takes some 30 ms, and is the same for everyone. */
export function loadGrammar(): Promise<Grammar> {
  loading ??= compile();
  return loading;
}

async function compile(): Promise<Grammar> {
  const [{ Language, Parser }, { readGrammarFile }, { setFlagsFromString }] = await Promise.all([
    import('web-tree-sitter'),
    import('./grammar-file.ts'),
    import('node:v8'),
  ]);
  for (const flag of ONE_TIER) setFlagsFromString(flag);
  await Parser.init({ wasmBinary: await readGrammarFile('web-tree-sitter') });
  const language = await Language.load(await readGrammarFile('tree-sitter-bash'));
  const parser = new Parser();
  parser.setLanguage(language);
  return (text) => parse(text, parser, language);
}

/** The grammar at times takes a line's end behind a pipeline for a blank, which a semicolon in its place mends. */
function parse(text: string, parser: Parser, language: Language): Syntax {
  const first = parseOnce(text, parser, language);
  if (first.lineEnds.length === 0 || /#|<</.test(text)) return first;
  const letters = text.split('');
  for (const at of first.lineEnds) letters[at] = ';';
  return parseOnce(letters.join(''), parser, language);
}

interface Parsed extends Syntax {
  /** Of lines that end inside of a simple command. */
  readonly lineEnds: readonly number[];
}

function parseOnce(text: string, parser: Parser, language: Language): Parsed {
  const tree = parser.parse(text);
  if (tree === null) throw new Error('the grammar gave no tree');
  const cursor = tree.walk();
  try {
    const copy = new Copy(text, cursor, language);
    const root = copy.node(0);
    if (tree.rootNode.hasError) copy.doubt = 'cannot be read as a command of bash';
    if (!isBlank(text.slice(0, root.start)) || !isBlank(text.slice(root.end)))
      copy.doubt ??= 'cannot be read in full';
    return { root, doubt: copy.doubt, lineEnds: copy.lineEnds };
  } finally {
    cursor.delete();
    tree.delete();
  }
}

class Copy {
  doubt: string | undefined;
  readonly lineEnds: number[] = [];
  readonly #text: string;
  readonly #cursor: TreeCursor;
  readonly #language: Language;

  constructor(text: string, cursor: TreeCursor, language: Language) {
    this.#text = text;
    this.#cursor = cursor;
    this.#language = language;
  }

  node(depth: number): SyntaxNode {
    const cursor = this.#cursor;
    const id = cursor.nodeTypeId;
    const type = cursor.nodeType;
    const { startIndex: start, endIndex: end } = cursor;
    const children: SyntaxNode[] = [];
    if (depth > DEEPEST) this.doubt ??= 'is nested too deeply';
    else if (cursor.gotoFirstChild()) {
      do children.push(this.node(depth + 1));
      while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
    const node = { type, named: this.#language.nodeTypeIsNamed(id), start, end, children };
    if (children.length > 0) this.#check(node);
    if (type === 'comment') this.#checkComment(start);
    return node;
  }

  /** What lies between the children of a node has to be blank to bash as well. */
  #check({ type, start, end, children }: SyntaxNode): void {
    // Inside quotes blanks are text, which whoever reads such a word takes from the gaps.
    if (type === 'string' || type === 'heredoc_body') return;
    // A line that ends inside of a simple command ends it.
    const blank = ONE_LINE.has(type) ? isBlankInLine : isBlank;
    let at = start;
    for (const child of children) {
      if (child.start > at && !blank(this.#text.slice(at, child.start))) {
        this.doubt ??= 'cannot be read in full';
        const lineEnd = /^[ \t]*(?=\n[ \t\n]*$)/.exec(this.#text.slice(at, child.start));
        if (lineEnd !== null && ONE_LINE.has(type)) this.lineEnds.push(at + lineEnd[0].length);
      }
      at = child.end;
    }
    if (at < end && !blank(this.#text.slice(at, end))) this.doubt ??= 'cannot be read in full';
  }

  #checkComment(start: number): void {
    if (start > 0 && !/[ \t\n;&|()]/.test(this.#text[start - 1] ?? ''))
      this.doubt ??= 'holds a comment that may be none';
  }
}

const ONE_LINE = new Set([
  'command',
  'variable_assignments',
  'declaration_command',
  'unset_command',
  'file_redirect',
  'herestring_redirect',
]);

// A line that is continued with nothing else between two words makes them one word.
function isBlank(gap: string): boolean {
  return /^(?:[ \t\n]|\\\n)*$/.test(gap) && !/^(?:\\\n)+$/.test(gap);
}

function isBlankInLine(gap: string): boolean {
  return isBlank(gap) && !/(?<!\\)\n/.test(gap);
}
