// Programs that manage something else (packages, containers, services, databases), with the subcommands that
// only look at what is on this machine. Whatever reaches the network, starts the project's code or changes
// something is left to the person; what cannot be undone, or gives rights away, is said to be dangerous.

import { dangerous, type Effect, outwardPaths, reads, unknown, writes } from './effect.ts';
import { readOptions } from './options.ts';
import type { Word } from './script.ts';

interface Service {
  /** Options before the subcommand. */
  readonly global?: string;
  /** By subcommand, which may be two words: the options with which it only looks. */
  readonly looks: Readonly<Record<string, string>>;
  /** Why the subcommands that match are dangerous. */
  readonly destroys?: readonly (readonly [RegExp, string])[];
}

const DELETES = 'deletes what may not come back';
const PUBLISHES = 'publishes to others';
const FORMAT = '--format: -f: -q --quiet -a --all --no-trunc';

const CLOUD: Service['destroys'] = [
  [
    /(?:^| )(?:rm|rb|mv|sync|delete\S*|terminate\S*|remove\S*|destroy\S*|purge\S*|deregister\S*|revoke\S*|put\S*|create\S*|update\S*|modify\S*|attach\S*|detach\S*|stop\S*|deploy\S*|ssh|publish|set\S*)(?: |$)/,
    'changes what is in the cloud',
  ],
];

