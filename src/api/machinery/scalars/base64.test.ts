import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64, encodeBase64, encodeHex, plainDecode, plainEncode } from "./base64.ts";

describe("base64", () => {
  it("is the same by the engine's functions, where it has them, and without them (property)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64");
        expect([encodeBase64(bytes), plainEncode(bytes)]).toEqual([text, text]);
        expect([[...decodeBase64(text)], [...plainDecode(text)]]).toEqual([[...bytes], [...bytes]]);
        expect(encodeHex(bytes)).toBe(Buffer.from(bytes).toString("hex"));
      }),
    );
  });

  it("skips line breaks, as Go does", () => {
    expect([[...decodeBase64("AQ\r\nID")], [...plainDecode("AQ\r\nID")]]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });
});
