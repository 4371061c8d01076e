// What bytes are, by their first ones and never by the name of the file. The signatures are those of the formats'
// own specifications; names are for a person, so that a refusal says what was found.

export const IMAGE_KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** A MIME type that models accept as an image, or undefined. */
export function imageKind(bytes: Uint8Array): (typeof IMAGE_KINDS)[number] | undefined {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith(bytes, '\xff\xd8\xff')) return 'image/jpeg';
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'image/gif';
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)) return 'image/webp';
  return undefined;
}

/** Readers find the signature within the first 1,024 bytes (ISO 32000-1, annex H); a text that only speaks of it has none there. */
export function isPdf(bytes: Uint8Array): boolean {
  return startsWith(bytes, '%PDF-') || startsWith(bytes, '\xef\xbb\xbf%PDF-');
}

/** Signatures that no text begins with. */
const BINARY_SIGNATURES: readonly (readonly [name: string, signature: string, offset?: number])[] = [
  ['a PDF document', '%PDF-'],
  ['an ELF program', '\x7fELF'],
  ['a zip archive (or a document made of one, such as docx or jar)', 'PK\x03\x04'],
  ['a gzip archive', '\x1f\x8b'],
  ['an xz archive', '\xfd7zXZ\0'],
  ['a zstd archive', '\x28\xb5\x2f\xfd'],
  ['a 7z archive', "7z\xbc\xaf'\x1c"],
  ['an SQLite database', 'SQLite format 3\0'],
  ['a WebAssembly module', '\0asm'],
  ['a Java class', '\xca\xfe\xba\xbe'],
  ['a Mach-O program', '\xcf\xfa\xed\xfe'],
  ['an Ogg file', 'OggS\0'],
  ['an MP4 file', 'ftyp', 4],
  ['a TIFF image', 'II*\0'],
  ['an icon', '\0\0\x01\0'],
];

/** Signatures that a text might begin with: they name what is known to be binary. */
const NAMING_SIGNATURES: typeof BINARY_SIGNATURES = [
  ['a Windows program', 'MZ'],
  ['a bzip2 archive', 'BZh'],
  ['a BMP image', 'BM'],
  ['a tar archive', 'ustar', 257],
  ['an MP3 file', 'ID3'],
  ['a WAV file', 'RIFF'],
  ['a TrueType font', '\0\x01\0\0'],
  ['a WOFF2 font', 'wOF2'],
];

/** What the bytes are, with an article, when their beginning alone says that they are no text. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  return find(bytes, BINARY_SIGNATURES);
}

/** A name for bytes that are known not to be text. */
export function nameBinary(bytes: Uint8Array): string {
  return binaryKind(bytes) ?? find(bytes, NAMING_SIGNATURES) ?? 'a binary file';
}

function find(bytes: Uint8Array, signatures: typeof BINARY_SIGNATURES): string | undefined {
  return signatures.find(([, signature, offset]) => startsWith(bytes, signature, offset))?.[0];
}

function startsWith(bytes: Uint8Array, signature: string, offset = 0): boolean {
  if (bytes.length < offset + signature.length) return false;
  for (let at = 0; at < signature.length; at++)
    if (bytes[offset + at] !== signature.charCodeAt(at)) return false;
  return true;
}
