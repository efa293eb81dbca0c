/**
 * Protocol buffers of the external signer (v1.ExternalJWTSigner), by field number.
 *
 * 1. Unknown fields are skipped, so that newer signers can send more. Truncated bytes throw.
 */
export interface Codec<T> {
  encode(message: T): Buffer;
  decode(bytes: Buffer): T;
}

export interface SignResponse {
  /** The first and the last part of the JWT, in base64url. */
  readonly header: string;
  readonly signature: string;
}

export interface SignerKey {
  readonly id: string;
  /** The public key, as SubjectPublicKeyInfo in DER. */
  readonly der: Buffer;
  readonly excludeFromOidcDiscovery: boolean;
}

export interface KeysResponse {
  readonly keys: readonly SignerKey[];
  /** Seconds since 1970; undefined if the signer does not say. */
  readonly dataTimestamp: number | undefined;
  readonly refreshHintSeconds: number;
}

const VARINT = 0;
const LENGTH = 2;
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

export const nothing: Codec<object> = { encode: () => Buffer.alloc(0), decode: () => ({}) };

export const signRequest: Codec<{ readonly claims: string }> = {
  encode: ({ claims }) => text(1, claims),
  decode: (bytes) => ({ claims: fieldsOf(bytes).text(1) }),
};

export const signResponse: Codec<SignResponse> = {
  encode: ({ header, signature }) => Buffer.concat([text(1, header), text(2, signature)]),
  decode: (bytes) => {
    const fields = fieldsOf(bytes);
    return { header: fields.text(1), signature: fields.text(2) };
  },
};

const key: Codec<SignerKey> = {
  encode: ({ id, der, excludeFromOidcDiscovery: excluded }) =>
    Buffer.concat([text(1, id), block(2, der), number(3, excluded ? 1 : 0)]),
  decode: (bytes) => {
    const fields = fieldsOf(bytes);
    return {
      id: fields.text(1),
      der: fields.blocks(2).at(-1) ?? Buffer.alloc(0),
      excludeFromOidcDiscovery: fields.number(3) !== 0,
    };
  },
};

export const keysResponse: Codec<KeysResponse> = {
  encode: ({ keys, dataTimestamp, refreshHintSeconds }) =>
    Buffer.concat([
      ...keys.map((each) => block(1, key.encode(each), true)),
      ...(dataTimestamp === undefined ? [] : [block(2, number(1, dataTimestamp), true)]),
      number(3, refreshHintSeconds),
    ]),
  decode: (bytes) => {
    const fields = fieldsOf(bytes);
    const [timestamp] = fields.blocks(2);
    return {
      keys: fields.blocks(1).map(key.decode),
      dataTimestamp: timestamp === undefined ? undefined : fieldsOf(timestamp).number(1),
      refreshHintSeconds: fields.number(3),
    };
  },
};

export const metadataResponse: Codec<{ readonly maxTokenExpirationSeconds: number }> = {
  encode: ({ maxTokenExpirationSeconds }) => number(1, maxTokenExpirationSeconds),
  decode: (bytes) => ({ maxTokenExpirationSeconds: fieldsOf(bytes).number(1) }),
};

function text(field: number, value: string): Buffer {
  return block(field, Buffer.from(value));
}

function block(field: number, bytes: Buffer, evenIfEmpty = false): Buffer {
  if (bytes.length === 0 && !evenIfEmpty) return Buffer.alloc(0);
  return Buffer.concat([varint(field * 8 + LENGTH), varint(bytes.length), bytes]);
}

function number(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8 + VARINT), varint(value)]);
}

/** Negative numbers have ten bytes: 64 bits of two's complement. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}

interface Fields {
  text(field: number): string;
  blocks(field: number): readonly Buffer[];
  /** 0 if it is absent. */
  number(field: number): number;
}

function fieldsOf(bytes: Buffer): Fields {
  const blocks = new Map<number, Buffer[]>();
  const numbers = new Map<number, number>();
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new Error("unexpected EOF");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(next());
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === VARINT) {
      numbers.set(field, Number(BigInt.asIntN(64, next())));
      continue;
    }
    const size = wire === LENGTH ? Number(next()) : SIZES[wire];
    if (size === undefined || at + size > bytes.length) throw new Error("unexpected EOF");
    if (wire === LENGTH) blocks.set(field, [...(blocks.get(field) ?? []), bytes.subarray(at, at + size)]);
    at += size;
  }
  return {
    text: (field) => blocks.get(field)?.at(-1)?.toString("utf8") ?? "",
    blocks: (field) => blocks.get(field) ?? [],
    number: (field) => numbers.get(field) ?? 0,
  };
}
