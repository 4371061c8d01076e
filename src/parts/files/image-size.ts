// Width and height of an image from its own header, and whether it is all there. A provider refuses a damaged image, and
// with it every later request whose history holds it; so nothing is shown that is not whole. Formats: PNG (ISO 15948),
// JPEG (ITU T.81), GIF89a, WebP (RFC 9649).

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Undefined where the image is cut short or no header is found. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = view[0] === 0x89 ? png(view) : view[0] === 0xff ? jpeg(view) : gifOrWebp(view);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // Reading beyond the end: the header is cut.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function png(view: Buffer): ImageSize | undefined {
  if (view.toString('latin1', 12, 16) !== 'IHDR' || !view.includes('IEND', -64, 'latin1')) return undefined;
  return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
}

function jpeg(view: Buffer): ImageSize | undefined {
  // Some cameras append data of their own behind the end of the image.
  if (view.lastIndexOf(Buffer.from([0xff, 0xd9])) === -1) return undefined;
  for (let at = 2; at + 9 < view.length; ) {
    if (view[at] !== 0xff) return undefined;
    const marker = view[at + 1] ?? 0;
    if (marker === 0xff) at++;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else if (isFrame(marker)) return { height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) };
    else at += 2 + view.readUInt16BE(at + 2);
  }
  return undefined;
}

/** A start of frame; 0xc4, 0xc8 and 0xcc are tables and reserved. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function gifOrWebp(view: Buffer): ImageSize | undefined {
  if (view.toString('latin1', 0, 3) === 'GIF') {
    const isWhole = view.lastIndexOf(0x3b) > 10;
    return isWhole ? { width: view.readUInt16LE(6), height: view.readUInt16LE(8) } : undefined;
  }
  if (view.length < view.readUInt32LE(4) + 8) return undefined;
  switch (view.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = view.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}
