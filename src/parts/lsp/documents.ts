// The files that a server has been told the text of. Before each question its file is compared with the disk, so that
// what any tool, program or person has changed meanwhile is known to the server; the oldest are closed again.

import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { Connection } from './connection.ts';
import { uriOf } from './protocol.ts';

/** Bytes of a file: what is larger was made by a program, and a server would take minutes for it. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

const MAX_OPEN = 32;

export interface OpenDocument {
  readonly path: string;
  readonly uri: string;
  readonly languageId: string;
  readonly version: number;
  readonly text: string;
  /** The server does not know this text. */
  readonly isNews: boolean;
}

export class Documents {
  /** By path, the one that was used longest ago first. */
  readonly #open = new Map<string, OpenDocument>();

  /** A file with the text that it has on disk; `again`: told once more, though the server knows it. */
  next(path: string, languageId: string, text: string, again = false): OpenDocument {
    const known = this.#open.get(path);
    const isNews = again || known?.text !== text;
    const version = (known?.version ?? 0) + (isNews ? 1 : 0);
    return { path, uri: uriOf(path), languageId, version, text, isNews };
  }

  /** From here on the server knows it. */
  tell(connection: Pick<Connection, 'notify'>, document: OpenDocument): void {
    const { path, uri, languageId, version, text, isNews } = document;
    if (!this.#open.has(path))
      connection.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
    else if (isNews)
      connection.notify('textDocument/didChange', {
        textDocument: { uri, version },
        // Without a range it is the whole text, which every kind of synchronisation allows.
        contentChanges: [{ text }],
      });
    this.#open.delete(path);
    this.#open.set(path, document);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.close(connection, oldest);
  }

  /** From here on the server reads the disk for it. */
  close(connection: Pick<Connection, 'notify'>, path: string): void {
    if (!this.#open.delete(path)) return;
    connection.notify('textDocument/didClose', { textDocument: { uri: uriOf(path) } });
  }

  /** Those whose text the server takes from us and not from the disk. */
  paths(): readonly string[] {
    return [...this.#open.keys()];
  }
}

export async function readText(path: string, files: Files): Promise<string> {
  const info = await files.info(path);
  if (info === undefined) throw new ToolFailure(`${path} does not exist.`);
  if (info.kind !== 'file') throw new ToolFailure(`${path} is no file.`);
  if (info.size > MAX_FILE_BYTES)
    throw new ToolFailure(
      `${path} has ${info.size} bytes; language servers are given files up to ${MAX_FILE_BYTES}.`,
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await files.read(path));
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`${path} is not UTF-8 text.`, { cause: error });
  }
}
