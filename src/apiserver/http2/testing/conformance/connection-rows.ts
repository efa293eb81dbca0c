/** RFC 9113, sections 3 to 5: starting, frames, streams. */
import { FLAG, FRAME, PREFACE, SETTING } from "../../codes.ts";
import {
  continuation,
  data,
  fieldBlock,
  frame,
  GET,
  get,
  headers,
  lastData,
  ping,
  post,
  priority,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../frames.ts";
import { answered, connectionError, PONG, type Rows, streamError } from "./row.ts";

const REQUEST = FLAG.endHeaders | FLAG.endStream;
const block = fieldBlock(GET);
const zeros = (bytes: number) => Buffer.alloc(bytes);
/** What the server sends first. */
const GREETING = ["settings", "window 0: +16711681"];

export const connectionRows: Rows = {
  "3.4": [
    {
      name: "the preface and SETTINGS open a connection",
      h2spec: ["generic/1/1", "http2/3.5/1"],
      unopened: true,
      given: [PREFACE, settings(), get(1)],
      want: [...GREETING, "settings ack", ...answered(1)],
    },
    {
      name: "an invalid preface",
      h2spec: ["http2/3.5/2"],
      unopened: true,
      given: [Buffer.from("INVALID CONNECTION PREFACE\r\n\r\n")],
      want: [...GREETING, ...connectionError("protocolError")],
    },
    {
      name: "a preface with one wrong byte",
      unopened: true,
      given: [Buffer.from("PRI * HTTP/2.1")],
      want: [...GREETING, ...connectionError("protocolError")],
    },
    {
      name: "an HTTP/1.1 request",
      unopened: true,
      given: [Buffer.from("GET / HTTP/1.1\r\n\r\n")],
      want: [...GREETING, ...connectionError("protocolError")],
    },
    {
      name: "a PING as the first frame",
      unopened: true,
      given: [PREFACE, ping()],
      want: [...GREETING, ...connectionError("protocolError")],
    },
    {
      name: "HEADERS as the first frame",
      unopened: true,
      given: [PREFACE, get(1)],
      want: [...GREETING, ...connectionError("protocolError")],
    },
    {
      name: "an acknowledgement of SETTINGS as the first frame",
      unopened: true,
      given: [PREFACE, settingsAck],
      want: [...GREETING, ...connectionError("protocolError")],
    },
  ],
  "4.1": [
    {
      name: "a frame of unknown type is ignored",
      h2spec: ["http2/4.1/1"],
      given: [frame(99, 0xff, 7, "any"), ping()],
      want: [PONG],
    },
    {
      name: "undefined flags are ignored",
      h2spec: ["http2/4.1/2"],
      given: [frame(FRAME.ping, 0xfe, 0, "12345678")],
      want: [PONG],
    },
    { name: "undefined flags of HEADERS are ignored", given: [headers(1, GET, REQUEST | 0xc2)], want: answered(1) },
    {
      name: "the reserved bit is ignored",
      h2spec: ["http2/4.1/3"],
      given: [frame(FRAME.ping, 0, 2 ** 31, "12345678")],
      want: [PONG],
    },
  ],
  "4.2": [
    {
      name: "a DATA frame of 2^14 bytes",
      h2spec: ["http2/4.2/1"],
      given: [post(1), lastData(1, zeros(16_384))],
      want: answered(1, 16_384),
    },
    {
      name: "a DATA frame over SETTINGS_MAX_FRAME_SIZE",
      h2spec: ["http2/4.2/2"],
      given: [post(1), data(1, zeros(16_385))],
      want: connectionError("frameSizeError", 1),
    },
    {
      name: "a HEADERS frame over SETTINGS_MAX_FRAME_SIZE",
      h2spec: ["http2/4.2/3"],
      given: [get(1, ["a", "v".repeat(16_384)])],
      want: connectionError("frameSizeError"),
    },
    {
      name: "a frame of unknown type over SETTINGS_MAX_FRAME_SIZE",
      given: [frame(99, 0, 0, zeros(16_385))],
      want: connectionError("frameSizeError"),
    },
  ],
  "4.3": [
    {
      name: "a field block that cannot be decoded",
      h2spec: ["http2/4.3/1"],
      given: [frame(FRAME.headers, REQUEST, 1, zeros(1))],
      want: connectionError("compressionError"),
    },
    {
      name: "PRIORITY inside a field block",
      h2spec: ["http2/4.3/2"],
      given: [headers(1, GET, FLAG.endStream), priority(1), continuation(1)],
      want: connectionError("protocolError"),
    },
    {
      name: "HEADERS of another stream inside a field block",
      h2spec: ["http2/4.3/3"],
      given: [headers(1, GET, FLAG.endStream), get(3), continuation(1)],
      want: connectionError("protocolError"),
    },
  ],
  "4.3.1": [
    {
      name: "the table outlives a refused request",
      given: [
        // A request without pseudo-header fields adds `a: 1` to the table; the next one names it by its index.
        frame(FRAME.headers, REQUEST, 1, Buffer.from([0x40, 1, 0x61, 1, 0x31])),
        frame(FRAME.headers, REQUEST, 3, Buffer.concat([block, Buffer.from([0xbe])])),
      ],
      want: [...streamError("protocolError"), ...answered(3)],
      fields: { a: "1" },
    },
    {
      name: "the table outlives a block of a closed stream",
      given: [
        post(1),
        rstStream(1),
        frame(FRAME.headers, REQUEST, 1, Buffer.from([0x40, 1, 0x61, 1, 0x31])),
        frame(FRAME.headers, REQUEST, 3, Buffer.concat([block, Buffer.from([0xbe])])),
      ],
      want: [...streamError("streamClosed"), ...answered(3)],
      fields: { a: "1" },
    },
  ],
  "5.1": [
    {
      name: "idle: PRIORITY is allowed",
      h2spec: ["generic/2/1"],
      given: [priority(1), get(1)],
      want: answered(1),
    },
    { name: "idle: DATA", h2spec: ["http2/5.1/1"], given: [data(1, "a")], want: connectionError("protocolError") },
    {
      name: "idle: RST_STREAM",
      h2spec: ["http2/5.1/2"],
      given: [rstStream(1)],
      want: connectionError("protocolError"),
    },
    {
      name: "idle: WINDOW_UPDATE",
      h2spec: ["http2/5.1/3"],
      given: [windowUpdate(1, 100)],
      want: connectionError("protocolError"),
    },
    {
      name: "idle: CONTINUATION",
      h2spec: ["http2/5.1/4"],
      given: [continuation(1, block)],
      want: connectionError("protocolError"),
    },
    {
      name: "idle: DATA on a stream of the server",
      given: [post(5), data(2, "a")],
      want: connectionError("protocolError", 5),
    },
    {
      name: "idle: WINDOW_UPDATE on a stream of the server",
      given: [post(5), windowUpdate(4, 1)],
      want: connectionError("protocolError", 5),
    },
    {
      name: "half-closed (remote): WINDOW_UPDATE is allowed",
      h2spec: ["generic/2/2"],
      given: [get(1), windowUpdate(1, 1)],
      want: answered(1),
    },
    {
      name: "half-closed (remote): PRIORITY is allowed",
      h2spec: ["generic/2/3"],
      given: [get(1), priority(1)],
      want: answered(1),
    },
    {
      name: "half-closed (remote): RST_STREAM is allowed",
      h2spec: ["generic/2/4"],
      given: [get(1), rstStream(1), ping()],
      want: [PONG],
      unanswered: true,
    },
    {
      name: "half-closed (remote): DATA",
      h2spec: ["http2/5.1/5"],
      given: [get(1), data(1, "test")],
      want: streamError("streamClosed"),
      unanswered: true,
    },
    {
      name: "half-closed (remote): DATA after DATA with END_STREAM",
      given: [post(1), lastData(1, "a"), data(1, "b")],
      want: streamError("streamClosed"),
      unanswered: true,
    },
    {
      name: "half-closed (remote): HEADERS",
      h2spec: ["http2/5.1/6"],
      given: [get(1), get(1)],
      want: streamError("streamClosed"),
      unanswered: true,
    },
    {
      name: "half-closed (remote): CONTINUATION",
      h2spec: ["http2/5.1/7"],
      given: [get(1), continuation(1, block)],
      want: connectionError("protocolError", 1),
      unanswered: true,
    },
    {
      name: "closed by RST_STREAM: DATA",
      h2spec: ["http2/5.1/8"],
      given: [post(1), rstStream(1), data(1, "test"), get(3)],
      want: [...streamError("streamClosed"), ...answered(3)],
    },
    {
      name: "closed by RST_STREAM: HEADERS",
      h2spec: ["http2/5.1/9"],
      given: [post(1), rstStream(1), get(1), get(3)],
      want: [...streamError("streamClosed"), ...answered(3)],
    },
    {
      name: "closed by RST_STREAM: trailers",
      given: [post(1), rstStream(1), headers(1, [["x", "y"]], REQUEST), ping()],
      want: [...streamError("streamClosed"), PONG],
    },
    {
      name: "closed by RST_STREAM: CONTINUATION",
      h2spec: ["http2/5.1/10"],
      given: [post(1), rstStream(1), continuation(1, block)],
      want: connectionError("protocolError", 1),
    },
    {
      name: "closed by RST_STREAM: WINDOW_UPDATE and RST_STREAM are allowed",
      given: [post(1), rstStream(1), windowUpdate(1, 1), rstStream(1), get(3)],
      want: answered(3),
    },
    {
      name: "closed by END_STREAM on both sides: DATA",
      h2spec: ["http2/5.1/11"],
      given: [get(1)],
      afterwards: [data(1, "test")],
      want: [...answered(1), ...connectionError("streamClosed", 1)],
    },
    {
      name: "closed by END_STREAM on both sides: HEADERS",
      h2spec: ["http2/5.1/12"],
      given: [get(1)],
      afterwards: [get(1)],
      want: [...answered(1), ...connectionError("streamClosed", 1)],
    },
    {
      name: "closed by END_STREAM on both sides: CONTINUATION",
      h2spec: ["http2/5.1/13"],
      given: [get(1)],
      afterwards: [continuation(1, block)],
      want: [...answered(1), ...connectionError("protocolError", 1)],
    },
    {
      name: "closed by END_STREAM on both sides: PRIORITY is allowed",
      h2spec: ["generic/2/5"],
      given: [get(1)],
      afterwards: [priority(1), ping()],
      want: [...answered(1), PONG],
    },
    {
      name: "closed by END_STREAM on both sides: WINDOW_UPDATE and RST_STREAM are allowed",
      given: [get(1)],
      afterwards: [windowUpdate(1, 1), rstStream(1), ping()],
      want: [...answered(1), PONG],
    },
    {
      name: "closed by the server: frames on their way are discarded",
      given: [post(1, ["content-length", "1"]), data(1, "ab"), data(1, "c"), headers(1, [["x", "y"]], REQUEST), ping()],
      want: [...streamError("protocolError"), PONG],
    },
  ],
  "5.1.1": [
    { name: "an even number", h2spec: ["http2/5.1.1/1"], given: [get(2)], want: connectionError("protocolError") },
    {
      name: "a number below an earlier one",
      h2spec: ["http2/5.1.1/2"],
      given: [post(5), get(3)],
      want: connectionError("protocolError", 5),
    },
    { name: "skipped numbers are allowed", given: [get(1), get(7)], want: [...answered(1), ...answered(7)] },
  ],
  "5.1.2": [
    {
      name: "a stream over SETTINGS_MAX_CONCURRENT_STREAMS",
      h2spec: ["http2/5.1.2/1"],
      given: Array.from({ length: 1_001 }, (_, i) => get(2 * i + 1)),
      want: streamError("refusedStream", 2001),
      unanswered: true,
    },
  ],
  "5.3.1": [
    {
      name: "HEADERS that depend on their own stream",
      h2spec: ["http2/5.3.1/1"],
      given: [frame(FRAME.headers, REQUEST | FLAG.priority, 1, Buffer.concat([Buffer.from([0, 0, 0, 1, 255]), block]))],
      want: connectionError("protocolError"),
    },
    {
      name: "PRIORITY that depends on its own stream",
      h2spec: ["http2/5.3.1/2"],
      given: [priority(1, 1)],
      want: connectionError("protocolError"),
    },
  ],
  "5.4.1": [
    {
      name: "a connection error closes the connection, with GOAWAY first",
      h2spec: ["http2/5.4.1/1", "http2/5.4.1/2"],
      given: [get(1)],
      afterwards: [frame(FRAME.ping, 0, 0, "1234")],
      want: [...answered(1), ...connectionError("frameSizeError", 1)],
    },
  ],
  "5.4.2": [
    {
      name: "a stream error leaves other streams alone",
      given: [post(1), post(3), windowUpdate(1, 0), lastData(3, "abc")],
      want: [...streamError("protocolError"), ...answered(3, 3)],
    },
    {
      name: "RST_STREAM is not answered with RST_STREAM",
      given: [post(1), rstStream(1), rstStream(1), ping()],
      want: [PONG],
    },
  ],
  "5.5": [
    {
      name: "an unknown extension frame is ignored",
      h2spec: ["http2/5.5/1"],
      given: [frame(0xfa, 0, 0, "extension"), ping()],
      want: [PONG],
    },
    {
      name: "an unknown extension frame inside a field block",
      h2spec: ["http2/5.5/2"],
      given: [headers(1, GET, 0), frame(0xfa, 0, 0, "extension"), continuation(1)],
      want: connectionError("protocolError"),
    },
    { name: "an unknown setting is ignored", given: [settings([0x99, 5])], want: ["settings ack"] },
  ],
  "5.2": [
    {
      name: "an answer waits for the stream's window",
      given: [settings([SETTING.initialWindowSize, 3]), get(1, ["x-answer", "5"])],
      afterwards: [windowUpdate(1, 2)],
      want: ["settings ack", "headers 1: 200", "data 1: 3", "data 1: 2 end"],
    },
  ],
};
