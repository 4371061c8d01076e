// Files that a command line attaches to its prompt: images and PDF documents, known by their first bytes.

import { promises as fs } from 'node:fs';
import { basename, resolve } from 'node:path';
import { CrabError } from '../core/errors.ts';
import type { DocumentContent, ImageContent } from '../core/message.ts';
import { imageKind, nameBinary } from '../parts/files/content-kind.ts';
import { fileFailure } from '../parts/files/file-failure.ts';

export type Attachment = ImageContent | DocumentContent;

/** What the strictest provider takes. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** In base64 it is a third more, and a request may have 32 MB. */
const MAX_DOCUMENT_BYTES = 20 * 1024 * 1024;

/** Throws `CrabError usage`. */
export async function readAttachments(paths: readonly string[]): Promise<readonly Attachment[]> {
  const attachments: Attachment[] = [];
  for (const path of paths) attachments.push(await attachment(resolve(path)));
  return attachments;
}

async function attachment(path: string): Promise<Attachment> {
  const bytes = await bytesOf(path);
  const data = () => bytes.toString('base64');
  const mimeType = imageKind(bytes);
  if (mimeType !== undefined) {
    limit(path, bytes, MAX_IMAGE_BYTES);
    return { type: 'image', data: data(), mimeType };
  }
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-')
    return { type: 'document', data: data(), mimeType: 'application/pdf', name: basename(path) };
  const text = bytes.length > 0 && !bytes.includes(0);
  throw new CrabError('usage', `--attach: ${path} is ${text ? 'no image and no PDF' : nameBinary(bytes)}.`, {
    hint: text
      ? 'Name the file in the prompt, or send it on standard input.'
      : 'Attach a PNG, JPEG, GIF or WebP image, or a PDF document.',
  });
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    const info = await fs.stat(path);
    if (!info.isFile()) throw new CrabError('usage', `--attach: ${path} is no regular file.`);
    if (info.size > MAX_DOCUMENT_BYTES) throw tooLarge(path, info.size, MAX_DOCUMENT_BYTES);
    return await fs.readFile(path);
  } catch (cause) {
    if (cause instanceof CrabError) throw cause;
    const failure = await fileFailure(cause, 'read', path);
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new CrabError('usage', `--attach: ${reason}`, { cause });
  }
}

function limit(path: string, { length }: Buffer, most: number): void {
  if (length > most) throw tooLarge(path, length, most);
}

function tooLarge(path: string, size: number, most: number): CrabError {
  return new CrabError('usage', `--attach: ${path} has ${size} bytes; at most ${most} can be sent.`, {
    hint: 'Make it smaller first.',
  });
}
