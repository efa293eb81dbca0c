/** RFC 7541, as a connection sees it: each row sends a request whose field block ends with the given bytes. */
import { FLAG, FRAME } from "../../codes.ts";
import { fieldBlock, frame, GET } from "../frames.ts";
import { answered, connectionError, type Row, type Rows } from "./row.ts";

const block = fieldBlock(GET);
const hex = (digits: string) => Buffer.from(digits.replaceAll(" ", ""), "hex");
const requestWith = (id: number, fields: string) =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, Buffer.concat([block, hex(fields)]));
const requestAfter = (id: number, updates: string, fields = "") =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, Buffer.concat([hex(updates), block, hex(fields)]));

const reads = (name: string, fields: string, seen: Readonly<Record<string, string>>, ...h2spec: string[]): Row => ({
  name,
  h2spec,
  given: [requestWith(1, fields)],
  want: answered(1),
  fields: seen,
});
const refuses = (name: string, fields: string, ...h2spec: string[]): Row => ({
  name,
  h2spec,
  given: [requestWith(1, fields)],
  want: connectionError("compressionError"),
});

/** Strings written plainly. "user-agent" is entry 58 of the static table, "x-test" is not in it. */
const OK = "02 6f6b";
const X_TEST = "06 782d74657374";
/** The same in Huffman code. */
const OK_HUFFMAN = "82 3f5f";
const X_TEST_HUFFMAN = "85 f2b24a84ff";

/** The three literal representations: the bits they start with, for a name by index and a new name. */
const literal = (indexedName: string, newName: string, first: number): readonly Row[] => [
  reads("an indexed name", `${indexedName} ${OK}`, { "user-agent": "ok" }, `generic/5/${first}`),
  reads("an indexed name, Huffman", `${indexedName} ${OK_HUFFMAN}`, { "user-agent": "ok" }, `generic/5/${first + 1}`),
  reads("a new name", `${newName} ${X_TEST} ${OK}`, { "x-test": "ok" }, `generic/5/${first + 2}`),
  reads(
    "a new name, Huffman",
    `${newName} ${X_TEST_HUFFMAN} ${OK_HUFFMAN}`,
    { "x-test": "ok" },
    `generic/5/${first + 3}`,
  ),
];

export const hpackRows: Rows = {
  "2.3.3": [
    refuses("an index beyond both tables", "be", "hpack/2.3.3/1"),
    refuses("the index of a name beyond both tables", `7f 00 ${OK}`, "hpack/2.3.3/2"),
  ],
  "4.2": [refuses("a size update at the end of a block", "20", "hpack/4.2/1")],
  "4.3": [
    {
      name: "a size update to 0 empties the table",
      given: [requestWith(1, `40 ${X_TEST} ${OK}`)],
      afterwards: [requestAfter(3, "20", "be")],
      want: [...answered(1), ...connectionError("compressionError", 1)],
    },
  ],
  "4.4": [
    {
      name: "an entry larger than the table empties it",
      given: [requestAfter(1, "3f 03", `40 01 61 00 40 ${X_TEST} ${OK}`)],
      afterwards: [requestWith(3, "be")],
      want: [...answered(1), ...connectionError("compressionError", 1)],
    },
  ],
  "5.1": [
    refuses("a number above 2^31-1", "ff 81 ff ff ff 07"),
    refuses("a number that is cut off", "ff"),
    refuses("a number that never ends", `ff ${"80".repeat(100)}`),
  ],
  "5.2": [
    refuses("Huffman padding longer than 7 bits", `00 ${X_TEST} 83 3f5fff`, "hpack/5.2/1"),
    refuses("Huffman padding of zeros", `00 ${X_TEST} 82 3f50`, "hpack/5.2/2"),
    refuses("Huffman with EOS", `00 ${X_TEST} 84 ffffffff`, "hpack/5.2/3"),
    refuses("a string beyond the block", "00 06 782d"),
  ],
  "6.1": [
    reads("a field of the static table", "90", { "accept-encoding": "gzip, deflate" }, "generic/5/1"),
    refuses("index 0", "80", "hpack/6.1/1"),
  ],
  "6.2.1": [
    ...literal("7a", "40", 2),
    {
      name: "the field enters the table",
      given: [requestWith(1, `40 ${X_TEST} ${OK}`), requestWith(3, "be")],
      want: [...answered(1), ...answered(3)],
      fields: { "x-test": "ok" },
    },
  ],
  "6.2.2": [
    ...literal("0f 2b", "00", 6),
    {
      name: "the field does not enter the table",
      given: [requestWith(1, `00 ${X_TEST} ${OK}`)],
      afterwards: [requestWith(3, "be")],
      want: [...answered(1), ...connectionError("compressionError", 1)],
    },
  ],
  "6.2.3": [
    ...literal("1f 2b", "10", 10),
    {
      name: "the field does not enter the table",
      given: [requestWith(1, `10 ${X_TEST} ${OK}`)],
      afterwards: [requestWith(3, "be")],
      want: [...answered(1), ...connectionError("compressionError", 1)],
    },
  ],
  "6.3": [
    {
      name: "a size update at the start of a block",
      h2spec: ["generic/5/14"],
      given: [requestAfter(1, "2a")],
      want: answered(1),
    },
    {
      name: "several size updates",
      h2spec: ["generic/5/15"],
      given: [requestAfter(1, "20 3f e1 1f")],
      want: answered(1),
    },
    {
      name: "a size above SETTINGS_HEADER_TABLE_SIZE",
      h2spec: ["hpack/6.3/1"],
      given: [requestAfter(1, "3f e2 1f")],
      want: connectionError("compressionError"),
    },
  ],
};
