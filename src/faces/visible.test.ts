import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { visible, visibleLine, visibleStrictly } from './visible.ts';

suite('what is not ours', () => {
  test('control characters become marks; tabs and line ends stay', () => {
    assert.equal(visible('a\u001b[2Jb\u0007\tc\r\nd\re\u0000\u007f\u009bf'), 'a␛[2Jb␇\tc\nd␍e␀␡<U+009B>f');
  });

  test('colours are taken out, since the text is all there without them', () => {
    assert.equal(visible('\u001b[1;31mred\u001b[0m'), 'red');
  });

  test('a text without controls is returned as it is', () => {
    const text = 'ünïcode \u200f עברית 👩‍💻\n';
    assert.equal(visible(text), text);
  });

  test('what turns text around becomes a mark, and what languages are written with stays', () => {
    assert.equal(visible('a\u202eb\u2066c\u2069'), 'a<U+202E>b<U+2066>c<U+2069>');
  });

  test('no control character survives, whichever it is', () => {
    for (let code = 0; code < 0xa0; code++) {
      const shown = visible(`a${String.fromCharCode(code)}b`);
      const isControl = (code < 0x20 || code >= 0x7f) && code !== 0x09 && code !== 0x0a;
      assert.equal(/[\p{Cc}--[\t\n]]/v.test(shown), false, `U+${code.toString(16)}`);
      if (isControl) assert.notEqual(shown, 'ab');
    }
  });

  test('what cannot be seen or reorders text is marked where a person decides', () => {
    const hidden = [
      '\u202e',
      '\u2066',
      '\u200b',
      '\u200d',
      '\u00ad',
      '\ufeff',
      '\u2028',
      '\u3164',
      '\u00a0',
      '\u{e0041}',
      '\ud800',
    ];
    for (const character of hidden) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      assert.equal(visibleStrictly(`a${character}b`), `a<U+${code}>b`);
    }
    assert.equal(visibleStrictly('plain text, 漢字\n\tend'), 'plain text, 漢字\n\tend');
  });

  test('one line, of bounded length', () => {
    assert.equal(visibleLine(' a\nb\tc '), 'a ⏎ b c');
    assert.equal(visibleLine('x'.repeat(300), 10), `${'x'.repeat(9)}…`);
    assert.equal(visibleLine('x'.repeat(1_000_000), 10), `${'x'.repeat(9)}…`);
    assert.equal(visibleLine('x'.repeat(1000), Infinity), 'x'.repeat(1000));
  });
});
