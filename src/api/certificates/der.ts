/** Reads DER (ITU-T X.690), as certificates and keys are written in it. Never reads past the given bytes. */

export interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The elements that stand one after the other. Undefined: the bytes are not DER. */
export function elementsOf(bytes: Uint8Array): readonly Element[] | undefined {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const head = headAt(bytes, at);
    if (head === undefined) return undefined;
    found.push({ tag: head.tag, content: bytes.subarray(head.start, head.end) });
    at = head.end;
  }
  return found;
}

/** The elements inside the only element, which has this tag. */
export function inside(bytes: Uint8Array, tag: number): readonly Element[] | undefined {
  const [only, ...others] = elementsOf(bytes) ?? [];
  return only?.tag === tag && others.length === 0 ? elementsOf(only.content) : undefined;
}

/** The content of an object identifier as its dotted form. */
export function oidOf(content: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    if (arcs.length === 0) arcs.push(Math.min(Math.floor(arc / 40), 2), arc - Math.min(Math.floor(arc / 40), 2) * 40);
    else arcs.push(arc);
    arc = 0;
  }
  return arcs.join(".");
}

function headAt(bytes: Uint8Array, at: number): { tag: number; start: number; end: number } | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined || first === 0x80) return undefined;
  const lengthBytes = first > 0x80 ? first & 0x7f : 0;
  if (lengthBytes > 4) return undefined;
  const start = at + 2 + lengthBytes;
  let size = lengthBytes === 0 ? first : 0;
  for (const byte of bytes.subarray(at + 2, start)) size = size * 256 + byte;
  return start + size > bytes.length ? undefined : { tag, start, end: start + size };
}
