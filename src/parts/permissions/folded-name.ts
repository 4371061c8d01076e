// A name as the most forgiving file system reads it: case, trailing dots and blanks, streams and letters that cannot be
// seen make no difference to Windows or to macOS, so a name that only differs in these is taken for the same one, as
// git does with `core.protectNTFS` and `core.protectHFS`.

const PLAIN = /^[!-9;-~]*[!-\-/-9;-~]$/;

/** Of one component of a path. */
export function foldedName(component: string): string {
  if (PLAIN.test(component) && !component.includes('~')) return component.toLowerCase();
  const folded = component
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
  return folded === 'git~1' ? '.git' : folded;
}
