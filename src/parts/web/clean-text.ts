// Text from outside without what a person would not see: escape sequences, controls, bidirectional marks, invisible
// letters. A page can speak to a model with these, and a terminal obeys some of them.

// CSI, OSC and the other string sequences, and the two-letter ones (ECMA-48).
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -\/]*[@-~]`,
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?`,
    String.raw`\x1b[ -\/]*[0-~]`,
  ].join('|'),
  'g',
);

/** Zero-width joiners stand inside words of some scripts and inside emoji; anywhere else they only hide something. */
const JOINERS =
  /(?<![\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Gujarati}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]+/gu;

const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u115f\u1160\u3164\uffa0\u{e0100}-\u{e01ef}]--[\t\n\u200c\u200d\u{600}-\u{605}]]/gv;

export function cleanText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(ESCAPES, '')
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(JOINERS, '')
    .replace(UNSEEN, '')
    .replace(/[\p{Zs}--[ ]]/gv, ' ');
}

/** At most `limit` characters of it, without line ends. */
export function oneLine(text: string, limit: number): string {
  return cleanText(text).replace(/\s+/g, ' ').trim().slice(0, limit).toWellFormed();
}
