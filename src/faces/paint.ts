// Six styles as SGR sequences (ECMA-48, 8.3.117), or nothing where colours are not wanted.

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const ESCAPE = String.fromCharCode(0x1b);

function style(on: number, off: number): (text: string) => string {
  return (text) => (text === '' ? '' : `${ESCAPE}[${on}m${text}${ESCAPE}[${off}m`);
}

const same = (text: string): string => text;

const PLAIN: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

const COLOURED: Paint = {
  bold: style(1, 22),
  dim: style(2, 22),
  red: style(31, 39),
  green: style(32, 39),
  yellow: style(33, 39),
  cyan: style(36, 39),
};

export function paintFor(colour: boolean): Paint {
  return colour ? COLOURED : PLAIN;
}
