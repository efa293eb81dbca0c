import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { HeaderDecoder, HpackError } from "./index.ts";

const bytes = (...parts: readonly (number | string | readonly number[] | Buffer)[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(typeof part === "number" ? [part] : part),
    ),
  );

/** A literal that goes into the table, with a name of its own; lengths below 127. */
const indexed = (name: string, value: string) => bytes(0x40, name.length, name, value.length, value);

/** 2^31 behind a prefix of seven bits, and the most that is allowed. */
const tooLarge = [0xff, 0x81, 0xff, 0xff, 0xff, 0x07];
const mostNumber = [0xff, 0x80, 0xff, 0xff, 0xff, 0x07];

describe("HeaderDecoder", () => {
  const hostile: readonly { name: string; block: Buffer }[] = [
    { name: "index 0", block: bytes(0x80) },
    { name: "an index after the static table", block: bytes(0x80 | 62) },
    { name: "an index far beyond the tables", block: bytes(mostNumber) },
    { name: "an index of 2^31", block: bytes(tooLarge) },
    { name: "a number that overflows", block: bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01) },
    { name: "a number that never ends", block: bytes(0xff, Array<number>(10_000).fill(0x80)) },
    { name: "a number that is cut off", block: bytes(0xff) },
    { name: "a number that is cut off later", block: bytes(0xff, 0x80) },
    { name: "the index of a name beyond the tables", block: bytes(0x7f, 0x00, 1, "x") },
    { name: "the index of a name beyond the tables, without indexing", block: bytes(0x0f, 0x7f, 1, "x") },
    { name: "a literal without a name", block: bytes(0x40) },
    { name: "a literal whose name is cut off", block: bytes(0x40, 5, "name") },
    { name: "a literal without a value", block: bytes(0x40, 4, "name") },
    { name: "a literal whose value is cut off", block: bytes(0x44, 5, "/abc") },
    { name: "a string of 2 GiB", block: bytes(0x44, 0x7f, mostNumber.slice(1), "/abc") },
    { name: "a Huffman string of 2 GiB", block: bytes(0x44, mostNumber, "/abc") },
    { name: "a Huffman string padded wrongly", block: bytes(0x44, 0x81, 0x00) },
    { name: "a table larger than allowed", block: bytes(0x3f, 0xe2, 0x1f) },
    { name: "a table of 2 GiB", block: bytes(0x3f, mostNumber.slice(1)) },
    { name: "a size update after a field", block: bytes(0x82, 0x20) },
  ];
  it.each(hostile)("refuses $name", ({ block }) => {
    expect(() => new HeaderDecoder().decode(block)).toThrow(HpackError);
  });

  it("reads bytes as characters", () => {
    const all = Array.from({ length: 100 }, (_, i) => i + 156);
    expect(new HeaderDecoder().decode(bytes(0x00, 1, "x", all.length, all))).toEqual([
      "x",
      String.fromCharCode(...all),
    ]);
  });

  it("reads an empty block, and one with nothing but size updates", () => {
    const decoder = new HeaderDecoder();
    expect(decoder.decode(bytes())).toEqual([]);
    expect(decoder.decode(bytes(0x20, 0x3f, 0xe1, 0x1f))).toEqual([]);
  });

  it("is emptied by an entry larger than its table, which is a field all the same", () => {
    const decoder = new HeaderDecoder();
    decoder.decode(bytes(0x3f, 0x45, indexed("a", "1")));
    expect(decoder.decode(bytes(0xbe))).toEqual(["a", "1"]);
    const long = "x".repeat(69);
    expect(decoder.decode(indexed("b", long))).toEqual(["b", long]);
    expect(() => decoder.decode(bytes(0xbe))).toThrow(HpackError);
  });

  it("takes the name of an entry that is evicted by the field itself", () => {
    const decoder = new HeaderDecoder();
    decoder.decode(bytes(0x3f, 0x15, indexed("name", "1")));
    expect(decoder.decode(bytes(0x7e, 1, "2"))).toEqual(["name", "2"]);
    expect(decoder.decode(bytes(0xbe))).toEqual(["name", "2"]);
    expect(() => decoder.decode(bytes(0xbf))).toThrow(HpackError);
  });

  it("starts with 4096 bytes, whatever our setting says, until the peer tells", () => {
    const ages = { last: 127, beyond: 128 };
    const at = (age: number) => {
      const rest = 62 + age - 127;
      return bytes(0xff, rest < 128 ? [rest] : [0x80 | (rest & 0x7f), rest >> 7]);
    };
    const filled = (start: readonly number[]) => {
      const decoder = new HeaderDecoder({ tableBytes: 65_536 });
      decoder.decode(bytes(start));
      for (let i = 0; i < 200; i++) decoder.decode(indexed("", ""));
      return decoder;
    };
    expect(filled([]).decode(at(ages.last))).toEqual(["", ""]);
    expect(() => filled([]).decode(at(ages.beyond))).toThrow(HpackError);
    expect(filled([0x3f, 0xe1, 0xff, 0x03]).decode(at(ages.beyond))).toEqual(["", ""]);
    const none = new HeaderDecoder({ tableBytes: 0 });
    expect(none.decode(bytes(0x20, indexed("a", "1")))).toEqual(["a", "1"]);
    expect(() => none.decode(bytes(0xbe))).toThrow(HpackError);
  });

  it("gives up a list that is too long, and stays in step", () => {
    const decoder = new HeaderDecoder({ maxListBytes: 3 * 34 });
    const three = Buffer.concat([indexed("a", "1"), indexed("b", "2"), indexed("c", "3")]);
    expect(decoder.decode(three)).toEqual(["a", "1", "b", "2", "c", "3"]);
    expect(decoder.decode(Buffer.concat([three, indexed("d", "4")]))).toBeUndefined();
    expect(decoder.decode(bytes(0xbe, 0xbf, 0xc0))).toEqual(["d", "4", "c", "3", "b", "2"]);
    expect(() => decoder.decode(bytes(0x82, 0x82, 0x82, 0x82, 0x80))).toThrow(HpackError);
  });

  it("does not let a small block become a large list", () => {
    const decoder = new HeaderDecoder();
    const value = "x".repeat(3_000);
    decoder.decode(bytes(0x40, 1, "a", 0x7f, 0x80 | ((value.length - 127) & 0x7f), (value.length - 127) >> 7, value));
    expect(decoder.decode(bytes(Array<number>(20).fill(0xbe)))).toEqual(Array<string[]>(20).fill(["a", value]).flat());
    expect(decoder.decode(bytes(Array<number>(100_000).fill(0xbe)))).toBeUndefined();
  });

  it("answers or throws HpackError for whatever comes", () => {
    const random = seededRandom(7);
    let read = 0;
    for (let i = 0; i < 3_000; i++) {
      try {
        const fields = new HeaderDecoder().decode(Buffer.from(random.bytes(random.integer(40))));
        if ((fields?.length ?? 0) % 2 === 0) read++;
      } catch (error) {
        expect(error).toBeInstanceOf(HpackError);
      }
    }
    expect(read).toBeGreaterThan(50);
  });
});
