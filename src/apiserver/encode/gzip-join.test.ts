import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { compressedPart, gzipOf, storedPart } from "./gzip-join.ts";

const texts = ["", "a", "[", "größe ".repeat(1000), "x".repeat(65_535), "y".repeat(65_536), "z".repeat(200_001)];

describe("gzipOf", () => {
  it("no parts are an empty file", () => {
    expect(gunzipSync(gzipOf([])).length).toBe(0);
  });

  it.each(texts.map((text) => ({ bytes: text.length, text })))("one part of $bytes characters", ({ text }) => {
    const plain = Buffer.from(text);
    // gunzip checks the length and the checksum.
    expect(gunzipSync(gzipOf([storedPart(plain)])).equals(plain)).toBe(true);
    expect(gunzipSync(gzipOf([compressedPart(plain)])).equals(plain)).toBe(true);
  });

  it("parts of all sizes in any order, some of them more than once", () => {
    const random = seededRandom(7);
    const plain = texts.map((text) => Buffer.from(text));
    const parts = plain.map((bytes, at) => (at % 2 === 0 ? compressedPart(bytes) : storedPart(bytes)));
    for (let round = 0; round < 20; round++) {
      const order = Array.from({ length: 8 }, () => random.integer(texts.length));
      const expected = Buffer.concat(order.map((at) => plain[at] as Buffer));
      const file = gzipOf(order.map((at) => parts[at] as ReturnType<typeof compressedPart>));
      expect(gunzipSync(file).equals(expected)).toBe(true);
    }
  });

  it("a damaged part is noticed by its checksum", () => {
    const part = compressedPart(Buffer.from("some text"));
    expect(() => gunzipSync(gzipOf([{ ...part, crc: part.crc ^ 1 }]))).toThrow("incorrect data check");
  });
});
