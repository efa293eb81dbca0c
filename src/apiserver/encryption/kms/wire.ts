/**
 * Protocol buffers of the key management service (KMS v2) and of stored values, as tables of field numbers.
 *
 * 1. Unknown fields are skipped, so that newer plugins can send more.
 * 2. Truncated or invalid bytes throw: stored values may have been changed.
 */
type FieldType = "string" | "bytes" | "map" | "enum";
type ValueOf<T extends FieldType> = T extends "string"
  ? string
  : T extends "bytes"
    ? Buffer
    : T extends "map"
      ? ReadonlyMap<string, Buffer>
      : number;
type Fields = Readonly<Record<string, readonly [number: number, type: FieldType]>>;
export type Message<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K][1]> };

export interface Codec<T> {
  encode(message: T): Buffer;
  decode(bytes: Buffer): T;
}

const VARINT = 0;
const LENGTH = 2;
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

function codec<F extends Fields>(fields: F): Codec<Message<F>> {
  return {
    encode: (message) =>
      Buffer.concat(Object.entries(fields).flatMap(([name, [number, type]]) => encoded(number, type, message[name]))),
    decode: (bytes) => {
      const byNumber = new Map(Object.entries(fields).map(([name, [number, type]]) => [number, { name, type }]));
      const message: Record<string, unknown> = Object.fromEntries(
        Object.entries(fields).map(([name, [, type]]) => [name, empty(type)]),
      );
      for (const { number, wire, value, bytes: content } of parts(bytes)) {
        const field = byNumber.get(number);
        if (field === undefined) continue;
        if (wire !== (field.type === "enum" ? VARINT : LENGTH)) throw new Error(`field ${number} has another type`);
        if (field.type === "enum") message[field.name] = value;
        else if (field.type === "string") message[field.name] = content.toString("utf8");
        else if (field.type === "bytes") message[field.name] = content;
        else {
          const { key, value: of } = mapEntry.decode(content);
          (message[field.name] as Map<string, Buffer>).set(key, of);
        }
      }
      return message as Message<F>;
    },
  };
}

function empty(type: FieldType): unknown {
  if (type === "map") return new Map();
  return type === "enum" ? 0 : type === "string" ? "" : Buffer.alloc(0);
}

function encoded(number: number, type: FieldType, value: unknown): readonly Buffer[] {
  if (type === "enum") return value === 0 ? [] : [varint((number << 3) | VARINT), varint(value as number)];
  if (type === "map") {
    return [...(value as ReadonlyMap<string, Buffer>)].flatMap(([key, of]) =>
      lengthPrefixed(number, mapEntry.encode({ key, value: of })),
    );
  }
  const bytes = type === "string" ? Buffer.from(value as string) : (value as Buffer);
  return bytes.length === 0 ? [] : lengthPrefixed(number, bytes);
}

function lengthPrefixed(number: number, bytes: Buffer): readonly Buffer[] {
  return [varint((number << 3) | LENGTH), varint(bytes.length), bytes];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}

interface Part {
  readonly number: number;
  readonly wire: number;
  readonly value: number;
  readonly bytes: Buffer;
}

function* parts(bytes: Buffer): Generator<Part> {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || factor > 128 ** 7) throw new Error("unexpected EOF");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    const wire = tag % 8;
    const value = wire === VARINT ? number() : 0;
    const size = wire === VARINT ? 0 : wire === LENGTH ? number() : SIZES[wire];
    if (size === undefined || at + size > bytes.length) throw new Error("unexpected EOF");
    yield { number: Math.floor(tag / 8), wire, value, bytes: bytes.subarray(at, at + size) };
    at += size;
  }
}

const mapEntry = codec({ key: [1, "string"], value: [2, "bytes"] });

export const statusRequest = codec({});
export const statusResponse = codec({ version: [1, "string"], healthz: [2, "string"], keyId: [3, "string"] });
export const encryptRequest = codec({ plaintext: [1, "bytes"], uid: [2, "string"] });
export const encryptResponse = codec({ ciphertext: [1, "bytes"], keyId: [2, "string"], annotations: [3, "map"] });
export const decryptRequest = codec({
  ciphertext: [1, "bytes"],
  uid: [2, "string"],
  keyId: [3, "string"],
  annotations: [4, "map"],
});
export const decryptResponse = codec({ plaintext: [1, "bytes"] });

/** A value behind its prefix: the data, and the seed of its key as the plugin encrypted it. */
export const encryptedObject = codec({
  encryptedData: [1, "bytes"],
  keyId: [2, "string"],
  encryptedDekSource: [3, "bytes"],
  annotations: [4, "map"],
  encryptedDekSourceType: [5, "enum"],
});
export type EncryptedObject = ReturnType<(typeof encryptedObject)["decode"]>;

export const DEK = 0;
export const DEK_SEED = 1;
