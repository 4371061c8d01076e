// Words as a POSIX shell reads them back.

export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function commandOf(argv: readonly string[]): string {
  return argv.map(quoted).join(' ');
}
