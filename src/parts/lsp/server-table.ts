// The language servers that Crab knows: how each is started, which files are its own, and what marks the root of a
// project. Of several for one language the first that is installed is used; a person's own stand before all of these.

export interface ServerRow {
  readonly name: string;
  /** Program and arguments; the program is looked for in the project's `node_modules/.bin`, then in PATH. */
  readonly command: readonly [program: string, ...args: string[]];
  /** File name endings, each with the language that the protocol has for it. */
  readonly languages: Readonly<Record<string, string>>;
  /** The nearest folder that holds one of these is the root, the first mark that is found anywhere winning. */
  readonly roots: readonly string[];
  /**
   * Run to see whether it is installed and new enough, where starting it would not tell: a version manager puts
   * programs into PATH that are there in name only.
   */
  readonly probe?: { readonly args: readonly string[]; readonly output?: RegExp };
  /** What to run where it is missing. */
  readonly install?: string;
  readonly initializationOptions?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  /** Started when a file of its own is edited, not only when it is asked something. */
  readonly startOnEdit?: boolean;
}

const TYPESCRIPT = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
} as const;

const TYPESCRIPT_ROOTS = ['tsconfig.json', 'jsconfig.json', 'package.json'];

const PYTHON = { '.py': 'python', '.pyi': 'python' } as const;

const PYTHON_ROOTS = [
  'pyrightconfig.json',
  'pyproject.toml',
  'setup.cfg',
  'setup.py',
  'requirements.txt',
  'Pipfile',
];

const VERSION = { args: ['--version'] } as const;

export const SERVERS: readonly ServerRow[] = [
  {
    name: 'typescript',
    command: ['tsc', '--lsp', '-stdio'],
    languages: TYPESCRIPT,
    roots: TYPESCRIPT_ROOTS,
    // The compiler itself speaks the protocol from version 7 on.
    probe: { args: ['--version'], output: /^Version (?:[7-9]|\d\d)/ },
    install: 'npm install --save-dev typescript@7',
  },
  {
    name: 'typescript-language-server',
    command: ['typescript-language-server', '--stdio'],
    languages: TYPESCRIPT,
    roots: TYPESCRIPT_ROOTS,
    probe: VERSION,
    install: 'npm install --global typescript-language-server typescript@5',
    initializationOptions: {
      // Otherwise it downloads type definitions with npm by itself.
      disableAutomaticTypingAcquisition: true,
      // Otherwise a server that knows single files alone answers while the project loads.
      tsserver: { useSyntaxServer: 'never' },
    },
  },
  {
    name: 'pyright',
    command: ['pyright-langserver', '--stdio'],
    languages: PYTHON,
    roots: PYTHON_ROOTS,
    install: 'npm install --global pyright',
  },
  {
    name: 'pylsp',
    command: ['pylsp'],
    languages: PYTHON,
    roots: PYTHON_ROOTS,
    probe: VERSION,
    install: 'pip install python-lsp-server',
  },
  {
    name: 'gopls',
    command: ['gopls'],
    languages: { '.go': 'go', '.mod': 'go.mod' },
    roots: ['go.work', 'go.mod'],
    probe: { args: ['version'] },
    install: 'go install golang.org/x/tools/gopls@latest',
  },
  {
    name: 'rust-analyzer',
    command: ['rust-analyzer'],
    languages: { '.rs': 'rust' },
    roots: ['Cargo.toml', 'rust-project.json'],
    probe: VERSION,
    install: 'rustup component add rust-analyzer',
  },
  {
    name: 'clangd',
    command: ['clangd'],
    languages: {
      '.c': 'c',
      '.h': 'cpp',
      '.cc': 'cpp',
      '.cpp': 'cpp',
      '.cxx': 'cpp',
      '.hpp': 'cpp',
      '.hh': 'cpp',
      '.m': 'objective-c',
      '.mm': 'objective-cpp',
    },
    roots: ['compile_commands.json', 'compile_flags.txt', '.clangd', 'CMakeLists.txt'],
    probe: VERSION,
    install: 'apt-get install clangd',
  },
  {
    name: 'jdtls',
    command: ['jdtls'],
    languages: { '.java': 'java' },
    roots: ['settings.gradle', 'settings.gradle.kts', 'pom.xml', 'build.gradle', 'build.gradle.kts'],
    install: 'brew install jdtls',
  },
  {
    name: 'kotlin-lsp',
    command: ['kotlin-lsp', '--stdio'],
    languages: { '.kt': 'kotlin', '.kts': 'kotlin' },
    roots: ['settings.gradle.kts', 'settings.gradle', 'build.gradle.kts', 'pom.xml'],
    install: 'brew install JetBrains/utils/kotlin-lsp',
  },
  {
    name: 'csharp-ls',
    command: ['csharp-ls'],
    languages: { '.cs': 'csharp' },
    roots: ['global.json', 'Directory.Build.props'],
    probe: VERSION,
    install: 'dotnet tool install --global csharp-ls',
  },
  {
    name: 'ruby-lsp',
    command: ['ruby-lsp'],
    languages: { '.rb': 'ruby' },
    roots: ['Gemfile', '.ruby-version'],
    probe: VERSION,
    install: 'gem install ruby-lsp',
  },
  {
    name: 'intelephense',
    command: ['intelephense', '--stdio'],
    languages: { '.php': 'php' },
    roots: ['composer.json'],
    install: 'npm install --global intelephense',
  },
  {
    name: 'lua-language-server',
    command: ['lua-language-server'],
    languages: { '.lua': 'lua' },
    roots: ['.luarc.json', '.luarc.jsonc'],
    probe: VERSION,
    install: 'brew install lua-language-server',
  },
  {
    name: 'zls',
    command: ['zls'],
    languages: { '.zig': 'zig' },
    roots: ['build.zig'],
    probe: VERSION,
    install: 'brew install zls',
  },
  {
    name: 'elixir-ls',
    command: ['elixir-ls'],
    languages: { '.ex': 'elixir', '.exs': 'elixir' },
    roots: ['mix.exs'],
    install: 'brew install elixir-ls',
  },
  {
    name: 'haskell-language-server',
    command: ['haskell-language-server-wrapper', '--lsp'],
    languages: { '.hs': 'haskell' },
    roots: ['hie.yaml', 'cabal.project', 'stack.yaml'],
    probe: VERSION,
    install: 'ghcup install hls',
  },
  {
    name: 'bash-language-server',
    command: ['bash-language-server', 'start'],
    languages: { '.sh': 'shellscript', '.bash': 'shellscript' },
    roots: [],
    probe: VERSION,
    install: 'npm install --global bash-language-server',
  },
];
