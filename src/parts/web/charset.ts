// Bytes of a page as text. Which encoding they are in is told, in this order, by a byte order mark, the server, the page
// itself (its first 1024 bytes, as HTML has it), and by whether they are valid UTF-8. What says nothing and is not UTF-8 is
// windows-1252, as in browsers.

const PRESCAN_BYTES = 1024;

export function decodeBody(bytes: Uint8Array, contentType: string): string {
  const named = fromMark(bytes) ?? labelIn(contentType) ?? fromPage(bytes, contentType);
  const decoder = named === undefined ? undefined : decoderFor(named);
  if (decoder !== undefined) return decoder.decode(bytes);
  const text = new TextDecoder('utf-8').decode(bytes);
  return isDamaged(text) ? new TextDecoder('windows-1252').decode(bytes) : text;
}

function fromMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return undefined;
}

function labelIn(text: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(text)?.[1]?.toLowerCase();
}

/** `<meta charset>`, `<meta http-equiv>` and the declaration of XML. A page that is read as ASCII is no UTF-16. */
function fromPage(bytes: Uint8Array, contentType: string): string | undefined {
  if (!/html|xml/i.test(contentType)) return undefined;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PRESCAN_BYTES)).toString(
    'latin1',
  );
  const meta = /<meta\b[^>]*?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i.exec(head)?.[1];
  const label = meta ?? /^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head)?.[1];
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

/** More than the odd wrong letter. */
function isDamaged(text: string): boolean {
  let wrong = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1))
    if (++wrong > 2) return true;
  return wrong > 0 && wrong * 200 > text.length;
}
