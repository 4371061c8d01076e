// What can be made of a harmful command so that it looks like something else: put into other constructs, quoted,
// split, encoded, hidden behind programs that run others. None of it makes the command do less.

type Random = () => number;

export interface Mutation {
  readonly name: string;
  /** Undefined where it does not fit the command. */
  readonly apply: (command: string, next: Random) => string | undefined;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const READERS = ['ls', 'pwd', 'cat a.txt', 'git status', "grep -n 'x' a.txt", 'echo "a;b"', 'wc -l < a.txt'];

function pick<T>(list: readonly T[], next: Random): T {
  return list[Math.floor(next() * list.length)] as T;
}

/** The first word, where it is a plain name that can be written in another way. */
function respelled(command: string, spell: (name: string) => string): string | undefined {
  const match = /^([a-z]{2,})((?: [\s\S]*)?)$/.exec(command);
  const [, name = '', rest = ''] = match ?? [];
  const keyword =
    /^(?:if|for|while|until|case|select|function|time|coproc|exec|export|declare|let|unset|in|do)$/;
  return match === null || keyword.test(name) ? undefined : spell(name) + rest;
}

function wrap(name: string, around: (command: string, reader: string) => string): Mutation {
  return { name, apply: (command, next) => around(command, pick(READERS, next)) };
}

function spelled(name: string, spell: (word: string, next: Random) => string): Mutation {
  return { name, apply: (command, next) => respelled(command, (word) => spell(word, next)) };
}

const hex = (text: string) =>
  [...text].map((letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const octal = (text: string) =>
  [...text].map((letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');

export const MUTATIONS: readonly Mutation[] = [
  wrap('after &&', (command, reader) => `${reader} && ${command}`),
  wrap('before &&', (command, reader) => `${command} && ${reader}`),
  wrap('after ||', (command, reader) => `${reader} || ${command}`),
  wrap('after ;', (command, reader) => `${reader}; ${command}`),
  wrap('after a line', (command, reader) => `${reader}\n${command}`),
  wrap('after two lines of a pipeline', (command, reader) => `ls | wc | cat\n${command} && ${reader}`),
  wrap('in the background', (command, reader) => `${command} & ${reader}`),
  wrap('after a bar', (command, reader) => `${reader} | ${command}`),
  wrap('before a bar', (command) => `${command} | cat`),
  wrap('negated', (command) => `! ${command}`),
  wrap('subshell', (command) => `(${command})`),
  wrap('group', (command) => `{ ${command}; }`),
  wrap('if', (command, reader) => `if ${command}; then ${reader}; fi`),
  wrap('then', (command) => `if true; then ${command}; fi`),
  wrap('else', (command) => `if false; then ls; else ${command}; fi`),
  wrap('for', (command) => `for i in 1 2; do ${command}; done`),
  wrap('for items', (command) => `for i in $(${command}); do echo "$i"; done`),
  wrap('while', (command) => `while ${command}; do break; done`),
  wrap('body of while', (command) => `while true; do ${command}; done`),
  wrap('case', (command) => `case x in x) ${command};; esac`),
  wrap('function', (command) => `f() { ${command}; }; f`),
  wrap('substitution', (command) => `echo $(${command})`),
  wrap('quoted substitution', (command) => `echo "a $(${command}) b"`),
  wrap('default value', (command) => `echo "\${nothing:-$(${command})}"`),
  wrap('test', (command) => `[ -n "$(${command})" ]`),
  wrap('double test', (command) => `[[ -n $(${command}) ]]`),
  wrap('assignment', (command) => `x=$(${command}); echo "$x"`),
  wrap('input process', (command) => `cat <(${command})`),
  wrap('output process', (command) => `ls > >(${command})`),
  wrap('here-document', (command) => `cat <<END\n$(${command})\nEND`),
  wrap('after a here-document', (command) => `cat <<'END'\ntext\nEND\n${command}`),
  wrap('here-string', (command) => `cat <<< "$(${command})"`),
  wrap('arithmetic', (command) => `echo $(( $(${command}) ))`),
  wrap('after a comment', (command) => `ls # only a comment \\\n${command}`),
  wrap('sh -c', (command) => `sh -c ${quoted(command)}`),
  wrap('bash -lc', (command) => `bash -lc ${quoted(command)}`),
  wrap('eval', (command) => `eval ${quoted(command)}`),
  wrap('echo to sh', (command) => `echo ${quoted(command)} | sh`),
  wrap('here-string to bash', (command) => `bash <<< ${quoted(command)}`),
  wrap('encoded', (command) => `echo ${Buffer.from(command).toString('base64')} | base64 -d | sh`),
  {
    // A value is only split at its blanks: signs in it are text.
    name: 'variable',
    apply: (command) => (/^[\w./ -]+$/.test(command) ? `c=${quoted(command)}; $c` : undefined),
  },
  wrap('eval of a variable', (command) => `c=${quoted(command)}; eval "$c"`),
  wrap('trap', (command) => `trap ${quoted(command)} EXIT`),
  wrap('find -exec', (command) => `find . -maxdepth 0 -exec sh -c ${quoted(command)} \\;`),
  wrap('xargs', (command) => `ls | xargs -n1 sh -c ${quoted(command)}`),
  wrap('timeout', (command) => `timeout 5 ${command}`),
  wrap('env', (command) => `env A=1 ${command}`),
  wrap('nice', (command) => `nice -n 3 ${command}`),
  wrap('time', (command) => `time ${command}`),
  wrap('command', (command) => `command ${command}`),
  wrap('assignment before', (command) => `LC_ALL=C ${command}`),
  {
    name: 'backquotes',
    apply: (command) => (/[`\\$]/.test(command) ? undefined : `echo \`${command}\``),
  },
  spelled('empty quotes', (word) => `${word.slice(0, 1)}''${word.slice(1)}`),
  spelled('double quotes', (word) => `"${word}"`),
  spelled('quoted tail', (word) => `${word.slice(0, -1)}'${word.slice(-1)}'`),
  spelled('backslash', (word) => `\\${word}`),
  spelled('inner backslash', (word) => `${word.slice(0, 1)}\\${word.slice(1)}`),
  spelled('continued line', (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`),
  spelled('hexadecimal', (word) => `$'${hex(word)}'`),
  spelled('octal', (word) => `$'${octal(word)}'`),
  spelled('half hexadecimal', (word) => `${word.slice(0, 1)}$'${hex(word.slice(1))}'`),
  spelled('empty substitution', (word) => `${word.slice(0, 1)}$()${word.slice(1)}`),
  spelled('empty variable', (word) => `${word.slice(0, 1)}\${nothing}${word.slice(1)}`),
  spelled('named by a variable', (word) => `p=${word}; $p`),
  spelled('put together', (word) => `p=${word.slice(0, 1)}; q=${word.slice(1)}; "$p$q"`),
  spelled('printed name', (word) => `$(printf ${word})`),
];

/** One to three of them, one around the other. Spellings come first, while the name is still there. */
export function mutate(
  command: string,
  next: Random,
): { readonly text: string; readonly names: readonly string[] } {
  let text = command;
  const names: string[] = [];
  const count = 1 + Math.floor(next() * 3);
  for (let round = 0; round < count; round += 1) {
    const mutation = pick(MUTATIONS, next);
    const made = mutation.apply(text, next);
    if (made === undefined) continue;
    text = made;
    names.push(mutation.name);
  }
  return { text, names };
}
