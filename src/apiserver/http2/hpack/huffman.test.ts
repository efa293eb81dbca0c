import { describe, expect, it } from "vitest";
import { HpackError } from "./error.ts";
import { decodeHuffman, huffmanRoom } from "./huffman.ts";

const decode = (bytes: readonly number[]) => {
  const out = Buffer.alloc(huffmanRoom(bytes.length));
  const length = decodeHuffman(Buffer.from(bytes), 0, bytes.length, out);
  return out.toString("latin1", 0, length);
};

/** Bits, padded with ones to whole bytes. */
const bytes = (bits: string) => {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return Array.from({ length: padded.length / 8 }, (_, i) => Number.parseInt(padded.slice(i * 8, i * 8 + 8), 2));
};
const code = (value: number, bits: number) => value.toString(2).padStart(bits, "0");

describe("decodeHuffman", () => {
  const strings: readonly { name: string; bits: string; want: string }[] = [
    { name: "nothing", bits: "", want: "" },
    { name: "the shortest code", bits: code(0x0, 5), want: "0" },
    { name: "a byte that ends two codes", bits: code(0x5, 5) + code(0x5, 5) + code(0x5, 5), want: "eee" },
    { name: "no padding at all", bits: code(0x0, 5).repeat(8), want: "00000000" },
    { name: "NUL", bits: code(0x1ff8, 13), want: "\0" },
    { name: "a line feed", bits: code(0x3ffffffc, 30), want: "\n" },
    { name: "the last code before EOS", bits: code(0x3ffffffe, 30), want: "\x16" },
    { name: "DEL", bits: code(0xffffffc, 28), want: "\x7f" },
    { name: "the highest byte", bits: code(0x3ffffee, 26), want: "\xff" },
    {
      name: "long codes at odd places",
      bits: code(0x3, 5) + code(0x7ffff0, 23) + code(0x3ffffffd, 30),
      want: "a\xbc\r",
    },
  ];
  it.each(strings)("reads $name", ({ bits, want }) => {
    expect(decode(bytes(bits))).toBe(want);
    expect(decode(bytes(bits))).toBe(want);
  });

  const a = code(0x3, 5);
  const wrong: readonly { name: string; bytes: readonly number[] }[] = [
    { name: "padding of zeros", bytes: [0b00011_000] },
    { name: "padding that is not all ones", bytes: [0b00011_110] },
    { name: "a byte of padding", bytes: [0xff] },
    { name: "a byte of padding after a symbol", bytes: [...bytes(a), 0xff] },
    { name: "eight bits of padding across bytes", bytes: [...bytes(code(0x0, 5).repeat(8)), 0xff] },
    { name: "most of EOS", bytes: [...bytes(a), 0xff, 0xff, 0xff] },
    { name: "EOS", bytes: bytes(code(0x3fffffff, 30)) },
    { name: "EOS and more", bytes: bytes(a + code(0x3fffffff, 30) + a) },
    { name: "a code that is cut off", bytes: bytes(code(0x7ffff0, 23)).slice(0, 2) },
  ];
  it.each(wrong)("refuses $name, each time", ({ bytes }) => {
    expect(() => decode(bytes)).toThrow(HpackError);
    expect(() => decode(bytes)).toThrow(HpackError);
  });
});
