/** The head of a CBOR data item (RFC 8949, section 3), and what is wrong with bytes that are none. */

export const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

/** Tag 55799, without a meaning of its own: the bytes by which CBOR is recognized. */
export const SELF_DESCRIBED: readonly [number, number, number] = [0xd9, 0xd9, 0xf7];

export const TAG = {
  timeText: 0,
  timeNumber: 1,
  bignum: 2,
  negativeBignum: 3,
  base64Url: 21,
  base64: 22,
  hex: 23,
} as const;

/** Of each major type, in the messages of Kubernetes. */
export const TYPE_NAMES = [
  "positive integer",
  "negative integer",
  "byte string",
  "UTF-8 text string",
  "array",
  "map",
  "tag",
  "primitives",
] as const;

export class CborError extends Error {
  override readonly name = "CborError";
  /** False: well-formed, but not what Kubernetes accepts. */
  readonly isMalformed: boolean;

  constructor(message: string, isMalformed = true) {
    super(message);
    this.isMalformed = isMalformed;
  }
}

export function isSelfDescribed(bytes: Uint8Array): boolean {
  return SELF_DESCRIBED.every((byte, i) => bytes[i] === byte);
}
