// Where `cd`, `pushd` and `popd` lead, and where they come back to.

import { pathsOf } from './paths.ts';
import { textWord, type Word } from './script.ts';
import { joinFolders, type State } from './variables.ts';

function isMove(program: Word | undefined): boolean {
  return program !== undefined && /^(?:cd|pushd|popd)$/.test(program.value);
}

/** The words of a `cd`, `pushd` or `popd`, also of one behind words of the shell itself; undefined for anything else. */
export function moveIn(words: readonly Word[]): readonly Word[] | undefined {
  const inner = behindShellWords(words);
  return isMove(inner[0]) ? inner : undefined;
}

/** What follows `builtin`, `command` and `time`, which run it in this very shell. */
export function behindShellWords(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex(({ value }) => !/^(?:builtin|command|time|-p|--)$/.test(value));
  return first > 0 ? words.slice(first) : words;
}

/** What holds when `cd`, `pushd` or `popd` has ended well. */
export function moved(words: readonly Word[], state: State, home: string | undefined): State {
  const [program, ...args] = words;
  const before = state.folders;
  if (program?.value === 'popd') {
    const [folders = before, ...pushed] = state.pushed ?? [['/']];
    return { ...state, folders, before, pushed: state.pushed === undefined ? undefined : pushed };
  }
  const pushed =
    program?.value === 'pushd' && state.pushed !== undefined ? [before, ...state.pushed] : state.pushed;
  if (args.length === 1 && args[0]?.value === '-' && program?.value === 'cd')
    return { ...state, folders: state.before ?? ['/'], before };
  const target = args.find(({ value }) => !value.startsWith('-')) ?? textWord('~');
  const folders = target.open === undefined ? pathsOf(target, before, home) : ['/'];
  return { ...state, folders, before, pushed };
}

/** Where it runs is not known any more. */
export function lost(state: State): State {
  return { ...state, folders: joinFolders(state.folders, ['/']), before: undefined, pushed: undefined };
}

/** `cd -` and `popd` lead to where the text was before, which was judged then. */
export function returning(words: readonly Word[], { before, pushed }: State): readonly Word[] {
  const [program, target, ...more] = words;
  if (program?.value === 'cd' && target?.value === '-' && more.length === 0 && before !== undefined)
    return [program, { ...textWord('.'), raw: target.raw }];
  if (program?.value === 'popd' && pushed === undefined)
    return [program, { ...textWord(''), raw: '', open: 'text', known: 0 }];
  return words;
}
