// An image as the model sees it. It is never made smaller here, which would take a decoder for each format: one that
// providers would refuse is refused with what to do about it.

import { ToolFailure } from '../../core/errors.ts';
import type { ImageContent } from '../../core/message.ts';
import type { ToolOutput } from '../../core/tool.ts';
import { imageSize } from './image-size.ts';
import { byteCount } from './read-record.ts';

/** Providers count the 5 MB that they allow in Base64. */
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;

/** Pixels of the longer side. */
const MAX_SIDE = 8000;

/** @param bytes all of the file, or more of it than can be shown; `size`: how many there are in all */
export function showImage(
  path: string,
  bytes: Uint8Array,
  size: number,
  mimeType: ImageContent['mimeType'],
): ToolOutput {
  const refuse = (reason: string) => new ToolFailure(`Cannot show ${path}: ${reason}`);
  if (size > MAX_IMAGE_BYTES)
    throw refuse(
      `an image of ${byteCount(size)}, where at most ${byteCount(MAX_IMAGE_BYTES)} can be shown; make it smaller first, for example with \`convert IN -resize 1568x1568 OUT\`.`,
    );
  const sides = imageSize(bytes);
  if (sides === undefined) throw refuse(`the ${mimeType} image is damaged or cut short.`);
  const { width, height } = sides;
  if (Math.max(width, height) > MAX_SIDE)
    throw refuse(
      `the image has ${width} × ${height} pixels, where at most ${MAX_SIDE} a side can be shown; make it smaller first, for example with \`convert IN -resize 1568x1568 OUT\`.`,
    );
  return {
    content: [
      { type: 'text', text: `[${mimeType}, ${width} × ${height} pixels, ${byteCount(size)}]` },
      { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType },
    ],
    isError: false,
    display: { kind: 'image', mimeType, path },
  };
}
