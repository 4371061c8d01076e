// Walks the tree of a text as the shell would run it, and collects its simple commands with the folders and
// variables that each may meet. Branches are joined and loops are taken to run any number of times. Whatever it
// does not know sets a doubt, and then the text is also searched letter by letter, see `search-text.ts`.

import { isPowerful } from './dangers.ts';
import {
  type Expanded,
  expandWord,
  insidePiece,
  ONLY_BASH,
  readSubscript,
  type Surrounding,
  WORDS,
} from './expand.ts';
import type { Grammar, SyntaxNode } from './grammar.ts';
import { withHereStrings } from './here-documents.ts';
import { assignedIn, movesIn } from './loop-effects.ts';
import { behindShellWords, lost, moved, moveIn, returning } from './moves.ts';
import { type Pipeline, printedBy } from './outputs.ts';
import { type Positional, positionalOf } from './positional.ts';
import {
  type Circumstances,
  MAX_COMMAND_BYTES,
  MAX_COMMAND_PARTS,
  type Redirect,
  type Script,
  type SimpleCommand,
  textWord,
  type Word,
} from './script.ts';
import { searchText } from './search-text.ts';
import { withTestWords } from './test-words.ts';
import { assign, join, type Known, lookUp, mayBeSecret, NUMBER, type State } from './variables.ts';

export interface Start extends Circumstances {
  readonly folders: readonly string[];
  readonly piped: boolean;
  /** What reads it need not be bash. */
  readonly posix: boolean;
  /** What the text is given as `$1` and so on, where that is known; `@` is any of them. */
  readonly positional?: Positional | undefined;
}

