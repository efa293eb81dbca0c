/** RFC 9113, sections 8 and 10: HTTP messages, and limits. */
import { FLAG, FRAME, SETTING } from "../../codes.ts";
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
  post,
  request,
  settings,
} from "../frames.ts";
import { answered, connectionError, type Row, type Rows, streamError } from "./row.ts";

const REQUEST = FLAG.endHeaders | FLAG.endStream;
const block = fieldBlock(GET);
const without = (name: string) => GET.filter(([each]) => each !== name);
/** A table with one large entry, and a list that names it again and again. */
const bomb = Buffer.concat([
  block,
  Buffer.from([0x40, 1]),
  Buffer.from("a"),
  Buffer.from([0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4000, 97),
  Buffer.alloc(10_000, 0xbe),
]);

/** A malformed request is a stream error; the connection goes on. */
const malformed = (name: string, fields: readonly Field[], ...h2spec: readonly string[]): Row => ({
  name,
  h2spec,
  given: [headers(1, fields, REQUEST), get(3)],
  want: [...streamError("protocolError"), ...answered(3)],
});
const wellFormed = (name: string, fields: readonly Field[], seen: Readonly<Record<string, string>>): Row => ({
  name,
  given: [headers(1, fields, REQUEST)],
  want: answered(1),
  fields: seen,
});
const badTrailers = (name: string, trailers: readonly Field[], ...h2spec: readonly string[]): Row => ({
  name,
  h2spec,
  given: [post(1), headers(1, trailers, REQUEST)],
  want: streamError("protocolError"),
});

export const messageRows: Rows = {
  "8.1": [
    {
      name: "GET",
      h2spec: ["generic/4/1"],
      given: [request(1, "GET")],
      want: answered(1),
      fields: { ":method": "GET" },
    },
    {
      name: "HEAD",
      h2spec: ["generic/4/2"],
      given: [request(1, "HEAD")],
      want: answered(1),
      fields: { ":method": "HEAD" },
    },
    {
      name: "POST",
      h2spec: ["generic/4/3"],
      given: [request(1, "POST", FLAG.endHeaders), lastData(1, "test")],
      want: answered(1, 4),
      fields: { ":method": "POST" },
    },
    {
      name: "POST with trailers",
      h2spec: ["generic/4/4"],
      given: [request(1, "POST", FLAG.endHeaders), data(1, "test"), headers(1, [["x-test", "ok"]], REQUEST)],
      want: answered(1, 4),
    },
    { name: "trailers without a body", given: [post(1), headers(1, [], REQUEST)], want: answered(1) },
    {
      name: "a second HEADERS frame without END_STREAM",
      h2spec: ["http2/8.1/1"],
      given: [post(1), headers(1, [["x", "y"]])],
      want: streamError("protocolError"),
    },
    badTrailers("trailers with a pseudo-header field", [[":path", "/"]], "http2/8.1.2.1/3"),
    badTrailers("trailers with capital letters", [["X", "y"]]),
    badTrailers("trailers with a line feed", [["x", "\n"]]),
  ],
  "8.1.1": [
    {
      name: "a content-length that is right",
      given: [post(1, ["content-length", "3"]), data(1, "ab"), lastData(1, "c")],
      want: answered(1, 3),
    },
    { name: "content-length 0 without a body", given: [get(1, ["content-length", "0"])], want: answered(1) },
    {
      name: "a content-length without a body",
      given: [get(1, ["content-length", "5"])],
      want: streamError("protocolError"),
    },
    {
      name: "a content-length above the length of DATA",
      h2spec: ["http2/8.1.2.6/1"],
      given: [post(1, ["content-length", "3"]), lastData(1, "ab")],
      want: streamError("protocolError"),
    },
    {
      name: "a content-length above the length of several DATA frames",
      h2spec: ["http2/8.1.2.6/2"],
      given: [post(1, ["content-length", "9"]), data(1, "test"), lastData(1, "test")],
      want: streamError("protocolError"),
    },
    {
      name: "a content-length below the length of DATA",
      given: [post(1, ["content-length", "3"]), lastData(1, "abcd")],
      want: streamError("protocolError"),
    },
    {
      name: "trailers before content-length is reached",
      given: [post(1, ["content-length", "3"]), data(1, "ab"), headers(1, [["x", "y"]], REQUEST)],
      want: streamError("protocolError"),
    },
    {
      name: "a negative content-length",
      given: [post(1, ["content-length", "-1"])],
      want: streamError("protocolError"),
    },
    { name: "an empty content-length", given: [post(1, ["content-length", ""])], want: streamError("protocolError") },
    {
      name: "the same content-length twice",
      given: [post(1, ["content-length", "1"], ["content-length", "1"]), lastData(1, "a")],
      want: answered(1, 1),
    },
    {
      name: "two content-lengths that differ",
      given: [post(1, ["content-length", "1"], ["content-length", "2"])],
      want: streamError("protocolError"),
    },
    {
      name: "padding does not count",
      given: [post(1, ["content-length", "1"]), data(1, padded("a", 9), FLAG.padded | FLAG.endStream)],
      want: answered(1, 1),
    },
  ],
  "8.2": [malformed("a field name with capital letters", [...GET, ["X-TEST", "ok"]], "http2/8.1.2/1")],
  "8.2.1": [
    malformed("a field name with a space", [...GET, ["a b", "c"]]),
    malformed("a field name with a colon", [...GET, ["a:b", "c"]]),
    malformed("an empty field name", [...GET, ["", "c"]]),
    malformed("a field value with CR", [...GET, ["a", "b\rc"]]),
    malformed("a field value with LF", [...GET, ["a", "b\nc"]]),
    malformed("a field value with NUL", [...GET, ["a", "b\0c"]]),
    malformed("a field value that starts with a space", [...GET, ["a", " b"]]),
    malformed("a field value that ends with a tab", [...GET, ["a", "b\t"]]),
    malformed("a :path with LF", [...without(":path"), [":path", "/\n"]]),
    wellFormed("spaces inside a field value", [...GET, ["a", "b \t c"]], { a: "b \t c" }),
    wellFormed("an empty field value", [...GET, ["a", ""]], { a: "" }),
  ],
  "8.2.2": [
    malformed("connection", [...GET, ["connection", "keep-alive"]], "http2/8.1.2.2/1"),
    malformed("keep-alive", [...GET, ["keep-alive", "1"]]),
    malformed("proxy-connection", [...GET, ["proxy-connection", "close"]]),
    malformed("transfer-encoding", [...GET, ["transfer-encoding", "chunked"]]),
    malformed("upgrade", [...GET, ["upgrade", "h2c"]]),
    malformed("te other than trailers", [...GET, ["te", "trailers, deflate"]], "http2/8.1.2.2/2"),
    wellFormed("te: trailers", [...GET, ["te", "trailers"]], { te: "trailers" }),
  ],
  "8.2.3": [
    wellFormed("cookies in several fields are joined", [...GET, ["cookie", "a=1"], ["cookie", "b=2"]], {
      cookie: "a=1; b=2",
    }),
  ],
  "8.3": [
    malformed("an unknown pseudo-header field", [...GET, [":test", "ok"]], "http2/8.1.2.1/1"),
    malformed("a pseudo-header field of responses", [...GET, [":status", "200"]], "http2/8.1.2.1/2"),
    malformed(
      "a pseudo-header field after a regular field",
      [...without(":path"), ["a", "b"], [":path", "/"]],
      "http2/8.1.2.1/4",
    ),
  ],
  "8.3.1": [
    malformed("an empty :path", [...without(":path"), [":path", ""]], "http2/8.1.2.3/1"),
    malformed("no :method", without(":method"), "http2/8.1.2.3/2"),
    malformed("no :scheme", without(":scheme"), "http2/8.1.2.3/3"),
    malformed("no :path", without(":path"), "http2/8.1.2.3/4"),
    malformed("two :method", [[":method", "GET"], ...GET], "http2/8.1.2.3/5"),
    malformed("two :scheme", [[":scheme", "https"], ...GET], "http2/8.1.2.3/6"),
    malformed("two :path", [[":path", "/"], ...GET], "http2/8.1.2.3/7"),
    wellFormed("no :authority", without(":authority"), { ":path": "/" }),
  ],
  "8.5": [
    malformed("CONNECT is not served", [
      [":method", "CONNECT"],
      [":authority", "host:1"],
    ]),
  ],
  "10.5": [
    {
      name: "hundreds of settings in a frame",
      given: [settings(...Array.from({ length: 300 }, (_, i) => [SETTING.initialWindowSize, i] as const))],
      want: connectionError("enhanceYourCalm"),
    },
    {
      name: "empty DATA frames without end",
      given: [post(1), ...Array.from({ length: 1_001 }, () => data(1))],
      want: connectionError("enhanceYourCalm", 1),
    },
  ],
  "10.5.1": [
    {
      name: "a field section over the limit",
      given: [
        headers(1, GET, FLAG.endStream),
        ...Array.from({ length: 5 }, (_, i) =>
          continuation(1, fieldBlock([["a", "v".repeat(16_000)]]), i === 4 ? FLAG.endHeaders : 0),
        ),
      ],
      want: ["headers 1: 431", "data 1: 0 end"],
    },
    {
      name: "a small field block that decodes into a large field section",
      given: [frame(FRAME.headers, REQUEST, 1, bomb), get(3)],
      want: ["headers 1: 431", "data 1: 0 end", ...answered(3)],
    },
    {
      name: "a field section over the limit, with a body",
      given: [frame(FRAME.headers, FLAG.endHeaders, 1, bomb), data(1, "body")],
      want: ["headers 1: 431", "data 1: 0 end", "reset 1: noError"],
    },
    {
      name: "CONTINUATION frames without end, large",
      given: [headers(1, GET, 0), ...Array.from({ length: 9 }, () => continuation(1, Buffer.alloc(16_000), 0))],
      want: connectionError("enhanceYourCalm"),
    },
    {
      name: "CONTINUATION frames without end, of a byte each",
      given: [headers(1, GET, 0), ...Array.from({ length: 1_001 }, () => continuation(1, "a", 0))],
      want: connectionError("enhanceYourCalm"),
    },
    {
      name: "CONTINUATION frames without end, empty",
      given: [headers(1, GET, 0), ...Array.from({ length: 1_001 }, () => continuation(1, "", 0))],
      want: connectionError("enhanceYourCalm"),
    },
  ],
};
