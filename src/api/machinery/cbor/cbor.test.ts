/** Examples of RFC 8949, appendix A, and the rules of Kubernetes' serializer. */
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { Json } from "../json/json.ts";
import { decodeCbor, decodeCborSequence } from "./decode.ts";
import { encodeCbor, encodeCborItem } from "./encode.ts";
import { CborError, isSelfDescribed } from "./item.ts";
import { unknownFieldIndex } from "./unknown-field.ts";

const bytes = (hex: string) => Buffer.from(hex, "hex");
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const secret = typeSchema("io.k8s.api.core.v1.Secret");

const both: readonly [Json, string][] = [
  [0, "00"],
  [1, "01"],
  [10, "0a"],
  [23, "17"],
  [24, "1818"],
  [25, "1819"],
  [100, "1864"],
  [1000, "1903e8"],
  [1_000_000, "1a000f4240"],
  [1_000_000_000_000, "1b000000e8d4a51000"],
  [9_223_372_036_854_775_807n, "1b7fffffffffffffff"],
  [-1, "20"],
  [-10, "29"],
  [-100, "3863"],
  [-1000, "3903e7"],
  [-9_223_372_036_854_775_808n, "3b7fffffffffffffff"],
  [1.1, "fb3ff199999999999a"],
  [1.5, "f93e00"],
  [3.4028234663852886e38, "fa7f7fffff"],
  [1e300, "fb7e37e43c8800759c"],
  [2 ** -24, "f90001"],
  [0.00006103515625, "f90400"],
  [-4.1, "fbc010666666666666"],
  [false, "f4"],
  [true, "f5"],
  [null, "f6"],
  [[], "80"],
  [[1, 2, 3], "83010203"],
  [[1, [2, 3], [4, 5]], "8301820203820405"],
  [{}, "a0"],
  // Texts and keys as byte strings.
  ["", "40"],
  ["a", "4161"],
  ["IETF", "4449455446"],
  ["ü", "42c3bc"],
  ["水", "43e6b0b4"],
  ["\u{10151}", "44f0908591"],
  ["x".repeat(24), `5818${"78".repeat(24)}`],
  [{ a: 1, b: [2, 3] }, "a24161014162820203"],
];

const read: readonly [string, Json][] = [
  ["f90000", 0],
  ["f98000", 0],
  ["f93c00", 1],
  ["f97bff", 65504],
  ["fa47c35000", 100_000],
  ["f9c400", -4],
  ["60", ""],
  ["6449455446", "IETF"],
  ["63e6b0b4", "水"],
  ["a26161016162820203", { a: 1, b: [2, 3] }],
  ["5f42010243030405ff", "\u0001\u0002\u0003\u0004\u0005"],
  ["7f657374726561646d696e67ff", "streaming"],
  ["9fff", []],
  ["9f018202039f0405ffff", [1, [2, 3], [4, 5]]],
  ["bf61610161629f0203ffff", { a: 1, b: [2, 3] }],
  ["d9d9f7a0", {}],
  ["d818456449455446", "dIETF"],
  ["d9d9f7d9d9f700", 0],
  ["d74401020304", "01020304"],
  ["d64401020304", "AQIDBA=="],
  ["d544fffefdfc", "__79_A"],
  ["d68144ffffffff", ["/////w=="]],
  ["c074323031332d30332d32315432303a30343a30305a", "2013-03-21T20:04:00Z"],
  ["c11a514b67b0", "2013-03-21T20:04:00Z"],
  ["c1fb41d452d9ec200000", "2013-03-21T20:04:00.5Z"],
  ["41ff", "\ufffd"],
];

