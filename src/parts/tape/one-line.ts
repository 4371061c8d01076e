// Texts of a session in a line: what stands in a list, and what the session is called.

/** The beginning of a text. Controls are taken out: a terminal would obey them. */
export function oneLine(text: string, most: number): string {
  return shortened(text.slice(0, most * 4).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' '), most);
}

/** Every later line of the file repeats it, and people type it. */
const NAME_LENGTH = 100;

/** What a session is called, of whatever somebody, or another program, has called it. It is shown like any foreign text. */
export function sessionName(given: string): string {
  return shortened(given.slice(0, NAME_LENGTH * 4).replace(/\s+/gu, ' '), NAME_LENGTH);
}

function shortened(text: string, most: number): string {
  const letters = Array.from(text.trim());
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
}