const SERVICES: Readonly<Record<string, Service>> = {
  'docker podman': {
    looks: {
      'ps images': `${FORMAT} --filter: -n: -l --latest -s --size --digests`,
      'container ls': FORMAT,
      'image ls': FORMAT,
      'volume ls': FORMAT,
      'network ls': FORMAT,
      inspect: '-f: --format: -s --size --type:',
      'logs top port history diff':
        '-f --follow -n: --tail: --since: --until: -t --timestamps --details --no-trunc -q',
      version: '-f: --format:',
      info: '-f: --format:',
      'compose ps': `${FORMAT} --services --status:`,
      'compose ls': FORMAT,
      'compose logs': '-f --follow -n: --tail: --since: --until: -t --timestamps --no-color --no-log-prefix',
      'compose images': FORMAT,
      'system df': '-v --verbose --format:',
      'context ls': FORMAT,
      stats: `${FORMAT} --no-stream`,
    },
    destroys: [
      [
        /^(?:system|volume|image|container|network|builder) prune|^(?:volume|image|container|network) rm|^(?:rm|rmi)\b/,
        DELETES,
      ],
      [
        /^(?:run|create|container run)\b.*(?: --privileged| --pid[= ]host| --cap-add| --security-opt| -v ?\/| --volume[= ]\/| --mount)/,
        'leaves the container open to this machine',
      ],
      [/^(?:push|login)\b/, PUBLISHES],
      [/^compose down\b.* (?:-v|--volumes|--rmi)/, DELETES],
    ],
  },
  'kubectl oc': {
    looks: {
      'version --client': '-o: --short',
      'config view': '-o: --minify',
      'config current-context': '',
      'config get-contexts': '-o:',
    },
    destroys: [
      [/\b(?:delete|drain|cordon|taint|replace --force)\b/, DELETES],
      [/\bexec\b|\bdebug\b|\bcp\b|\bproxy\b|\bport-forward\b/, 'reaches into the cluster'],
    ],
  },
  helm: {
    looks: { env: '', 'repo list': '-o:' },
    destroys: [[/\b(?:uninstall|delete|rollback)\b/, DELETES]],
  },
  // pnpm runs a file of the project before it does anything.
  pnpm: {
    looks: {},
    destroys: [[/^(?:publish|unpublish|deprecate|owner|access|dist-tag|login)\b/, PUBLISHES]],
  },
  npm: {
    looks: {
      'ls list ll': '-a --all --depth: --json -g --global --prod --dev --parseable --long --omit:',
      'root prefix bin': '-g --global',
      'config get': '--json',
      'config list': '--json -l',
      explain: '--json',
      'pkg get': '--json',
    },
    destroys: [
      [/^(?:publish|unpublish|deprecate|owner|access|dist-tag|token|login|adduser|hook|team)\b/, PUBLISHES],
      [
        /^(?:config set|config delete|config edit|c set|set)\b.*(?:registry|script-shell|node-options|ignore-scripts|cafile|proxy)/,
        'changes where programs come from',
      ],
    ],
  },
  yarn: { looks: {}, destroys: [[/^(?:publish|npm publish|login)\b/, PUBLISHES]] },
  bun: { looks: { 'pm ls': '--all', 'pm bin': '-g' }, destroys: [[/^publish\b/, PUBLISHES]] },
  cargo: {
    looks: { 'locate-project': '--message-format: --workspace', 'read-manifest': '', 'verify-project': '' },
    destroys: [[/^(?:publish|yank|owner|login)\b/, PUBLISHES]],
  },
  go: { looks: { env: '-json', version: '-m -v', 'tool nm': '' } },
  gofmt: { looks: { '': '-l -d -s' } },
  'pip pip3': {
    looks: {
      list: '--format: --user --local --not-required -v --path:',
      freeze: '--all --user --local --exclude:',
      show: '-f --files -v',
      check: '',
      'config list': '',
      'config get': '',
    },
    destroys: [[/^config (?:set|edit)\b/, 'changes where programs come from']],
  },
  uv: {
    // It asks the Python of the project, which is a program of the project.
    looks: {},
    destroys: [[/^publish\b/, PUBLISHES]],
  },
  gem: {
    looks: { list: '-l --local -a', environment: '' },
    destroys: [[/^(?:push|yank|owner)\b/, PUBLISHES]],
  },
  rustup: {
    looks: { show: '', 'toolchain list': '-v', 'target list': '--installed' },
    destroys: [[/\buninstall\b/, DELETES]],
  },
  'apt apt-cache': {
    looks: {
      list: '--installed --upgradable -a --all-versions -q',
      'policy search show depends rdepends showpkg pkgnames stats': '-a -n --names-only --installed -q',
    },
  },
  dpkg: {
    looks: {
      '': '-l -L -s -S -p --list --listfiles --status --search --get-selections --print-architecture --print-avail --print-foreign-architectures --audit -C -c -I --contents --info',
    },
  },
  'dpkg-query': {
    looks: { '': '-l -L -s -S -W -f: --list --listfiles --status --search --show --showformat:' },
  },
  rpm: {
    looks: {
      '': '-qa -qai -ql -qlp -qip -qpi -qpl -qp -qR -qi -qf -qc -qd -q --query -a --all --list --info --requires --provides --scripts --changelog --last',
    },
  },
  pacman: { looks: { '': '-Q -Qi -Ql -Qe -Qs -Qo' } },
  brew: {
    looks: {
      'list ls leaves': '-1 --versions --formula --cask --full-name',
      '--prefix': '',
      '--version': '',
      config: '',
    },
    destroys: [[/^(?:uninstall|rm|remove|cleanup|autoremove)\b/, DELETES]],
  },
  systemctl: {
    global: '--user --no-pager -q --quiet -l --full',
    looks: {
      'status show cat is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-jobs list-paths list-automounts list-dependencies get-default':
        '--user --no-pager --all -a --type: -t: --state: -n: --lines: -l --full --plain --no-legend -p: -P: --property: --value -q --quiet --reverse --failed -r --recursive -o: --output: --legend: --timestamp: --system -T --show-transaction',
    },
    destroys: [
      [/\b(?:reboot|poweroff|halt|kexec|emergency|rescue|suspend|hibernate|isolate)\b/, 'stops the machine'],
      [
        /\b(?:enable|disable|mask|unmask|link|edit|set-default|reenable|preset)\b/,
        'changes what starts by itself',
      ],
      [/\b(?:start|restart|stop|kill|reload|daemon-reload)\b/, 'changes what runs on the machine'],
    ],
  },
  journalctl: {
    looks: {
      '':
        '-u: -n: -f -x -e -b? -k -r -o: -p: -q -a --unit: --user-unit: --lines: --since: --until: --no-pager --boot? --dmesg --reverse --output: --priority: --grep: --user --system --disk-usage --list-boots -xe -m -S: -U: -t: -g: -N -F: --merge --identifier: --facility: --case-sensitive? --output-fields: --utc --catalog --no-hostname ' +
        '--no-full --all --follow --no-tail --quiet --pager-end --fields --field: --header --list-catalog --verify',
    },
    destroys: [[/--(?:vacuum|rotate|flush|setup-keys)/, DELETES]],
  },
  terraform: {
    looks: {
      // What the others show is kept where the project says, which may be far away.
      'workspace show': '',
      'fmt -check': '-diff -recursive -list=false',
    },
    destroys: [
      [
        /\b(?:destroy|apply|import|taint|force-unlock)\b|\bstate (?:rm|mv|push)\b|\bworkspace delete\b/,
        'changes what others may rely on',
      ],
    ],
  },
  gh: {
    looks: {},
    destroys: [
      [
        /\b(?:delete|close|merge|archive|transfer|rename|edit)\b|^(?:secret|variable|ssh-key|gpg-key|auth (?:token|login|refresh|setup-git)|alias|extension)\b/,
        'changes what others see, or what may sign in',
      ],
      [/^api\b.*(?:-X|--method|-f|-F|--field|--raw-field|--input|graphql)/, 'changes what others see'],
      [/^release (?:create|upload)|^repo create|^gist create|^workflow run/, PUBLISHES],
    ],
  },
  'aws gcloud': { looks: { '--version': '', 'configure list': '', 'config list': '' }, destroys: CLOUD },
  'az doctl flyctl heroku vercel netlify firebase': { looks: { '--version': '' }, destroys: CLOUD },
  sqlite3: { looks: {} },
  tmux: {
    // A format can run a program, as `#(id)` does.
    looks: { 'ls list-sessions list-windows list-panes': '-a' },
    destroys: [
      [
        /\b(?:send-keys|send|run-shell|new|new-session|new-window|respawn|pipe-pane|if-shell)\b/,
        'runs a program unseen',
      ],
    ],
  },
  crontab: { looks: { '': '-l' } },
  ss: {
    looks: {
      '':
        '-t -u -l -n -p -a -s -x -4 -6 -e -o -i -H -m -b -O -S -w -0 -Z -z -T --tcp --udp --listening --processes --numeric --all ' +
        '--summary --options --extended --memory --info --ipv4 --ipv6 --unix --raw --no-header --oneline',
    },
  },
  netstat: {
    looks: {
      '':
        '-t -u -l -n -p -a -r -s -x -4 -6 -e -o -i -g -W -v -A: --tcp --udp --listening --numeric --all --route --interfaces --groups ' +
        '--statistics --wide --programs',
    },
  },
  lsof: {
    looks: { '': '-i? -p: -u: -P -n -t -c: -a -d: -s? -U -N -l -L -R -w -g? -F? -T? -4 -6 -V' },
  },
};

