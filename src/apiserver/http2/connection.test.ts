/** What a connection says to bytes, right and wrong. Numbers of sections are those of RFC 9113. */
import { describe, expect, it } from "vitest";
import { FLAG, FRAME, MAX_WINDOW, PREFACE, SETTING } from "./codes.ts";
import {
  continuation,
  data,
  type Field,
  fieldBlock,
  frame,
  GET,
  get,
  headers,
  lastData,
  padded,
  ping,
  post,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "./testing/frames.ts";
import { counting, TestClient } from "./testing/test-client.ts";

const BOTH = FLAG.endHeaders | FLAG.endStream;
const zeros = (bytes: number) => Buffer.alloc(bytes);
const block = fieldBlock(GET);
const priority = Buffer.from([0, 0, 0, 0, 15]);
/** A table with one large entry, and a list that names it again and again. */
const bomb = Buffer.concat([
  block,
  Buffer.from([0x40, 1]),
  Buffer.from("a"),
  Buffer.from([0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4000, 97),
  Buffer.alloc(10_000, 0xbe),
]);
const without = (name: string) => GET.filter(([each]) => each !== name);
const broken = (after = 0) => [`goaway after ${after}: protocolError`];
const wrongSize = (after = 0) => [`goaway after ${after}: frameSizeError`];
const reset = (code: string) => [`reset 1: ${code}`];
const answered = (id: number, bytes: number) => [`headers ${id}: 200`, `data ${id}: ${String(bytes).length} end`];

interface Row {
  readonly name: string;
  /** After the preface and settings. */
  readonly given: readonly Buffer[];
  readonly want: readonly string[];
  /** Otherwise it would be answered before the end has come. */
  readonly atOnce?: true;
}

const rows: Record<string, readonly Row[]> = {
  "frames (4, 5.5)": [
    { name: "a request", given: [get(1)], want: answered(1, 0) },
    { name: "a frame over the agreed size", given: [frame(FRAME.data, 0, 1, zeros(16_385))], want: wrongSize() },
    { name: "one of a type nobody knows", given: [frame(99, 255, 7, "any"), ping()], want: ["ping ack 12345678"] },
    { name: "a reserved bit", given: [frame(FRAME.ping, 0, 2 ** 31, "12345678")], want: ["ping ack 12345678"] },
    { name: "flags nobody knows", given: [headers(1, GET, BOTH | 0xc2)], want: answered(1, 0) },
    { name: "a promise", given: [frame(FRAME.pushPromise, FLAG.endHeaders, 1, zeros(4))], want: broken() },
  ],
  "SETTINGS (6.5)": [
    { name: "are acknowledged", given: [settings([99, 5])], want: ["settings ack"] },
    { name: "of a stream", given: [frame(FRAME.settings, 0, 1)], want: broken() },
    { name: "of five bytes", given: [frame(FRAME.settings, 0, 0, zeros(5))], want: wrongSize() },
    {
      name: "an acknowledgement with something in it",
      given: [frame(FRAME.settings, 1, 0, zeros(6))],
      want: wrongSize(),
    },
    { name: "an acknowledgement", given: [settingsAck], want: [] },
    { name: "push: 2", given: [settings([SETTING.enablePush, 2])], want: broken() },
    { name: "a frame of 16,383", given: [settings([SETTING.maxFrameSize, 16_383])], want: broken() },
    { name: "a frame of 2^24", given: [settings([SETTING.maxFrameSize, 2 ** 24])], want: broken() },
    {
      name: "a window of 2^31",
      given: [settings([SETTING.initialWindowSize, 2 ** 31])],
      want: ["goaway after 0: flowControlError"],
    },
    {
      name: "hundreds in one frame",
      given: [settings(...Array.from({ length: 300 }, (_, i) => [SETTING.initialWindowSize, i] as const))],
      want: ["goaway after 0: enhanceYourCalm"],
    },
  ],
  "PING (6.7)": [
    { name: "is acknowledged", given: [ping("abcdefgh")], want: ["ping ack abcdefgh"] },
    { name: "an acknowledgement is not", given: [frame(FRAME.ping, FLAG.ack, 0, zeros(8))], want: [] },
    { name: "of seven bytes", given: [frame(FRAME.ping, 0, 0, zeros(7))], want: wrongSize() },
    { name: "of a stream", given: [frame(FRAME.ping, 0, 1, zeros(8))], want: broken() },
  ],
  "PRIORITY, GOAWAY (5.3, 6.3, 6.8)": [
    {
      name: "a priority of a stream to come",
      given: [frame(FRAME.priority, 0, 3, priority), get(3)],
      want: answered(3, 0),
    },
    { name: "a priority of no stream", given: [frame(FRAME.priority, 0, 0, priority)], want: broken() },
    { name: "a priority of four bytes", given: [frame(FRAME.priority, 0, 1, zeros(4))], want: wrongSize() },
    { name: "a farewell", given: [frame(FRAME.goAway, 0, 0, zeros(8)), get(1)], want: answered(1, 0) },
    { name: "a farewell of a stream", given: [frame(FRAME.goAway, 0, 1, zeros(8))], want: broken() },
    { name: "a farewell of seven bytes", given: [frame(FRAME.goAway, 0, 0, zeros(7))], want: wrongSize() },
  ],
  "HEADERS (5.1.1, 6.2)": [
    { name: "padded", given: [frame(FRAME.headers, BOTH | FLAG.padded, 1, padded(block, 9))], want: answered(1, 0) },
    {
      name: "with more padding than there is room for",
      given: [frame(FRAME.headers, BOTH | FLAG.padded, 1, Buffer.concat([Buffer.from([200]), block]))],
      want: broken(),
    },
    { name: "padded, of nothing", given: [frame(FRAME.headers, BOTH | FLAG.padded, 1)], want: wrongSize() },
    {
      name: "with a priority",
      given: [frame(FRAME.headers, BOTH | FLAG.priority, 1, Buffer.concat([priority, block]))],
      want: answered(1, 0),
    },
    {
      name: "with half a priority",
      given: [frame(FRAME.headers, BOTH | FLAG.priority, 1, zeros(3))],
      want: wrongSize(),
    },
    {
      name: "padded, with a priority",
      given: [frame(FRAME.headers, BOTH | 40, 1, padded(Buffer.concat([priority, block]), 255))],
      want: answered(1, 0),
    },
    { name: "of no stream", given: [get(0)], want: broken() },
    { name: "with an even number", given: [get(2)], want: broken() },
    { name: "with numbers left out", given: [get(1), get(7)], want: [...answered(1, 0), ...answered(7, 0)] },
    { name: "with a number below the last", given: [post(5), get(3)], want: broken(5) },
    {
      name: "that cannot be decoded",
      given: [frame(FRAME.headers, BOTH, 1, zeros(1))],
      want: ["goaway after 0: compressionError"],
    },
  ],
  "CONTINUATION (6.10)": [
    {
      name: "in three parts",
      given: [
        frame(FRAME.headers, FLAG.endStream, 1, block.subarray(0, 9)),
        continuation(1, block.subarray(9, 12), 0),
        continuation(1, block.subarray(12)),
      ],
      want: answered(1, 0),
    },
    {
      name: "with empty ones between",
      given: [
        frame(FRAME.headers, FLAG.endStream, 1),
        continuation(1, "", 0),
        continuation(1, block, 0),
        continuation(1),
      ],
      want: answered(1, 0),
    },
    { name: "of nothing", given: [continuation(1, block)], want: broken() },
    { name: "behind the end", given: [post(1), continuation(1, block)], want: broken(1) },
    { name: "of another stream", given: [headers(1, GET, 0), continuation(3, block)], want: broken() },
    { name: "interrupted", given: [headers(1, GET, 0), ping()], want: broken() },
    { name: "interrupted by who nobody knows", given: [headers(1, GET, 0), frame(99, 0, 0)], want: broken() },
    { name: "interrupted by another request", given: [headers(1, GET, 0), get(3)], want: broken() },
    {
      name: "without end, large",
      given: [headers(1, GET, 0), ...Array.from({ length: 9 }, () => continuation(1, zeros(16_000), 0))],
      want: ["goaway after 0: enhanceYourCalm"],
    },
    {
      name: "without end, of a byte each",
      given: [headers(1, GET, 0), ...Array.from({ length: 1_001 }, () => continuation(1, "a", 0))],
      want: ["goaway after 0: enhanceYourCalm"],
    },
    {
      name: "without end, of nothing",
      given: [headers(1, GET, 0), ...Array.from({ length: 1_001 }, () => continuation(1, "", 0))],
      want: ["goaway after 0: enhanceYourCalm"],
    },
  ],
  "fields over the limit (10.5.1)": [
    {
      name: "written out",
      given: [
        headers(1, GET, FLAG.endStream),
        ...Array.from({ length: 5 }, (_, i) =>
          continuation(1, fieldBlock([["a", "v".repeat(16_000)]]), i === 4 ? FLAG.endHeaders : 0),
        ),
      ],
      want: ["headers 1: 431", "data 1: 0 end"],
    },
    {
      name: "of few bytes that stand for many",
      given: [frame(FRAME.headers, BOTH, 1, bomb), get(3)],
      want: ["headers 1: 431", "data 1: 0 end", ...answered(3, 0)].sort(),
    },
    {
      name: "of a request with a body",
      given: [frame(FRAME.headers, FLAG.endHeaders, 1, bomb), data(1, "body")],
      want: ["headers 1: 431", "data 1: 0 end", "reset 1: noError"],
    },
  ],
  "trailers (8.1)": [
    { name: "end a body", given: [post(1), data(1, "abc"), headers(1, [["x", "y"]], BOTH)], want: answered(1, 3) },
    { name: "end no body", given: [post(1), headers(1, [], BOTH)], want: answered(1, 0) },
    { name: "that do not end", given: [post(1), headers(1, [["x", "y"]])], want: reset("protocolError") },
    { name: "with a pseudo field", given: [post(1), headers(1, [[":path", "/"]], BOTH)], want: reset("protocolError") },
    { name: "with capital letters", given: [post(1), headers(1, [["X", "y"]], BOTH)], want: reset("protocolError") },
    { name: "with a line's end", given: [post(1), headers(1, [["x", "\n"]], BOTH)], want: reset("protocolError") },
    {
      name: "before the length is reached",
      given: [post(1, ["content-length", "3"]), data(1, "ab"), headers(1, [["x", "y"]], BOTH)],
      want: reset("protocolError"),
    },
    {
      name: "of a request that is over",
      given: [post(1), rstStream(1), headers(1, [["x", "y"]], BOTH), ping()],
      want: ["ping ack 12345678"],
    },
  ],
  "content-length (8.1.1)": [
    {
      name: "that is right",
      given: [post(1, ["content-length", "3"]), data(1, "ab"), lastData(1, "c")],
      want: answered(1, 3),
    },
    { name: "0, with nothing behind", given: [get(1, ["content-length", "0"])], want: answered(1, 0) },
    { name: "5, with nothing behind", given: [get(1, ["content-length", "5"])], want: reset("protocolError") },
    { name: "too long", given: [post(1, ["content-length", "3"]), lastData(1, "abcd")], want: reset("protocolError") },
    { name: "too short", given: [post(1, ["content-length", "3"]), lastData(1, "ab")], want: reset("protocolError") },
    { name: "that is none", given: [post(1, ["content-length", "-1"])], want: reset("protocolError") },
    { name: "that is empty", given: [post(1, ["content-length", ""])], want: reset("protocolError") },
    {
      name: "said twice",
      given: [post(1, ["content-length", "1"], ["content-length", "1"]), lastData(1, "a")],
      want: answered(1, 1),
    },
    {
      name: "of two minds",
      given: [post(1, ["content-length", "1"], ["content-length", "2"])],
      want: reset("protocolError"),
    },
    {
      name: "does not count padding",
      given: [post(1, ["content-length", "1"]), data(1, padded("a", 9), FLAG.padded | FLAG.endStream)],
      want: answered(1, 1),
    },
  ],
  "DATA (5.1, 6.1)": [
    {
      name: "padded",
      given: [post(1), data(1, padded("abc", 255), FLAG.padded | FLAG.endStream)],
      want: answered(1, 3),
    },
    {
      name: "nothing but padding",
      given: [post(1), data(1, padded("", 5), FLAG.padded), lastData(1)],
      want: answered(1, 0),
    },
    {
      name: "with more padding than there is room for",
      given: [post(1), data(1, Buffer.from([9, 0]), FLAG.padded)],
      want: broken(1),
    },
    { name: "padded, of nothing", given: [post(1), data(1, "", FLAG.padded)], want: wrongSize(1) },
    { name: "of no stream", given: [data(0, "a")], want: broken() },
    { name: "of a request to come", given: [data(1, "a")], want: broken() },
    { name: "of a request that cannot be", given: [post(5), data(2, "a")], want: broken(5) },
    {
      name: "of a request that is over",
      given: [post(1), rstStream(1), data(1, "a"), ping()],
      want: ["ping ack 12345678"],
    },
    {
      name: "behind the end",
      given: [post(1), lastData(1, "a"), data(1, "b")],
      want: reset("streamClosed"),
      atOnce: true,
    },
    {
      name: "beyond the window",
      given: [post(1), ...Array.from({ length: 17 }, () => data(1, zeros(16_000)))],
      want: reset("flowControlError"),
    },
    {
      name: "of nothing, without end",
      given: [post(1), ...Array.from({ length: 1_001 }, () => data(1))],
      want: ["goaway after 1: enhanceYourCalm"],
    },
  ],
  "RST_STREAM (6.4)": [
    { name: "of no stream", given: [rstStream(0)], want: broken() },
    { name: "of a request to come", given: [rstStream(1)], want: broken() },
    { name: "of three bytes", given: [post(1), frame(FRAME.rstStream, 0, 1, zeros(3))], want: wrongSize(1) },
    { name: "of a request", given: [post(1), rstStream(1), rstStream(1), get(3)], want: answered(3, 0) },
  ],
  "WINDOW_UPDATE (6.9)": [
    { name: "of three bytes", given: [frame(FRAME.windowUpdate, 0, 0, zeros(3))], want: wrongSize() },
    { name: "by nothing", given: [windowUpdate(0, 0)], want: broken() },
    { name: "by nothing, of a stream", given: [post(1), windowUpdate(1, 0)], want: reset("protocolError") },
    { name: "of a request to come", given: [windowUpdate(1, 1)], want: broken() },
    { name: "of a request that cannot be", given: [post(5), windowUpdate(4, 1)], want: broken(5) },
    { name: "of a request that is over", given: [post(1), rstStream(1), windowUpdate(1, 1)], want: [] },
    { name: "too far", given: [windowUpdate(0, MAX_WINDOW)], want: ["goaway after 0: flowControlError"] },
    { name: "too far, of a stream", given: [post(1), windowUpdate(1, MAX_WINDOW)], want: reset("flowControlError") },
    {
      name: "too far, by settings",
      given: [post(1), windowUpdate(1, MAX_WINDOW - 65_535), settings([SETTING.initialWindowSize, 65_536])],
      want: ["goaway after 1: flowControlError"],
    },
  ],
};

const refused: readonly (readonly [string, readonly Field[]])[] = [
  ["no method", without(":method")],
  ["no scheme", without(":scheme")],
  ["no path", without(":path")],
  ["an empty path", [...without(":path"), [":path", ""]]],
  ["two methods", [[":method", "GET"], ...GET]],
  ["an unknown pseudo field", [...GET, [":version", "2"]]],
  ["that of an answer", [...GET, [":status", "200"]]],
  ["one that came late", [...without(":path"), ["a", "b"], [":path", "/"]]],
  ["capital letters", [...GET, ["Accept", "*"]]],
  ["a name with a space", [...GET, ["a b", "c"]]],
  ["a name with a colon", [...GET, ["a:b", "c"]]],
  ["no name", [...GET, ["", "c"]]],
  ["connection", [...GET, ["connection", "close"]]],
  ["keep-alive", [...GET, ["keep-alive", "1"]]],
  ["proxy-connection", [...GET, ["proxy-connection", "close"]]],
  ["transfer-encoding", [...GET, ["transfer-encoding", "chunked"]]],
  ["upgrade", [...GET, ["upgrade", "h2c"]]],
  ["te: gzip", [...GET, ["te", "gzip"]]],
  ["a value with CR", [...GET, ["a", "b\rc"]]],
  ["a value with LF", [...GET, ["a", "b\nc"]]],
  ["a value with NUL", [...GET, ["a", "b\0c"]]],
  ["a path with LF", [...without(":path"), [":path", "/\n"]]],
];

describe("a connection", () => {
  for (const [title, group] of Object.entries(rows))
    describe(title, () => {
      it.each(group)("$name", async ({ given, want }) => {
        const client = await TestClient.greeted({ onStream: counting });
        await client.send(...given);
        expect(client.heard.sort()).toEqual([...want].sort());
        const isOver = want.some((line) => line.startsWith("goaway"));
        expect([client.socket.destroyed, client.ended]).toEqual([isOver, isOver]);
      });

      const short = group.filter(({ given, atOnce }) => atOnce === undefined && Buffer.concat(given).length < 2_000);
      it.each(short)("$name, byte by byte", async ({ given, want }) => {
        const client = await TestClient.greeted({ onStream: counting });
        for (const byte of Buffer.concat(given)) await client.send(Buffer.from([byte]));
        expect(client.heard.sort()).toEqual([...want].sort());
      });
    });

  it.each(refused)("refuses a request with %s, and goes on", async (_, fields) => {
    const client = await TestClient.greeted({ onStream: counting });
    await client.send(headers(1, fields, BOTH), get(3));
    expect(client.heard).toEqual(["reset 1: protocolError", ...answered(3, 0)]);
  });

  it.each<readonly [string, readonly Field[]]>([
    ["te: trailers", [["te", "trailers"]]],
    ["no authority", []],
    [
      "cookies in crumbs",
      [
        ["cookie", "a=1"],
        ["cookie", "b=2"],
      ],
    ],
  ])("takes a request with %s", async (_, more) => {
    const client = await TestClient.greeted({ onStream: counting });
    await client.send(headers(1, [...without(":authority"), ...more], BOTH));
    expect(client.heard).toEqual(answered(1, 0));
    expect(client.stream().fields.cookie).toBe(more.length === 2 ? "a=1; b=2" : undefined);
  });
});

describe("the beginning (3.4)", () => {
  it("may come in single bytes", async () => {
    const client = new TestClient({ onStream: counting });
    for (const byte of Buffer.concat([PREFACE, settings(), get(1)])) await client.send(Buffer.from([byte]));
    expect(client.heard).toEqual(["settings", "window 0: +16711681", "settings ack", ...answered(1, 0)]);
  });

  it.each([
    ["a request of HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["one letter that is wrong", Buffer.from("PRI * HTTP/2.1")],
    ["a ping instead of settings", Buffer.concat([PREFACE, ping()])],
    ["a request instead of settings", Buffer.concat([PREFACE, get(1)])],
    ["an acknowledgement instead of settings", Buffer.concat([PREFACE, settingsAck])],
  ])("is not %s", async (_, bytes) => {
    const client = new TestClient();
    await client.send(bytes);
    expect(client.heard).toEqual(["settings", "window 0: +16711681", ...broken()]);
    expect(client.socket.destroyed).toBe(true);
    expect(client.clock.pending).toBe(0);
  });

  it.each([
    ["nothing", []],
    ["the half of it", [PREFACE.subarray(0, 12)]],
    ["no settings", [PREFACE]],
  ])("is not waited for without end: %s", async (_, given) => {
    const client = new TestClient();
    await client.send(...given);
    await client.clock.advance(29_000);
    expect(client.socket.destroyed).toBe(false);
    await client.clock.advance(2_000);
    expect(client.socket.destroyed).toBe(true);
    expect(client.heard.at(-1)).toBe("goaway after 0: protocolError");
  });
});