// Everything but tab, newline and blank that cannot be seen, or that shows a line as another than it is.
const UNSEEN = /(?![\t\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const MAX_DEPTH = 50;
/** What may be nothing but one simple command, whose output it then passes on. */
const HOLDS_ONE = /^(?:(?:declaration_|negated_)?command|redirected_statement|subshell|compound_statement)$/;
/** Longer pipelines are not followed. */
const MAX_UPSTREAM = 10;

export function readScript(text: string, grammar: Grammar, start: Start): Script {
  const long = text.length > MAX_COMMAND_BYTES || new TextEncoder().encode(text).length > MAX_COMMAND_BYTES;
  if (long) return { commands: searchText(text, start), doubt: `is longer than ${MAX_COMMAND_BYTES} bytes` };
  // The grammar reads what `time` measures only where it is a simple command.
  const timed = text.replace(/^(\s*)time(?: -p)?(?=\s+[({])/, (word) => ' '.repeat(word.length));
  const first = grammar(timed);
  const written =
    first.doubt === undefined
      ? undefined
      : text.includes('<<')
        ? withHereStrings(timed)
        : withTestWords(timed);
  const { root, doubt } = written === undefined ? first : grammar(written);
  const reader = new Reader(written ?? timed, start, doubt);
  if (UNSEEN.test(text)) reader.doubt('holds characters that cannot be seen');
  const state: State = { folders: start.folders, before: undefined, pushed: [], variables: new Map() };
  reader.run(root, state, { piped: start.piped, upstream: undefined }, 0);
  if (reader.commands.length > MAX_COMMAND_PARTS) reader.doubt(`has more than ${MAX_COMMAND_PARTS} parts`);
  const found = reader.doubted === undefined ? [] : searchText(text, start);
  const exported = reader.commands.flatMap(({ words }) => exportedBy(words));
  const commands =
    exported.length === 0 ? reader.commands : reader.commands.map((each) => ({ ...each, exported }));
  return { commands: [...commands, ...found], doubt: reader.doubted };
}

/** `export NAME=value`, `declare -x NAME`: programs that are started later get it. */
function exportedBy(words: readonly Word[]): readonly Word[] {
  const [program, ...args] = words.filter(({ value }) => !/^(?:builtin|command)$/.test(value));
  const name = program?.value ?? '';
  const option = args.some(({ value }) => /^-\w*x/.test(value));
  if (name !== 'export' && !(option && /^(?:declare|typeset|local|readonly)$/.test(name))) return [];
  return args
    .filter(({ value }) => /^[A-Za-z_]/.test(value))
    .map((word) => (word.value.includes('=') ? word : textWord(`${word.value}=?`)));
}

interface Input {
  readonly piped: boolean;
  readonly upstream: SimpleCommand['upstream'];
  /** What stands behind a pipeline redirects its last command, which then reads this in place of what is piped to it. */
  readonly behind?: { readonly upstream: SimpleCommand['upstream'] };
}

/** What holds when a statement has ended, and what holds when it has ended well. */
interface Outcome {
  readonly after: State;
  readonly ok: State;
}

interface Draft {
  readonly assignments: Word[];
  readonly words: Expanded[];
  readonly redirects: Redirect[];
  expands: boolean;
  /** It reads something else than what is piped to it. */
  isFed?: true;
}

const LISTS_SET =
  /=\(|\b(?:mapfile|readarray)\b|\b(?:read|declare|typeset|local|export)\s+(?:-\w+\s+)*-\w*[aA]/;
const LISTS = new Set(['program', 'list', 'do_group', 'else_clause', 'subshell', 'compound_statement']);

class Reader {
  readonly commands: SimpleCommand[] = [];
  doubted: string | undefined;
  readonly #text: string;
  readonly #start: Start;
  #within: readonly string[] = [];
  #positional: Positional | undefined;
  #root: SyntaxNode | undefined;
  /** Functions that stand before, where they are sure to be defined. */
  readonly #defined = new Set<string>();
  /** What the text may define as a function somewhere: such a name does not tell what is printed. */
  readonly #renamed: ReadonlySet<string>;
  /** Arrays whose indices are sure to be text, and are not computed. */
  readonly #keyed = new Set<string>();
  /** What feeds a process substitution, by where it begins. */
  readonly #feeding = new Map<number, Pipeline>();
  #chained = false;
  /** A function may set any variable whenever it is called. */
  #opaque = false;
  /** Some variables hold lists, and a text in parentheses becomes one. */
  readonly #lists: boolean;

  constructor(text: string, start: Start, doubt: string | undefined) {
    this.#text = text;
    this.#start = start;
    this.doubted = doubt;
    this.#positional = /\b(?:set|shift)\b/.test(text) ? undefined : start.positional;
    // What is set for good keeps its value, whatever is assigned to it later.
    this.#opaque = /\bfunction\b|\(\s*\)|\breadonly\b/.test(text);
    this.#lists = LISTS_SET.test(text);
    this.#renamed = new Set(
      [...text.matchAll(/([A-Za-z_]\w*)\s*\(\s*\)|\bfunction\s+([A-Za-z_]\w*)/g)].map(
        ([, name = '', named = name]) => named,
      ),
    );
  }

  doubt(reason: string): void {
    this.doubted ??= reason;
  }

  run(node: SyntaxNode, state: State, input: Input, depth: number): Outcome {
    this.#root ??= node;
    const still = { after: state, ok: state };
    if (depth > MAX_DEPTH) {
      this.doubt('is nested too deeply');
      return still;
    }
    const { type } = node;
    if (LISTS.has(type)) return this.#list(node, state, input, depth);
    switch (type) {
      case 'comment':
        return still;
      case 'command':
      case 'redirected_statement':
        return this.#command(node, state, input, depth);
      case 'file_redirect':
        return this.#onlyRedirects(node, state, input, depth);
      case 'variable_assignment':
      case 'variable_assignments':
        return this.#assignments(node, state, input, depth);
      case 'declaration_command':
      case 'unset_command':
        return this.#declaration(node, state, input, depth);
      case 'negated_command':
        return this.#list(node, state, input, depth);
      case 'pipeline':
        return this.#pipeline(node, state, input, depth);
      case 'test_command':
        return this.#test(node, state, input, depth);
      case 'if_statement':
      case 'elif_clause':
        return this.#branches(node, state, input, depth);
      case 'while_statement':
      case 'for_statement':
      case 'c_style_for_statement':
        return this.#loop(node, state, input, depth);
      case 'case_statement':
        return this.#case(node, state, input, depth);
      case 'function_definition':
        return this.#function(node, state, depth);
      default:
        this.doubt('cannot be read as a command of bash');
        for (const child of node.children) if (child.named) this.run(child, state, input, depth + 1);
        return still;
    }
  }

  #raw({ start, end }: SyntaxNode): string {
    return this.#text.slice(start, end);
  }

  #list(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    if (node.children[0]?.type === '((') return this.#arithmetic(node, start, input, depth);
    const statements = node.children.filter(({ named, type }) => named && type !== 'comment');
    if (statements.length > 1) this.#chained = true;
    let operator = ';';
    let outcome: Outcome = { after: start, ok: start };
    for (const [index, child] of node.children.entries()) {
      if (!child.named) {
        operator = child.type;
        if (!/^(?:&&|\|\||;|&|\n|[(){}!]|do|done|else|then|fi|\|)$/.test(operator))
          this.doubt('cannot be read as a command of bash');
        continue;
      }
      if (child.type === 'comment') continue;
      const before = outcome;
      const from = operator === '&&' ? before.ok : before.after;
      const background = node.children[index + 1]?.type === '&';
      const ran = this.run(child, from, input, depth + 1);
      const kept = background ? { after: from, ok: from } : ran;
      if (operator === '&&') outcome = { after: join(before.after, kept.after), ok: kept.ok };
      else if (operator === '||')
        outcome = { after: join(before.after, kept.after), ok: join(before.ok, kept.ok) };
      else outcome = kept;
      if (node.type === 'program' && operator !== '&&' && operator !== '||' && !background)
        this.#define(child);
      operator = ';';
    }
    if (node.type === 'subshell') return { after: start, ok: start };
    return node.type === 'negated_command' ? { after: outcome.after, ok: outcome.after } : outcome;
  }

  #pipeline(node: SyntaxNode, state: State, input: Input, depth: number): Outcome {
    const { behind, ...before } = input;
    let given: Input = before;
    let upstream: (readonly Word[])[] | undefined = [];
    const stages = node.children.filter(({ named, type }) => named && type !== 'comment');
    for (const child of stages) {
      const first = this.commands.length;
      if (behind !== undefined && child === stages.at(-1)) given = { piped: true, ...behind };
      this.run(child, state, given, depth + 1);
      const [only, ...more] = this.commands.slice(first);
      upstream =
        only !== undefined &&
        more.length === 0 &&
        upstream !== undefined &&
        upstream.length < MAX_UPSTREAM &&
        (upstream.length === 0 || only.isFed !== true) &&
        !this.#isRenamed(only) &&
        HOLDS_ONE.test(child.type)
          ? [...upstream, only.words]
          : undefined;
      given = { piped: true, upstream };
    }
    return { after: state, ok: state };
  }

  #branches(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    this.#chained = true;
    let state = start;
    let here = start;
    const ends: State[] = [];
    let within = false;
    for (const child of node.children) {
      if (child.type === 'then') within = true;
      if (!child.named || child.type === 'comment') continue;
      const alternative = child.type === 'elif_clause' || child.type === 'else_clause';
      if (alternative && within) {
        ends.push(here);
        within = false;
      }
      const ran = this.run(child, alternative ? state : here, input, depth + 1);
      if (alternative) ends.push(ran.after);
      else here = ran.after;
      if (!within && !alternative) state = ran.after;
    }
    const after = [...ends, here].reduce(join, state);
    return { after, ok: after };
  }

  #loop(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    this.#chained = true;
    let state = this.#withoutAssigned(node, start);
    const name = node.children.find(({ type }) => type === 'variable_name');
    if (node.type === 'for_statement' && name !== undefined) {
      const around = this.#around(
        () => state,
        depth,
        (next) => {
          state = next;
        },
      );
      const items = node.children.filter((child) => child !== name && WORDS.has(child.type));
      const values = items.map((item) => {
        const each = /^(?:"\$@"|\$@)$/.test(this.#raw(item)) ? this.#positional?.get('@') : undefined;
        return each ?? valuesOf(expandWord(item, around));
      });
      const known = values.every((each) => each !== undefined) ? values.flat() : undefined;
      const listed = node.children.some(({ type }) => type === 'in') && node.children[0]?.type === 'for';
      const set = assignedIn(node, this.#text).has(this.#raw(name));
      state = assign(state, this.#raw(name), listed && !set ? known : undefined);
      this.#judgeNames([this.#raw(name)], state);
    }
    let here = state;
    for (const child of node.children) {
      if (!child.named || child === name || WORDS.has(child.type) || child.type === 'comment') continue;
      if (
        node.type === 'c_style_for_statement' &&
        child.type !== 'do_group' &&
        child.type !== 'compound_statement'
      )
        here = this.#compute(child, here, depth);
      else here = this.run(child, here, input, depth + 1).after;
    }
    const after = join(state, here);
    return { after, ok: after };
  }

  #case(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    this.#chained = true;
    let state = start;
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const ends: State[] = [];
    for (const child of node.children) {
      if (WORDS.has(child.type)) expandWord(child, around, true);
      if (child.type !== 'case_item') continue;
      let here = ends.reduce(join, state);
      for (const part of child.children) {
        if (!part.named || part.type === 'comment') continue;
        const pattern = part.end <= (child.children.find(({ type }) => type === ')')?.start ?? 0);
        if (pattern) expandWord(part, around, true);
        else here = this.run(part, here, input, depth + 1).after;
      }
      ends.push(here);
    }
    const after = ends.reduce(join, state);
    return { after, ok: after };
  }

  #define({ type, start, children }: SyntaxNode): void {
    const [name, ...others] = children.filter(({ named }) => named);
    if (name === undefined || /\bunset\b/.test(this.#text)) return;
    if (type === 'declaration_command' && this.#raw(name) === '-A')
      for (const each of others) {
        const array = this.#raw(each).replace(/=[\s\S]*$/, '');
        // One that is an array of numbers already stays one.
        if (!new RegExp(`\\b${array}\\b`).test(this.#text.slice(0, start))) this.#keyed.add(array);
      }
    if (type === 'function_definition') this.#defined.add(this.#raw(name));
  }

  #function(node: SyntaxNode, state: State, depth: number): Outcome {
    this.#opaque = true;
    const [name, ...rest] = node.children.filter(({ named }) => named);
    // Its commands are judged where it stands; a name that is followed here would mean something else from now on.
    if (name === undefined || !/^[A-Za-z_]\w*$/.test(this.#raw(name)) || FOLLOWED.test(this.#raw(name)))
      this.doubt('defines a function');
    const outer = this.#within;
    const given = this.#positional;
    this.#positional = outer.length === 0 ? positionalOf(node, this.#root, this.#text) : undefined;
    this.#within = [...outer, name === undefined ? '' : this.#raw(name)];
    // It may be called from wherever the rest of the text moves to.
    const anywhere = /\b(?:cd|pushd|popd)\b/.test(this.#text) ? lost(state) : state;
    for (const child of rest)
      if (child.type !== 'comment')
        this.run(child, anywhere, { piped: true, upstream: undefined }, depth + 1);
    this.#within = outer;
    this.#positional = given;
    return { after: anywhere, ok: anywhere };
  }

  /** Variables that the node sets may have any of their values while it runs again and again. */
  #withoutAssigned(node: SyntaxNode, state: State): State {
    let result = state;
    const text = this.#raw(node);
    if (SETS_BY_NAME.test(text)) {
      const any = SETS_ANY_NAME.test(text);
      for (const name of state.variables.keys())
        if (any || new RegExp(`(?<![$\\w{])${name}\\b`).test(text)) result = assign(result, name, undefined);
    }
    for (const [name, counts] of assignedIn(node, this.#text)) {
      const before = lookUp(name, state, this.#start.home);
      const unset = this.#isUnset(name, state);
      const number = counts && (unset || before?.every(({ text }) => /^\d*$/.test(text)) === true);
      result = assign(result, name, number ? (unset ? [...NUMBER, EMPTY] : NUMBER) : undefined);
    }
    return movesIn(node, this.#text) ? lost(result) : result;
  }

  /** Such names are those of a text's own variables: one that first counts in a loop begins with nothing. */
  #isUnset(name: string, state: State): boolean {
    return !this.#opaque && !state.variables.has(name) && /^[a-z][a-z\d_]*$/.test(name);
  }

  #around(state: () => State, depth: number, set: (state: State) => void): Surrounding {
    return {
      text: this.#text,
      posix: this.#start.posix,
      lookUp: (name) => this.#lookUp(name, state()),
      doubt: (reason) => this.doubt(reason),
      forget: (name) => {
        set(assign(state(), name, undefined));
        this.#judgeNames([name], state());
      },
      isKeyed: (name) => this.#keyed.has(name),
      compute: (node) => set(this.#compute(node, state(), depth)),
      enter: (node) => {
        // Escapes between backticks are taken away first, and may set free another substitution.
        if (node.children[0]?.type === '`' && /\\[$`\\"]/.test(this.#raw(node)))
          this.doubt('has escapes between backticks');
        const outgoing = node.children[0]?.type === '>(';
        const chained = this.#chained;
        const first = this.commands.length;
        const inner = node.children.filter((child) => child.named && child.type !== 'comment');
        // Each of its statements meets what those before it have set.
        const body = { ...node, type: 'subshell', children: node.children.slice(1, -1) };
        this.#list(body, state(), { piped: outgoing, upstream: undefined }, depth + 1);
        this.#chained = chained;
        const pipeline = inner.length === 1 ? this.#pipelineOf(inner[0], first) : undefined;
        if (pipeline === undefined || outgoing) return undefined;
        this.#feeding.set(node.start, pipeline);
        return printedBy(pipeline, { folders: state().folders, isFolder: this.#start.isFolder });
      },
    };
  }

  /** The words of the commands since `first`, where the node is nothing but a pipeline of simple ones. */
  #pipelineOf(node: SyntaxNode | undefined, first: number): Pipeline | undefined {
    if (node === undefined) return undefined;
    const plain = ({ type, children }: SyntaxNode): boolean =>
      type === 'command' ||
      (type === 'redirected_statement' &&
        children.every((each) => !each.named || plain(each) || each.type === 'file_redirect'));
    const stages = node.type === 'pipeline' ? node.children.filter(({ named }) => named) : [node];
    const commands = this.commands.slice(first);
    if (!stages.every(plain) || commands.length !== stages.length) return undefined;
    if (commands.slice(1).some(({ isFed }) => isFed === true)) return undefined;
    if (commands.some((command) => this.#isRenamed(command))) return undefined;
    return commands.length <= MAX_UPSTREAM ? commands.map(({ words }) => words) : undefined;
  }

  #isRenamed({ words }: SimpleCommand): boolean {
    return words.some(({ value }) => this.#renamed.has(value));
  }

  #lookUp(name: string, state: State): readonly Known[] | undefined {
    if (!state.variables.has(name) && mayBeSecret(name)) this.doubt('uses a variable that may hold a secret');
    if (/^[1-9]$/.test(name)) return this.#positional?.get(name);
    return this.#opaque ? undefined : lookUp(name, state, this.#start.home);
  }

  #command(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    let state = start;
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const later: SyntaxNode[] = [];
    const body = this.#gather(node, draft, around, later);
    let outcome: Outcome;
    if (body !== undefined) {
      if (draft.words.length > 0) this.doubt('cannot be read as a command of bash');
      const fed = draft.isFed && { piped: true, upstream: this.#fedBy(node) };
      const behind = fed && /^(?:pipeline|list)$/.test(body.type) && { behind: fed };
      outcome = this.run(body, state, { ...input, ...fed, ...behind }, depth + 1);
      // The redirections of a loop or group are a part of their own.
      this.#emit([], draft, state, { piped: false, upstream: undefined });
    } else outcome = this.#simple(draft, start, state, input);
    return later.reduce((before, next) => {
      const ran = this.run(next, before.ok, { piped: true, upstream: undefined }, depth + 1);
      return { after: join(before.after, ran.after), ok: join(before.ok, ran.ok) };
    }, outcome);
  }

  /** `$(<file)` prints what stands in it. */
  #onlyRedirects(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    let state = start;
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    this.#fileRedirect(node, draft, around);
    return this.#simple(draft, start, state, input);
  }

  /** Returns the statement that is redirected when it is not a simple command. */
  #gather(node: SyntaxNode, draft: Draft, around: Surrounding, later: SyntaxNode[]): SyntaxNode | undefined {
    let body: SyntaxNode | undefined;
    for (const child of node.children) {
      const { type } = child;
      if (type === 'command' && node.type !== 'command') body ??= this.#gather(child, draft, around, later);
      else if (type === 'command_name')
        for (const word of child.children.length > 0 ? child.children : [child])
          this.#word(word, draft, around);
      else if (type === 'variable_assignment') this.#assignment(child, draft, around);
      else if (type === 'file_redirect') this.#fileRedirect(child, draft, around);
      else if (type === 'herestring_redirect') this.#hereString(child, draft, around);
      else if (type === 'heredoc_redirect') this.#hereDocument(child, draft, around, later);
      else if (WORDS.has(type)) this.#word(child, draft, around);
      else if (type === 'comment') continue;
      else if (!child.named && /^(?:==|=~|=|!=|-)$/.test(type))
        this.#word({ ...child, type: 'word' }, draft, around);
      else if (child.named && body === undefined && node.type === 'redirected_statement') body = child;
      else this.doubt('cannot be read as a command of bash');
    }
    return body;
  }

  /** What `< <(…)` behind a loop or group hands to it. */
  #fedBy(node: SyntaxNode): Pipeline | undefined {
    const inputs = node.children.filter(
      ({ type, children }) => type === 'file_redirect' && children.some((child) => child.type === '<'),
    );
    const target = inputs.at(-1)?.children.find(({ type }) => type === 'process_substitution');
    return inputs.length === 1 && target !== undefined ? this.#feeding.get(target.start) : undefined;
  }

  #word(node: SyntaxNode, draft: Draft, around: Surrounding): void {
    const expanded = expandWord(node, around);
    draft.expands ||= expanded.expands;
    draft.words.push(expanded);
  }

  #assignment(node: SyntaxNode, draft: Draft, around: Surrounding, keyed = false): void {
    const [name, sign, value] = node.children;
    const head = `${name === undefined ? '' : this.#raw(name)}${sign === undefined ? '' : this.#raw(sign)}`;
    if (name?.type === 'subscript' || value?.type === 'array') {
      this.#array(node, around, keyed);
      draft.assignments.push(textWord(`${head}(`));
      return;
    }
    const expanded = value === undefined ? undefined : expandWord(value, around, true);
    draft.expands ||= expanded?.expands === true;
    const text = expanded?.readings[0]?.[0] ?? textWord('');
    draft.assignments.push({ ...text, value: `${head}${text.value}`, raw: this.#raw(node) });
  }

  /** `keyed` tells that its indices are text: those of any other array are computed. */
  #array(node: SyntaxNode, around: Surrounding, keyed: boolean): void {
    for (const child of node.children) {
      if (child.type === 'array') this.#array(child, around, keyed);
      else if (child.type === 'subscript') {
        readSubscript(child, around);
        // The first element is what the name alone stands for.
        around.forget(this.#raw(child).replace(/\[.*$/s, ''));
      } else if (WORDS.has(child.type)) {
        const index = /^\[(.*?)(?:\]\+?=|$)/s.exec(this.#raw(child))?.[1];
        if (index !== undefined && !/^\d+$/.test(index) && !(keyed && /^(?:\$?\w+|"\$\w+")$/.test(index)))
          this.doubt('computes an index');
        expandWord(child, around, true);
      }
    }
  }

  #fileRedirect(node: SyntaxNode, draft: Draft, around: Surrounding): void {
    const sign = node.children.find(({ named }) => !named)?.type ?? '';
    if (sign.startsWith('<')) draft.isFed = true;
    // Only the first word is where it leads; the grammar takes along what are arguments of the command.
    const [target, ...others] = node.children.filter(({ type }) => WORDS.has(type));
    for (const other of others) this.#word(other, draft, around);
    if (target === undefined) {
      if (sign !== '>&-' && sign !== '<&-') this.doubt('has a redirection to nothing');
      return;
    }
    const { readings, expands } = expandWord(target, around);
    draft.expands ||= expands;
    const duplicate = (sign === '>&' || sign === '<&') && /^(?:\d+-?|-)$/.test(this.#raw(target));
    if (duplicate) return;
    const operator = sign === '<>' ? '<>' : sign.startsWith('<') ? '<' : '>';
    for (const reading of readings) {
      if (reading.length !== 1) this.doubt('redirects to what is not one file');
      for (const word of reading) draft.redirects.push({ operator, target: word });
    }
  }

  #hereString(node: SyntaxNode, draft: Draft, around: Surrounding): void {
    draft.isFed = true;
    for (const child of node.children.filter(({ type }) => WORDS.has(type))) {
      const { readings, expands } = expandWord(child, around, true);
      draft.expands ||= expands;
      draft.redirects.push({ operator: '<<<', target: readings[0]?.[0] ?? textWord('') });
    }
  }

  #hereDocument(node: SyntaxNode, draft: Draft, around: Surrounding, later: SyntaxNode[]): void {
    draft.isFed = true;
    const literal = node.children.some(
      (child) => child.type === 'heredoc_start' && /["'\\]/.test(this.#raw(child)),
    );
    let body = '';
    for (const child of node.children) {
      if (child.type === 'heredoc_body') {
        body = this.#raw(child);
        if (!literal) this.#hereBody(child, around);
      } else if (child.type === 'file_redirect') this.#fileRedirect(child, draft, around);
      else if (child.type === 'herestring_redirect') this.#hereString(child, draft, around);
      else if (WORDS.has(child.type)) this.#word(child, draft, around);
      else if (child.type === 'pipeline' || /command$|_statement$|^list$|^subshell$/.test(child.type))
        later.push(child);
      else if (!/^(?:<<-?|&&|\|\||heredoc_start|heredoc_end|file_descriptor)$/.test(child.type))
        this.doubt('uses a here-document in a way that is not known');
    }
    const open = !literal && /[$`]/.test(body);
    draft.redirects.push({
      operator: '<<',
      target: { ...textWord(body), ...(open && { open: 'text' as const, known: 0 }) },
    });
  }

  #hereBody(node: SyntaxNode, around: Surrounding): void {
    let at = node.start;
    const plain = (end: number) => {
      if (/(?<!\\)(?:\\\\)*(?:`|\$[({\w])/.test(this.#text.slice(at, end)))
        this.doubt('uses a here-document in a way that is not known');
    };
    for (const child of node.children) {
      if (child.type === 'heredoc_content') continue;
      plain(child.start);
      insidePiece(child, around);
      at = child.end;
    }
    plain(node.end);
  }

  #simple(draft: Draft, start: State, given: State, from: Input): Outcome {
    const input = draft.isFed ? { ...from, upstream: undefined } : from;
    let after = given;
    let ok = given;
    const readings = combine(draft.words);
    if (readings.length === 0) this.doubt('has too many meanings');
    for (const [index, words] of readings.entries()) {
      const [program] = words;
      if (draft.isFed && input.piped && behindShellWords(words)[0]?.value === 'exec')
        this.doubt('reads from elsewhere from there on');
      const move = moveIn(words);
      if (this.#start.posix && differsInPosix(draft, program)) this.doubt(ONLY_BASH);
      this.#emit(move === words ? returning(words, start) : words, draft, start, input);
      if (program === undefined && index === 0) after = ok = this.#keep(draft.assignments, given);
      if (move !== undefined) {
        const there = moved(move, start, this.#start.home);
        ok = index === 0 ? there : join(ok, there);
        // It can only fail where the folder is not known to be there.
        const { isFolder } = this.#start;
        const succeeds = readings.length === 1 && isFolder !== undefined && there.folders.every(isFolder);
        after = succeeds ? there : join(after, there);
      } else if (program !== undefined) after = ok = this.#setBy(words, after, input);
    }
    return { after, ok };
  }

  /** Builtins that set the variables that they are given the names of. */
  #setBy(words: readonly Word[], state: State, { upstream }: Input): State {
    if (/^(?:builtin|command)$/.test(words[0]?.value ?? '')) this.#opaque = true;
    const [program, ...args] = behindShellWords(words);
    const name = program?.value ?? '';
    if (!FOLLOWED.test(name)) return state;
    if (/^(?:eval|source|\.|builtin|command|trap|coproc|let|readonly)$/.test(name)) this.#opaque = true;
    if (/^(?:declare|typeset|local)$/.test(name) && args.some(({ value }) => /^-\w*r/.test(value)))
      this.#opaque = true;
    if (name === 'printf' && args[0]?.value !== '-v') return state;
    const named = args
      .map(({ value }) => /^(?:-[a-z]*?[av])?([A-Za-z_]\w*)/.exec(value)?.[1] ?? '')
      .filter((each) => each !== '');
    this.#judgeNames(name === 'read' ? named : [], state);
    const [only, ...more] = named;
    // Each line that it reads is one of what the commands before it print.
    if (
      name === 'read' &&
      only !== undefined &&
      more.length === 0 &&
      !args.some(({ value }) => /^-[a-z]*[aiup]/.test(value))
    )
      return assign(state, only, printedBy(upstream, { folders: state.folders }));
    return named.reduce((before, each) => assign(before, each, undefined), state);
  }

  #keep(assignments: readonly Word[], state: State): State {
    return assignments.reduce((before, word) => {
      const match = /^(\w+)(\+?)=([\s\S]*)$/.exec(word.value);
      if (match === null) return before;
      const [, name = '', plus, text = ''] = match;
      const known = word.open === undefined && plus === '' && word.raw !== `${name}=(`;
      return assign(before, name, known && !word.value.endsWith('=(') ? [{ text, glob: false }] : undefined);
    }, state);
  }

  #assignments(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    let state = start;
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const list = node.type === 'variable_assignment' ? [node] : node.children;
    for (const child of list) {
      if (child.type === 'variable_assignment') {
        this.#assignment(child, draft, around);
        // The next one meets it.
        state = this.#keep(draft.assignments.slice(-1), state);
      } else this.doubt('cannot be read as a command of bash');
    }
    return this.#simple(draft, state, state, input);
  }

  #declaration(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    let state = start;
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const keyed = node.children.some((child) => this.#raw(child) === '-A');
    for (const child of node.children) {
      if (child.type === 'variable_assignment') {
        this.#assignment(child, draft, around, keyed);
        const assigned = draft.assignments.pop();
        if (this.#lists && assigned?.open !== undefined) this.doubt('may make a list of a text');
        if (assigned !== undefined) draft.words.push({ readings: [[assigned]], expands: false });
      } else if (child.type === 'file_redirect') this.#fileRedirect(child, draft, around);
      else if (WORDS.has(child.type)) this.#word(child, draft, around);
      else if (!child.named) this.#word({ ...child, type: 'word' }, draft, around);
      else this.doubt('cannot be read as a command of bash');
    }
    return this.#simple(draft, state, state, input);
  }

  /** A name that is set by other means than an assignment is judged like one. */
  #judgeNames(names: readonly string[], state: State): void {
    for (const name of names.filter(isPowerful)) {
      const draft: Draft = { assignments: [textWord(`${name}=?`)], words: [], redirects: [], expands: false };
      this.#emit([], draft, state, { piped: false, upstream: undefined });
    }
  }

  #emit(words: readonly Word[], draft: Draft, state: State, { piped, upstream }: Input): void {
    const { assignments, redirects } = draft;
    if (words.length + assignments.length + redirects.length === 0) return;
    this.commands.push({
      assignments,
      words,
      redirects,
      expands: draft.expands,
      folders: state.folders,
      piped,
      upstream: piped ? upstream : undefined,
      ...(draft.isFed && { isFed: true }),
      chained: this.#chained,
      calls: words[0] !== undefined && words[0].open === undefined && this.#defined.has(words[0].value),
      within: this.#within,
      exported: [],
    });
  }

  /** `[ … ]` and `[[ … ]]` as the commands that they are. */
  #test(node: SyntaxNode, start: State, input: Input, depth: number): Outcome {
    if (node.children[0]?.type === '((') return this.#arithmetic(node, start, input, depth);
    if (this.#start.posix && node.children[0]?.type === '[[') this.doubt(ONLY_BASH);
    let state = start;
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const collect = (child: SyntaxNode): void => {
      if (child.type === 'comment') return;
      if (WORDS.has(child.type)) {
        this.#word(child.type === 'test_operator' ? { ...child, type: 'word' } : child, draft, around);
      } else if (child.named || child.children.length > 0) {
        if (!/_expression$/.test(child.type)) this.doubt('tests something in a way that is not known');
        child.children.forEach(collect);
      } else {
        const text = this.#raw(child).trim();
        // To `[`, a builtin like any other, these are signs of the shell around it.
        if (node.children[0]?.type === '[' && /[<>&|;()]/.test(text))
          this.doubt('redirects or chains within a test');
        draft.words.push({ readings: [[{ ...textWord(text), quoted: false }]], expands: false });
      }
    };
    node.children.forEach(collect);
    return this.#simple(draft, state, state, input);
  }

  #arithmetic(node: SyntaxNode, state: State, input: Input, depth: number): Outcome {
    if (this.#start.posix) this.doubt(ONLY_BASH);
    const after = this.#compute(node, state, depth);
    const draft: Draft = { assignments: [], words: [], redirects: [], expands: false };
    this.#emit([textWord(':'), textWord(this.#raw(node))], draft, state, input);
    return { after, ok: after };
  }

  /** Numbers, and variables that are known to hold one: anything else could be code, as in `a[$(…)]`. */
  #compute(node: SyntaxNode, start: State, depth: number): State {
    let state = start;
    const around = this.#around(
      () => state,
      depth,
      (next) => {
        state = next;
      },
    );
    const needNumber = (values: readonly Known[] | undefined) => {
      if (values?.every(({ text, glob }) => !glob && /^-?\d*$/.test(text)) !== true)
        this.doubt('computes with a variable that is not known to be a number');
    };
    const visit = (each: SyntaxNode): void => {
      const { type, children } = each;
      if (/^(?:0[xX][\da-fA-F]+|\d+#\w+)$/.test(this.#raw(each))) return;
      if (type === 'number' || type === 'comment' || (!each.named && children.length === 0)) return;
      if (type === 'variable_name' || type === 'word') needNumber(this.#lookUp(this.#raw(each), state));
      else if (type === 'simple_expansion' || type === 'expansion') {
        const { readings } = expandWord(each, around, true);
        needNumber(
          readings.every((words) => words[0]?.open === undefined)
            ? readings.flat().map(({ value }) => ({ text: value, glob: false }))
            : undefined,
        );
      } else if (type === 'command_substitution') needNumber(around.enter(each));
      else if (type === 'string' && children.length === 3 && children[1] !== undefined) visit(children[1]);
      else if (isAssignment(each)) {
        const [name, , ...values] = children;
        values.forEach(visit);
        if (name?.type !== 'variable_name' && name?.type !== 'word') this.doubt('computes an index');
        else {
          state = assign(state, this.#raw(name), NUMBER);
          this.#judgeNames([this.#raw(name)], state);
        }
      } else if (
        /_expression$|^arithmetic_expansion$|^compound_statement$|^test_command$|^variable_assignment$/.test(
          type,
        )
      )
        children.forEach(visit);
      else this.doubt('computes in a way that is not known');
    };
    visit(node);
    return state;
  }
}

/** Where these stand, a name without a dollar may be that of a variable that they set. */
const SETS_BY_NAME =
  /\b(?:read|mapfile|readarray|getopts|printf|let|local|declare|export|typeset|readonly|unset)\b/;
const SETS_ANY_NAME =
  /\b(?:read|mapfile|readarray|getopts|let|local|declare|export|typeset|readonly|unset)\b[^;\n&|]*\s["']?\$|\bprintf\b[^;\n&|]*-v|\bread\b[^;\n&|]*\s-[a-z]*a\w/;

/** Builtins that change what is known of variables and folders. */
const FOLLOWED =
  /^(?:read|mapfile|readarray|getopts|printf|let|local|declare|export|typeset|readonly|unset|set|eval|source|\.|builtin|command|wait|coproc|trap|select|shift|cd|pushd|popd)$/;

function isAssignment({ type, children }: SyntaxNode): boolean {
  return (type === 'binary_expression' || type === 'variable_assignment') && children[1]?.type === '=';
}

/** What is assigned before a builtin of these stays assigned, and some builtins are not there. */
const SPECIAL_BUILTIN =
  /^(?::|\.|break|continue|eval|exec|exit|export|readonly|return|set|shift|times|trap|unset)$/;

function differsInPosix({ assignments }: Draft, program: Word | undefined): boolean {
  const name = program?.value ?? '';
  return /^(?:pushd|popd|builtin)$/.test(name) || (assignments.length > 0 && SPECIAL_BUILTIN.test(name));
}

/** Undefined when one of them is not known. */
function valuesOf({ readings }: Expanded): readonly Known[] | undefined {
  const words = readings.flat();
  if (words.some(({ open }) => open !== undefined)) return undefined;
  return words.map(({ value, glob }) => ({ text: value, glob }));
}

const EMPTY: Known = { text: '', glob: false };
const MAX_READINGS = 16;

/** Every way in which a command can be read; none when there are too many. */
function combine(list: readonly Expanded[]): readonly (readonly Word[])[] {
  let all: Word[][] = [[]];
  for (const { readings } of list) {
    if (all.length * readings.length > MAX_READINGS) return [];
    const [only] = readings;
    if (readings.length === 1) for (const words of all) words.push(...(only ?? []));
    else all = all.flatMap((before) => readings.map((words) => [...before, ...words]));
  }
  return all;
}
