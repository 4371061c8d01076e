// What files of a language are called, for searches of one type. The names are those of ripgrep's own table (crates/ignore,
// default_types.rs) for the languages that are asked for; it is ours so that both ways of searching mean the same by a type.

import { ToolFailure } from '../../core/errors.ts';

const TYPES: Readonly<Record<string, string>> = {
  c: '*.[chH] *.cats',
  cpp: '*.[ChH] *.cc *.[ch]pp *.[ch]xx *.hh *.inl *.c++ *.h++',
  csharp: '*.cs',
  clojure: '*.clj *.cljc *.cljs *.cljx',
  cmake: '*.cmake CMakeLists.txt',
  css: '*.css *.scss',
  csv: '*.csv',
  dart: '*.dart',
  docker: '*Dockerfile*',
  elixir: '*.ex *.eex *.exs *.heex *.leex',
  elm: '*.elm',
  erlang: '*.erl *.hrl',
  go: '*.go',
  gradle: '*.gradle *.gradle.kts gradle.properties',
  graphql: '*.graphql *.graphqls',
  haskell: '*.hs *.lhs',
  html: '*.htm *.html *.ejs',
  java: '*.java *.jsp *.jspx *.properties',
  js: '*.js *.jsx *.vue *.cjs *.mjs',
  json: '*.json composer.lock *.sarif',
  julia: '*.jl',
  jupyter: '*.ipynb *.jpynb',
  kotlin: '*.kt *.kts',
  less: '*.less',
  lua: '*.lua',
  make: '[Gg][Nn][Uu]makefile [Mm]akefile *.mk *.mak',
  markdown: '*.markdown *.md *.mdown *.mdwn *.mkd *.mkdn *.mdx',
  nix: '*.nix',
  objc: '*.h *.m',
  ocaml: '*.ml *.mli *.mll *.mly',
  perl: '*.perl *.pl *.PL *.plh *.plx *.pm *.t',
  php: '*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml',
  protobuf: '*.proto',
  ps: '*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1',
  py: '*.py *.pyi',
  r: '*.R *.r *.Rmd *.rmd *.Rnw *.rnw',
  rst: '*.rst',
  ruby: 'config.ru Gemfile .irbrc Rakefile *.gemspec *.rb *.rbw *.rake',
  rust: '*.rs',
  sass: '*.sass *.scss',
  scala: '*.scala *.sbt',
  sh: '*.bash *.sh *.zsh *.csh *.ksh *.tcsh .bashrc .bash_profile .profile .zshrc',
  sql: '*.sql *.psql',
  svelte: '*.svelte *.svelte.ts',
  svg: '*.svg',
  swift: '*.swift',
  tex: '*.tex *.ltx *.cls *.sty *.bib *.dtx *.ins',
  tf: '*.tf *.tf.json *.tfvars *.tfvars.json terraform.rc .terraformrc',
  toml: '*.toml Cargo.lock',
  ts: '*.ts *.tsx *.cts *.mts',
  txt: '*.txt',
  vim: '*.vim .vimrc vimrc .gvimrc gvimrc',
  vue: '*.vue',
  xml: '*.xml *.dtd *.rng *.sch *.xhtml *.xjb *.xml.dist *.xsd *.xsl *.xslt',
  yaml: '*.yaml *.yml',
  zig: '*.zig',
};

const OTHER_NAMES: Readonly<Record<string, string>> = {
  cs: 'csharp',
  dockerfile: 'docker',
  golang: 'go',
  javascript: 'js',
  jsx: 'js',
  kt: 'kotlin',
  md: 'markdown',
  proto: 'protobuf',
  powershell: 'ps',
  python: 'py',
  rb: 'ruby',
  rs: 'rust',
  shell: 'sh',
  bash: 'sh',
  terraform: 'tf',
  tsx: 'ts',
  typescript: 'ts',
  yml: 'yaml',
};

/** Undefined when no type is given. */
export function globsOfType(type: string): readonly string[] | undefined {
  if (type === '') return undefined;
  const asked = type.toLowerCase();
  const name = Object.hasOwn(OTHER_NAMES, asked) ? (OTHER_NAMES[asked] ?? asked) : asked;
  const globs = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (globs !== undefined) return globs.split(' ');
  throw new ToolFailure(
    `${JSON.stringify(type)} is no known type: use glob, such as *.${asked}, or one of ${Object.keys(TYPES).join(', ')}.`,
  );
}
