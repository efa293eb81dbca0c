import { describe, expect, it } from "vitest";
import * as der from "./der.ts";

const hex = (bytes: Buffer) => bytes.toString("hex");
const bytes = (text: string) => Buffer.from(text, "hex");

describe("writing DER", () => {
  it.each([
    { name: "zero", given: der.integer(bytes("00")), want: "020100" },
    { name: "no bytes", given: der.integer(Buffer.alloc(0)), want: "020100" },
    { name: "leading zeros are cut", given: der.integer(bytes("00007f")), want: "02017f" },
    { name: "a high bit gets a zero before it, to stay positive", given: der.integer(bytes("80")), want: "02020080" },
    { name: "true", given: der.derTrue(), want: "0101ff" },
    { name: "null", given: der.derNull(), want: "0500" },
    { name: "an object identifier", given: der.oid("1.2.840.113549.1.1.11"), want: "06092a864886f70d01010b" },
    { name: "named bits, one byte", given: der.namedBits([0, 5, 6]), want: "03020186" },
    { name: "named bits, second byte", given: der.namedBits([8]), want: "0303070080" },
    {
      name: "a time up to 2049",
      given: der.time(Date.UTC(2049, 11, 31, 23, 59, 59)),
      want: `170d${hex(Buffer.from("491231235959Z"))}`,
    },
    {
      name: "a time from 2050 on",
      given: der.time(Date.UTC(2050, 0, 1)),
      want: `180f${hex(Buffer.from("20500101000000Z"))}`,
    },
    { name: "[0] around", given: der.explicit(0, der.derNull()), want: "a0020500" },
    { name: "[2] instead", given: der.implicit(2, bytes("61")), want: "820161" },
  ])("$name", ({ given, want }) => {
    expect(hex(given)).toBe(want);
  });

  it.each([
    { size: 127, head: "047f" },
    { size: 128, head: "048180" },
    { size: 256, head: "04820100" },
    { size: 65536, head: "0483010000" },
  ])("a length of $size", ({ size, head }) => {
    expect(hex(der.octetString(Buffer.alloc(size))).slice(0, head.length)).toBe(head);
  });
});

describe("reading DER", () => {
  it.each([0, 1, 127, 128, 255, 256, 70_000])("finds what was written with %i bytes", (size) => {
    const inner = der.octetString(Buffer.alloc(size, 7));
    const found = der.elements(Buffer.concat([der.derNull(), inner]));
    expect(found.map(({ tag }) => tag)).toEqual([0x05, 0x04]);
    expect(found[1]?.raw.equals(inner)).toBe(true);
    expect(found[1]?.content.length).toBe(size);
  });

  it.each([
    { name: "a tag alone", given: "30" },
    { name: "content cut off", given: "3003020100".slice(0, -2) },
    { name: "a length cut off", given: "308201" },
    { name: "an open length", given: "30800000" },
    { name: "a length of many bytes", given: `3088${"00".repeat(8)}` },
  ])("refuses $name", ({ given }) => {
    expect(() => der.elements(bytes(given))).toThrow(RangeError);
  });
});
