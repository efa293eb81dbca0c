import { describe, expect, it } from "vitest";
import { HeaderDecoder, HpackError } from "./index.ts";

const hex = (digits: string) => Buffer.from(digits.replaceAll(/\s/g, ""), "hex");

const example = "www.example.com";
const secure = "https://www.example.com";
const date1 = "Mon, 21 Oct 2013 20:13:21 GMT";
const date2 = "Mon, 21 Oct 2013 20:13:22 GMT";
const cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";

interface Step {
  readonly fields: readonly string[];
  /** The dynamic table afterwards, newest first. */
  readonly table: readonly string[];
}

const requests: readonly Step[] = [
  {
    fields: [":method", "GET", ":scheme", "http", ":path", "/", ":authority", example],
    table: [":authority", example],
  },
  {
    fields: [":method", "GET", ":scheme", "http", ":path", "/", ":authority", example, "cache-control", "no-cache"],
    table: ["cache-control", "no-cache", ":authority", example],
  },
  {
    fields: [
      ...[":method", "GET", ":scheme", "https", ":path", "/index.html", ":authority", example],
      ...["custom-key", "custom-value"],
    ],
    table: ["custom-key", "custom-value", "cache-control", "no-cache", ":authority", example],
  },
];

const responses: readonly Step[] = [
  {
    fields: [":status", "302", "cache-control", "private", "date", date1, "location", secure],
    table: ["location", secure, "date", date1, "cache-control", "private", ":status", "302"],
  },
  {
    fields: [":status", "307", "cache-control", "private", "date", date1, "location", secure],
    table: [":status", "307", "location", secure, "date", date1, "cache-control", "private"],
  },
  {
    fields: [
      ...[":status", "200", "cache-control", "private", "date", date2, "location", secure],
      ...["content-encoding", "gzip", "set-cookie", cookie],
    ],
    table: ["set-cookie", cookie, "content-encoding", "gzip", "date", date2],
  },
];

/** The examples with evictions have tables of 256 bytes: this is how a peer says so. */
const tableOf256 = "3fe101";

const examples: readonly { name: string; blocks: readonly string[]; steps: readonly Step[] }[] = [
  {
    name: "C.2.1 literal with indexing",
    blocks: ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"],
    steps: [{ fields: ["custom-key", "custom-header"], table: ["custom-key", "custom-header"] }],
  },
  {
    name: "C.2.2 literal without indexing",
    blocks: ["040c 2f73 616d 706c 652f 7061 7468"],
    steps: [{ fields: [":path", "/sample/path"], table: [] }],
  },
  {
    name: "C.2.3 literal never indexed",
    blocks: ["1008 7061 7373 776f 7264 0673 6563 7265 74"],
    steps: [{ fields: ["password", "secret"], table: [] }],
  },
  { name: "C.2.4 indexed", blocks: ["82"], steps: [{ fields: [":method", "GET"], table: [] }] },
  {
    name: "C.3 requests",
    blocks: [
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ],
    steps: requests,
  },
  {
    name: "C.4 requests, Huffman",
    blocks: [
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ],
    steps: requests,
  },
  {
    name: "C.5 responses, evictions",
    blocks: [
      `${tableOf256} 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32
       3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      "4803 3330 37c1 c0bf",
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d
       4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572
       7369 6f6e 3d31`,
    ],
    steps: responses,
  },
  {
    name: "C.6 responses, evictions, Huffman",
    blocks: [
      `${tableOf256} 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
       1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
      "4883 640e ffc1 c0bf",
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
       cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ],
    steps: responses,
  },
];

describe("the examples of RFC 7541, appendix C", () => {
  it.each(examples)("$name", ({ blocks, steps }) => {
    const decoder = new HeaderDecoder();
    const newest = 0x80 | 62;
    let entries = 0;
    for (const [i, { fields, table }] of steps.entries()) {
      expect(decoder.decode(hex(blocks[i] ?? ""))).toEqual(fields);
      entries = table.length / 2;
      expect(decoder.decode(Buffer.from(Array.from({ length: entries }, (_, age) => newest + age)))).toEqual(table);
    }
    expect(() => decoder.decode(Buffer.from([newest + entries]))).toThrow(HpackError);
  });
});
