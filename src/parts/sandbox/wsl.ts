// The Windows Subsystem for Linux (WSL 2): what is to be confined runs there, in bubblewrap. Of this process it gets the
// command line and the standard streams alone, so that the filter travels as text and variables by name. Interop, by which
// Linux programs start those of Windows, is closed with everything else: it needs a socket in `/run` that the filter refuses.

import type { Backend, Enclosure, Wrapped } from './backend.ts';
import { type BubblewrapOptions, bubblewrap } from './bubblewrap.ts';

export interface WslOptions extends Omit<BubblewrapOptions, 'program' | 'runFolders' | 'sharing'> {
  /** Absolute path of `wsl.exe`. */
  readonly program: string;
}

/** Hands the filter, `$0` as a format of printf(1), to descriptor 3 and the standard input on to the program. */
const LAUNCHER = 'exec 4<&0; printf "$0" | { exec 3<&0 0<&4 4<&-; exec "$@"; }';

/** Said to both systems in `WSLENV`: these cross over. */
const VARIABLES = [
  'CRAB',
  'CRAB_CALL',
  'TERM',
  'PAGER',
  'GIT_PAGER',
  'MANPAGER',
  'EDITOR',
  'VISUAL',
  'GIT_EDITOR',
  'GIT_SEQUENCE_EDITOR',
  'GIT_TERMINAL_PROMPT',
  'GIT_ASKPASS',
  'SSH_ASKPASS',
  'DEBIAN_FRONTEND',
];

export function wsl({ program, disablesNamespaces, filter }: WslOptions): Backend {
  const inner = bubblewrap({ program: 'bwrap', disablesNamespaces, runFolders: [], filter });
  return {
    ...inner,
    name: 'wsl',
    bridges: false,
    narrows: false,
    gaps: [
      ...inner.gaps,
      'commands run in Linux: programs of Windows are not there',
      'the home folders of Linux look empty',
      'what a killed command leaves running is not seen',
    ],
    inside: pathInWsl,
    wrap: (argv, cwd, enclosure) =>
      wrap(inner.wrap(programInWsl(argv), pathInWsl(cwd), moved(enclosure)), program),
  };
}

function wrap({ argv, env, keeper }: Wrapped, program: string): Wrapped {
  const [filter] = keeper?.descriptors ?? [];
  const bytes = filter?.kind === 'bytes' ? filter.bytes : new Uint8Array();
  const [bwrap = '', ...rest] = argv;
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? ['--unsetenv', name] : ['--setenv', name, value],
  );
  return {
    argv: [
      program,
      '--cd',
      '/',
      '--exec',
      '/bin/sh',
      '-c',
      LAUNCHER,
      formatOf(bytes),
      bwrap,
      ...set,
      ...rest,
    ],
    env: { WSLENV: VARIABLES.map((name) => `${name}/u`).join(':') },
  };
}

/** Every byte as `\ooo`, which printf(1) turns back into it, NUL included. */
function formatOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

function moved(enclosure: Enclosure): Enclosure {
  const { writable, covered, hidden, temporary, shown } = enclosure;
  const homes = ['/home', '/root'].map((path) => ({ path, kind: 'folder' }) as const);
  return {
    ...enclosure,
    writable: writable.map(pathInWsl),
    covered: covered.map(pathInWsl),
    hidden: [...homes, ...hidden.map(({ path, kind }) => ({ path: pathInWsl(path), kind }))],
    temporary: pathInWsl(temporary),
    shown: shown.map(pathInWsl),
  };
}

/** Where Linux sees a path of Windows: drives below `/mnt`, its own files (`\\wsl$\NAME\...`) where they are. */
export function pathInWsl(path: string): string {
  const slashes = path.replaceAll('\\', '/').replace(/^\/\/\?\/(?=[A-Za-z]:)/, '');
  const [, drive, rest = ''] = /^([A-Za-z]):(?:\/(.*))?$/.exec(slashes) ?? [];
  if (drive !== undefined) return `/mnt/${drive.toLowerCase()}${rest === '' ? '' : `/${rest}`}`;
  return /^\/\/wsl(?:\$|\.localhost)\/[^/]+(\/.*)?$/i.exec(slashes)?.[1] ?? slashes;
}

/** A program of Windows that has its like in Linux: `C:\Program Files\Git\bin\bash.exe` is `bash`. */
function programInWsl([program = '', ...args]: readonly string[]): readonly string[] {
  const isOfWindows = /^[A-Za-z]:|\\|\.exe$/i.test(program);
  if (!isOfWindows) return [program, ...args];
  const name = program.split(/[\\/]/).at(-1) ?? program;
  return [name.replace(/\.exe$/i, ''), ...args];
}
