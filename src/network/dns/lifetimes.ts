/** Where the times to live stand in an answer, so that a kept one can be handed out again with what is left of them. */

export interface Lifetimes {
  /** Of their bytes in the message. */
  readonly offsets: readonly number[];
  /** The shortest of them. */
  readonly seconds: number;
}

const SOA = 6;
const OPT = 41;

/** Undefined for what cannot be read to its end. */
export function lifetimesOf(message: Buffer): Lifetimes | undefined {
  let at: number | undefined = 12;
  for (let left = message.readUInt16BE(4); left > 0; left--) {
    at = afterName(message, at);
    if (at === undefined) return undefined;
    at += 4;
  }
  const offsets: number[] = [];
  let seconds = Number.POSITIVE_INFINITY;
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  for (let left = records; left > 0; left--) {
    at = afterName(message, at);
    if (at === undefined || at + 10 > message.length) return undefined;
    const type = message.readUInt16BE(at);
    const end: number = at + 10 + message.readUInt16BE(at + 8);
    if (end > message.length) return undefined;
    if (type !== OPT) {
      offsets.push(at + 4);
      seconds = Math.min(seconds, message.readUInt32BE(at + 4));
      // What is missing may be remembered for as long as the zone says (RFC 2308).
      if (type === SOA && end - 4 >= at + 10) seconds = Math.min(seconds, message.readUInt32BE(end - 4));
    }
    at = end;
  }
  return { offsets, seconds: Number.isFinite(seconds) ? seconds : 0 };
}

/** A copy with this id and so much less time to live. */
export function aged(message: Buffer, { offsets }: Lifetimes, id: number, bySeconds: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt16BE(id, 0);
  for (const offset of offsets) copy.writeUInt32BE(Math.max(0, message.readUInt32BE(offset) - bySeconds), offset);
  return copy;
}

function afterName(message: Buffer, start: number): number | undefined {
  for (let at = start; at < message.length; ) {
    const length = message[at] ?? 0;
    if (length === 0) return at + 1;
    if ((length & 0xc0) === 0xc0) return at + 2;
    if (length > 63) return undefined;
    at += 1 + length;
  }
  return undefined;
}
