// Programs that do much else, with the words behind them that only show how things are or what they are: names, versions,
// lists of this machine. Each pattern is of the whole line behind the program, words joined by single blanks; none of them
// names a file, and a word that expands is never matched.

import { type Effect, reads } from './effect.ts';
import type { Word } from './script.ts';

/** A name without a slash, which cannot be taken for an option either. */
const NAME = String.raw`[A-Za-z0-9_@][\w.@:+-]*`;

function lines(...patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.join('|')})$`.replaceAll('NAME', NAME));
}

const SHOWN: Readonly<Record<string, RegExp>> = {
  // Of this machine.
  systemctl: lines(
    '(?:--failed|--all|-a|--user|--no-pager|--no-legend|--plain|--system|--type=NAME|-t NAME| )+',
  ),
  localectl: lines(
    'status',
    'list-(?:locales|keymaps|x11-keymap-(?:models|layouts))',
    '(?:--no-pager )?status',
  ),
  resolvectl: lines('status(?: NAME)?', 'statistics', 'dns', 'domain'),
  networkctl: lines('(?:list|status)(?: NAME)*'),
  nmcli: lines('general(?: status)?', '(?:device|dev|d)(?: status)?', 'radio'),
  swapon: lines('-s', '--show(?:=[A-Z,]+)?(?: --(?:noheadings|raw|bytes))*'),
  atq: lines('(?:-q NAME)?'),
  'nvidia-smi': lines(
    '(?:-L|-q|--list-gpus)?',
    String.raw`--query-(?:gpu|compute-apps)=[\w.,]+ --format=[\w,]+`,
  ),
  sensors: lines('(?:-[ufAj])?'),
  acpi: lines('(?:-[abtciV]+)?'),
  ioreg: lines('(?:-[lw] ?[0-9]*)?'),
  diskutil: lines('list', 'info NAME'),
  pmset: lines('-g(?: NAME)?'),
  scutil: lines('--(?:dns|proxy|nwi)', '--get NAME'),
  system_profiler: lines('SP[A-Za-z]+DataType(?: -(?:json|xml))?', '-listDataTypes'),
  'xcode-select': lines('-p|--print-path|-v|--version'),
  xcodebuild: lines('-version(?: -sdk(?: NAME)?)?', '-showsdks'),
  xcrun: lines('--show-sdk-(?:path|version)', '(?:-f|--find) NAME', '--sdk NAME --show-sdk-(?:path|version)'),
  mdfind: lines('-name NAME', '-count -name NAME'),
  // Packages of this machine.
  apk: lines('info(?: -(?:v|vv|a|L|d|e|W) ?)*(?:NAME)?', 'list --installed', 'list -I'),
  snap: lines('(?:list|version|services|connections)(?: NAME)*(?: --all)?'),
  flatpak: lines('(?:list|remotes)(?: --(?:app|runtime|columns=[a-z,]+|user|system))*', 'info NAME'),
  pipx: lines('list(?: --(?:short|json))*', 'environment'),
  pyenv: lines('versions(?: --bare)?', 'version(?:-name)?', 'root', 'which NAME', 'whence NAME'),
  rbenv: lines('versions(?: --bare)?', 'version(?:-name)?', 'root', 'which NAME'),
  asdf: lines('current(?: NAME)?', 'list(?: NAME)?', 'plugin list', 'where NAME'),
  nvm: lines('(?:ls|list|current|version)(?: --no-colors)?'),
  conda: lines('env list', 'info(?: --(?:envs|json))?', 'list(?: --(?:json|export))?'),
  opam: lines('list(?: --installed)?', 'switch(?: list)?', 'switch show'),
  // What the tools of a language say of themselves; none of these looks into the project.
  cargo: lines('--list', '-V', 'version(?: -v)?', '-vV', '--version -v'),
  rustc: lines(
    '-V',
    '-vV',
    '--version --verbose',
    '--print (?:sysroot|cfg|target-list|host-tuple|target-libdir)',
  ),
  rustup: lines('-V'),
  go: lines('help(?: NAME)*', 'env(?: NAME)+'),
  gem: lines('env(?: NAME)?', 'which NAME', 'contents NAME', 'sources', '-v'),
  perl: lines('-v', '-V', '-V:NAME'),
  php: lines('-m', '--ini', '-v', '--modules'),
  python3: lines('-VV'),
  python: lines('-VV'),
  dotnet: lines('--info', '--list-(?:sdks|runtimes)'),
  zig: lines('env', 'targets', 'version'),
  erl: lines('-version'),
  kotlinc: lines('-version'),
  ghc: lines('-V', '--info', '--numeric-version', '--print-libdir'),
  jps: lines('(?:-[lmvq]+)?'),
  npm: lines('version', 'run', 'run-script', 'prefix(?: -g)?', 'help', '-l', 'completion'),
  pnpm: lines('run', 'store path', 'help'),
  gcc: lines(
    '-print-(?:search-dirs|sysroot|libgcc-file-name|multi-lib|file-name=NAME|prog-name=NAME)',
    '-Q --help=NAME',
    '--print-[a-z-]+',
  ),
  clang: lines(
    '-print-(?:search-dirs|resource-dir|targets|target-triple)',
    '--print-[a-z-]+',
    '-dumpmachine',
  ),
  ld: lines('-v', '-V', '--verbose'),
  nginx: lines('-V'),
  docker: lines(
    '(?:network|image|volume|context|container) inspect(?: NAME)+(?: (?:-f|--format) .*)?',
    'compose version',
    'buildx (?:ls|version)',
    'builder ls',
    'help(?: NAME)*',
  ),
  podman: lines(
    '(?:network|image|volume|container) inspect(?: NAME)+(?: (?:-f|--format) .*)?',
    'version',
    'help(?: NAME)*',
  ),
  'docker-compose': lines('version', '--version', 'ps(?: -[aq])*', 'ls', 'images'),
  kubectl: lines(
    'config (?:get-clusters|get-users)',
    'version --client(?: -o NAME)?',
    'options',
    'help(?: NAME)*',
  ),
  helm: lines('version(?: --short)?', 'env', 'help(?: NAME)*', 'plugin list'),
  terraform: lines('version(?: -json)?', '-version', '-v', 'workspace show'),
  psql: lines('-V'),
  gh: lines('help(?: NAME)*', 'version'),
  'fc-list': lines(''),
  screen: lines('-v', '-ls', '-list'),
  'redis-server': lines('-v'),
  composer: lines('-V'),
  jq: lines('-V'),
  sqlite3: lines('-version'),
  git: lines('--exec-path|--html-path|--man-path|--info-path|-v', '[a-z][a-z-]* --help'),
};

/** Their subcommands show how they are used; what stands behind the name of another program would be its own. */
const HELPED =
  /^(?:docker|podman|pip3?|uv|npm|pnpm|gh|kubectl|helm|apt|apt-get|apt-cache|systemctl|brew|terraform|poetry|glab|aws|az|gcloud)$/;
const HELP =
  /^(?:(?:compose|image|container|volume|network|system|context|pr|issue|repo|release|get|config|rollout|create) )?[a-z][a-z-]* --help$/;

export function shownEffect(program: string, args: readonly Word[]): Effect | undefined {
  const pattern = Object.hasOwn(SHOWN, program) ? SHOWN[program] : undefined;
  const helped = HELPED.test(program) && args.at(-1)?.value === '--help';
  if ((pattern === undefined && !helped) || args.some(({ open, glob }) => open !== undefined || glob))
    return undefined;
  const line = args.map(({ value }) => value).join(' ');
  const shows = pattern?.test(line) === true || (helped && HELP.test(line));
  return shows ? reads([], 'shows how things are') : undefined;
}
