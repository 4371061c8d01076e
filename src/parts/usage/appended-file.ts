// A file that several processes append whole lines to. It stays open between writes, because opening costs more than
// writing; the descriptor ends with the process.

import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../core/errors.ts';

export class AppendedFile {
  #open: { readonly path: string; readonly fd: number } | undefined;

  /** One write. Makes the folder and the file, for their owner alone. Throws the errors of `fs`. */
  append(path: string, lines: string): void {
    const { fd, isNew } = this.#at(path);
    // Whoever died in the middle of a line must not take ours with it.
    const bytes = Buffer.from(isNew && endsTorn(fd) ? `\n${lines}` : lines);
    try {
      const written = writeSync(fd, bytes);
      if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes fit on the disk`);
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  #at(path: string): { readonly fd: number; readonly isNew: boolean } {
    // Without a name left, what is written there is lost.
    if (this.#open?.path === path && fstatSync(this.#open.fd).nlink > 0)
      return { fd: this.#open.fd, isNew: false };
    this.#close();
    this.#open = { path, fd: openToAppend(path) };
    return { fd: this.#open.fd, isNew: true };
  }

  #close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }
}

function openToAppend(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    return openSync(path, 'a+', 0o600);
  }
}

/** Not Node's own `recursive`, which never ends below folders such as `/proc`. Another process may make them first. */
function makeFolder(path: string): void {
  if (isMade(path) || dirname(path) === path) return;
  makeFolder(dirname(path));
  isMade(path);
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path, 0o700);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'EEXIST' && code !== 'ENOENT') throw error;
    return code === 'EEXIST';
  }
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}
