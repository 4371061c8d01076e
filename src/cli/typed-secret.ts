// A secret that is typed or pasted at a terminal: nothing of it is shown, and nothing of it is kept by a line editor.

import { CrabError } from '../core/errors.ts';

/** The line without its end. Throws `interrupted` for Ctrl-C and Ctrl-D, or when the signal aborts. */
export function typedSecret(
  prompt: string,
  signal: AbortSignal,
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'> = process,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const leave = (settle: () => void) => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onEnd = () => leave(() => reject(given()));
    const onAbort = () => leave(() => reject(signal.reason));
    const onData = (data: string) => {
      for (const letter of withoutSequences(data)) {
        if (letter === '\r' || letter === '\n') return leave(() => resolve(text));
        if (letter === '\u0003' || (letter === '\u0004' && text === '')) return onEnd();
        if (letter === '\u0015') text = '';
        else if (letter === '\u007f' || letter === '\b') text = text.slice(0, -1);
        else if (letter >= ' ') text += letter;
      }
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stdin.setRawMode(true);
    stdin.setEncoding('utf8').on('data', onData).on('end', onEnd).resume();
    // Behind raw mode, in which the terminal no longer shows what is typed.
    stderr.write(prompt);
  });
}

/** Keys such as arrows, and the marks of bracketed paste, arrive as sequences that begin with ESC. */
function withoutSequences(data: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC is what such a sequence begins with
  return data.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O?[@-~])/g, '');
}

function given(): CrabError {
  return new CrabError('interrupted', 'No key was given.', {
    hint: 'Start again, or send it on standard input.',
  });
}