const BY_NAME = new Map(
  Object.entries(SERVICES).flatMap(([names, service]) =>
    names.split(' ').map((name) => [name, service] as const),
  ),
);

/** Undefined when the program is not one of these, or when what it does here is for others to say. */
export function serviceEffect(program: string, args: readonly Word[]): Effect | undefined {
  if (program === 'sqlite3') return sqliteEffect(args);
  if (program === 'ip') return ipEffect(args);
  if (program === 'lsof' || program === 'ss') {
    // A name of a machine would be looked up in the network.
    const named = args.some(({ value }) =>
      /@.*[a-z]|^(?:[a-z\d-]+\.)+[a-z]|:?\[?[a-z][\w-]*\.[a-z]/i.test(value),
    );
    const filters = program === 'ss' && args.some(({ value }) => /\b(?:dst|src)\b/.test(value));
    if (named || filters) return unknown('may ask the network');
  }
  // A semicolon of its own begins another of its commands.
  if (program === 'tmux' && args.some(({ value }) => value.includes(';')))
    return unknown('gives tmux several commands');
  if (program === 'ifconfig' || program === 'route') return interfacesEffect(program, args);
  const service = BY_NAME.get(program);
  if (service === undefined) return undefined;
  const line = args.map(({ value }) => value).join(' ');
  for (const [pattern, reason] of service.destroys ?? []) if (pattern.test(line)) return dangerous(reason);
  const given = readOptions(args, service.global ?? '', true);
  const rest = service.global === undefined || given.unknown !== undefined ? args : given.operands;
  if (/^(?:config|c) get\b/.test(line) && /auth|token|passw/i.test(line))
    return unknown('shows a setting that may hold a secret');
  return rest.some(({ glob }) => glob) ? undefined : lookEffect(service, rest);
}

function lookEffect({ looks }: Service, args: readonly Word[]): Effect | undefined {
  const [first, second] = args.map(({ value }) => value);
  for (const [names, list] of Object.entries(looks)) {
    const depth = names === '' ? 0 : names.includes(' ') && names === `${first} ${second}` ? 2 : 1;
    const meant = depth !== 1 || (isPlainList(names) && names.split(' ').includes(first ?? ''));
    if (!meant) continue;
    const { unknown: strange } = readOptions(args.slice(depth), list);
    const asksPackages = /^(?:-S|--search)$/.test(first ?? '');
    if (strange === undefined && !args.some(({ value }) => value.includes('://')))
      return reads(asksPackages ? [] : outwardPaths(args), 'only looks at what is on this machine');
  }
  return undefined;
}

/** Two words that belong together, such as `config get`, are no list of subcommands. */
const PAIR =
  /^(?:container|image|volume|network|config|repo|pkg|pm|tool|pip|python|toolchain|target|state|workspace|fmt|configure|compose|version|system|context) \S+$/;

function isPlainList(names: string): boolean {
  return !PAIR.test(names);
}

const IP_OPTIONS =
  '-4 -6 -0 -B -M -a -br -brief -c -color? -d -details -f: -family: -h -human -iec -j -json -N -Numeric -o -oneline -p -pretty -s -stats -statistics -t -ts';
const IP_OBJECTS =
  /^(?:a|ad|addr|address|l|li|link|r|ro|route|n|ne|neigh|neighbour|ru|rule|maddress|mroute|ntable|tunnel)$/;

/** What it changes has a verb of its own; without one it shows. */
function ipEffect(args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(args, IP_OPTIONS, true);
  const [object, verb] = operands.map(({ value }) => value);
  const shows = verb === undefined || /^(?:s|sh|show|ls|lst|list|get)$/.test(verb);
  const plain = strange === undefined && !operands.some(({ open, glob }) => open !== undefined || glob);
  // `ip link s` sets.
  const sets = verb === 's' && /^l/.test(object ?? '');
  return plain && shows && !sets && IP_OBJECTS.test(object ?? '')
    ? reads([], 'only looks at what is on this machine')
    : unknown('may change the network of this machine');
}

/** More than the name of an interface is a change of it. */
function interfacesEffect(program: string, args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(args, program === 'route' ? '-n -e -4 -6' : '-a -s -v');
  return strange === undefined && operands.length <= (program === 'route' ? 0 : 1)
    ? reads([], 'only looks at what is on this machine')
    : unknown('may change the network of this machine');
}

/** Only what opens the file for reading and asks one question is known to change nothing. */
function sqliteEffect(args: readonly Word[]): Effect {
  const {
    operands,
    seen,
    unknown: strange,
  } = readOptions(args, '-readonly -header -csv -json -line -column -table -box -markdown -list -noheader');
  const [file, query, ...more] = operands;
  const text = query?.value ?? '';
  if (/^\s*\.(?:shell|system|import|output|once|save|backup|restore|load|read|clone|excel|edit)/im.test(text))
    return dangerous('runs a program or writes a file from sqlite');
  const asks =
    /^\s*(?:select|explain|pragma\s+table_info|with)\b/i.test(text) ||
    /^\.(?:schema|tables|indexes)\b[^\n]*$/.test(text);
  const plain =
    !/\b(?:insert|update|delete|drop|replace|create|alter|attach|writefile|readfile|fsdir|lsdir|zipfile|load_extension|edit|fts3_tokenizer)\b|;\s*\S/i.test(
      text,
    );
  if (strange !== undefined || file === undefined || query === undefined || more.length > 0)
    return unknown('runs sqlite in a way that is not known');
  if (/^file:/i.test(file.value)) return unknown('opens a database by its address');
  if (!seen.has('-readonly') || !asks || !plain) return writes([file], 'may change a database');
  return reads([file]);
}