const nestedArrays = (levels: number) => `${"81".repeat(levels)}00`;
const refused: readonly [string, string][] = [
  ["", "EOF"],
  ["18", "unexpected EOF"],
  ["62", "unexpected EOF"],
  ["8201", "unexpected EOF"],
  ["9f01", "unexpected EOF"],
  ["5b7fffffffffffffff00", "unexpected EOF"],
  ["0000", "cbor: 1 bytes of extraneous data starting at index 1"],
  ["1c", "cbor: invalid additional information 28 for type positive integer"],
  ["1f", "cbor: invalid additional information 31 for type positive integer"],
  ["ff", 'cbor: unexpected "break" code'],
  ["5f00ff", "cbor: wrong element type positive integer for indefinite-length byte string"],
  ["7f7f60ffff", "cbor: indefinite-length UTF-8 text string chunk is not definite-length"],
  ["61ff", "cbor: invalid UTF-8 string"],
  ["a2616101616102", 'cbor: found duplicate map key "a" at map element index 1'],
  ["a2616101416102", 'cbor: found duplicate map key "a" at map element index 1'],
  ["a10102", "cbor: cannot unmarshal positive integer into Go value of type string"],
  ["1bffffffffffffffff", "overflows Go's int64"],
  ["3bffffffffffffffff", "overflows Go's int64"],
  ["c249010000000000000000", "is not accepted by protocol: bignum"],
  ["f97e00", "is not accepted by protocol: floating-point NaN"],
  ["fa7f800000", "is not accepted by protocol: floating-point infinity"],
  ["f7", "is not accepted by protocol: simple value 23 is not recognized"],
  ["f0", "is not accepted by protocol: simple value 16 is not recognized"],
  ["f8ff", "is not accepted by protocol: simple value 255 is not recognized"],
  ["f818", "cbor: invalid simple value 24 for type primitives"],
  ["c06161", "for time.Time"],
  ["c16161", "time.Time"],
  [nestedArrays(65), "cbor: exceeded max nested level 64"],
  ["c6".repeat(100_000), "cbor: exceeded max nested level 64"],
  [`990401${"00".repeat(1025)}`, "cbor: exceeded max number of elements 1024 for CBOR array"],
  [`9f${"00".repeat(1025)}ff`, "cbor: exceeded max number of elements 1024 for CBOR array"],
  ["b90401", "cbor: exceeded max number of key-value pairs 1024 for CBOR map"],
];

describe("CBOR", () => {
  it.each(both.map(([value, hex]) => [hex, value] as const))("%s is what is written, and read back", (hex, value) => {
    expect(hexOf(encodeCborItem(value))).toBe(hex);
    expect(decodeCbor(bytes(hex))).toEqual(value);
  });

  it.each(read)("%s is read as %j", (hex, value) => {
    expect(decodeCbor(bytes(hex))).toEqual(value);
  });

  it.each(refused.map(([hex, why]) => ({ hex, why, shown: hex.slice(0, 20) })))("$shown: $why", ({ hex, why }) => {
    expect(() => decodeCbor(bytes(hex))).toThrow(CborError);
    expect(() => decodeCbor(bytes(hex))).toThrow(why);
  });

  it("nests 64 levels, and may hold 1,024 items", () => {
    expect(decodeCbor(bytes(nestedArrays(64)))).toBeDefined();
    expect(decodeCbor(bytes(`990400${"00".repeat(1024)}`))).toHaveLength(1024);
  });

  it("begins a document with the tag, and has the bytes of a field as bytes", () => {
    const value = { kind: "Secret", data: { a: "/////w==" }, stringData: { b: "/////w==" } };
    const document = encodeCbor(value, secret);
    expect(isSelfDescribed(document)).toBe(true);
    expect(hexOf(document)).toContain("d644ffffffff");
    expect(decodeCbor(document)).toEqual(value);
    expect(decodeCbor(document, secret)).toEqual(value);
    // Whatever they are expected in later, they are bytes now; without a tag they are base64.
    const hexadecimal = bytes("a14464617461a14161d744ffffffff");
    expect(decodeCbor(hexadecimal, secret)).toEqual({ data: { a: "/////w==" } });
    expect(decodeCbor(hexadecimal)).toEqual({ data: { a: "ffffffff" } });
    expect(decodeCbor(encodeCbor(value), secret)).toEqual(value);
  });

  it("knows keys that objects inherit", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    expect(decodeCbor(encodeCbor(value))).toEqual(value);
    expect(Object.keys(decodeCbor(encodeCbor(value)) as object)).toEqual(["__proto__", "constructor"]);
  });

  it("reads a sequence", () => {
    expect([...decodeCborSequence(bytes("d9d9f70181020380"))]).toEqual([1, [2], 3, []]);
  });

  it("has no number that JSON has not", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n]) expect(() => encodeCbor(value)).toThrow();
  });

  it("finds the first field that a type does not have", () => {
    expect(unknownFieldIndex(secret, { data: { x: "" }, bogus: 1 })).toBe(1);
    expect(unknownFieldIndex(secret, { data: {}, metadata: { name: "a", labels: {}, other: 1 } })).toBe(2);
    expect(unknownFieldIndex(secret, { data: { any: "" } })).toBeUndefined();
  });
});
