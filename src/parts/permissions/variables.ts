// What is known of the shell's variables while a text is read. Values are followed only as far as they are
// certain: what an environment, a file or a command puts into a variable is not known.

/** One of the values that a variable may have. */
export interface Known {
  readonly text: string;
  /** It stands for whatever a pattern matches. */
  readonly glob: boolean;
}

export interface State {
  /** Where a command may run. */
  readonly folders: readonly string[];
  /** Where `cd -` leads; undefined when that is not known. */
  readonly before: readonly string[] | undefined;
  /** Where `popd` leads, the next one first; undefined when that is not known. */
  readonly pushed: readonly (readonly string[])[] | undefined;
  /** By name; undefined for one that was set to what is not known. */
  readonly variables: ReadonlyMap<string, readonly Known[] | undefined>;
}

export const NUMBER: readonly Known[] = [{ text: '0', glob: false }];

const NUMBERS = new Set(
  '? # $ ! RANDOM SECONDS LINENO UID EUID PPID BASHPID SHLVL COLUMNS LINES EPOCHSECONDS'.split(' '),
);
const SECRET =
  /SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|AUTH)_?KEY|_KEY$|DATABASE_URL/i;
/** More possible values than these count as unknown. */
const MAX_VALUES = 16;
/** Beyond this many possible folders the root stands for all of them, which is outside everywhere. */
const MAX_FOLDERS = 8;

export function mayBeSecret(name: string): boolean {
  return SECRET.test(name);
}

/** The shell sets them by itself, whatever was assigned before. */
const SET_BY_SHELL = new Set(
  '_ REPLY MAPFILE OPTARG OPTIND BASH_REMATCH COPROC PIPESTATUS FUNCNAME DIRSTACK GROUPS'.split(' '),
);

/** Undefined when it is not known. */
export function lookUp(name: string, { folders, variables }: State, home: string | undefined) {
  if (SET_BY_SHELL.has(name)) return undefined;
  if (variables.has(name)) return variables.get(name);
  if (NUMBERS.has(name)) return NUMBER;
  if (name === 'IFS') return [{ text: ' ', glob: false }];
  if (name === 'PWD') return folders.map((text) => ({ text, glob: false }));
  if (name === 'HOME' && home !== undefined) return [{ text: home, glob: false }];
  return undefined;
}

export function assign(state: State, name: string, values: readonly Known[] | undefined): State {
  const few = values !== undefined && values.length <= MAX_VALUES ? values : undefined;
  return { ...state, variables: new Map(state.variables).set(name, few) };
}

/** Either of two may be so. */
export function join(one: State, other: State): State {
  if (one === other) return one;
  return {
    folders: joinFolders(one.folders, other.folders),
    before: isSame(one.before, other.before) ? one.before : undefined,
    pushed: isSame(one.pushed, other.pushed) ? one.pushed : undefined,
    variables: joinVariables(one, other),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function joinVariables(one: State, other: State): State['variables'] {
  if (one.variables === other.variables) return one.variables;
  const joined = new Map<string, readonly Known[] | undefined>();
  for (const name of new Set([...one.variables.keys(), ...other.variables.keys()])) {
    const values = [one.variables.get(name), other.variables.get(name)];
    const both = values.every((each) => each !== undefined) ? values.flat() : undefined;
    const distinct = both && [...new Map(both.map((each) => [`${each.glob} ${each.text}`, each])).values()];
    joined.set(name, distinct !== undefined && distinct.length <= MAX_VALUES ? distinct : undefined);
  }
  return joined;
}

export function joinFolders(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > MAX_FOLDERS ? [...one.slice(0, 1), '/'] : all;
}
