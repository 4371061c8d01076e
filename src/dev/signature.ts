// Signatures of scripted thinking. They are bound to the text, as a real provider's are, so that a client
// that changes thinking or mixes signatures up is caught when it sends them back.

const PREFIX = 'fake-signature-';

export function signatureOf(thinking: string): string {
  return PREFIX + fnv1a(thinking).toString(16).padStart(8, '0');
}

/** Signatures of other providers cannot be judged and pass. */
export function isForged(thinking: string, signature: string): boolean {
  return signature.startsWith(PREFIX) && signature !== signatureOf(thinking);
}

/** Whether it is one of ours that did not come back whole, where what it belongs to may have changed. */
export function isDamaged(signature: string): boolean {
  return signature.startsWith(PREFIX) && !/^[0-9a-f]{8}$/.test(signature.slice(PREFIX.length));
}

/** FNV-1a, 32 bits (draft-eastlake-fnv), over UTF-16 code units. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
