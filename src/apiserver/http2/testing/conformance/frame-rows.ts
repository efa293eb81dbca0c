/** RFC 9113, sections 6 and 7: the types of frames, and error codes. */
import { FLAG, FRAME, MAX_WINDOW, SETTING } from "../../codes.ts";
import { uint32 } from "../../payloads.ts";
import {
  continuation,
  data,
  fieldBlock,
  frame,
  GET,
  get,
  goAway,
  headers,
  lastData,
  padded,
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
const withPriority = (dependency: number, weight: number) =>
  frame(FRAME.headers, REQUEST | FLAG.priority, 1, Buffer.concat([uint32(dependency), Buffer.from([weight]), block]));
const EXCLUSIVE = 2 ** 31;
const UNKNOWN_CODE = 0xff;

export const frameRows: Rows = {
  "6.1": [
    { name: "one frame", h2spec: ["generic/3.1/1"], given: [post(1), lastData(1, "test")], want: answered(1, 4) },
    {
      name: "several frames",
      h2spec: ["generic/3.1/2"],
      given: [post(1), data(1, "test"), lastData(1, "test")],
      want: answered(1, 8),
    },
    {
      name: "padding",
      h2spec: ["generic/3.1/3"],
      given: [post(1), data(1, padded("abc", 255), FLAG.padded | FLAG.endStream)],
      want: answered(1, 3),
    },
    {
      name: "padding only",
      given: [post(1), data(1, padded("", 5), FLAG.padded), lastData(1)],
      want: answered(1),
    },
    { name: "on stream 0", h2spec: ["http2/6.1/1"], given: [data(0, "a")], want: connectionError("protocolError") },
    {
      name: "on a stream that is neither open nor half-closed (local)",
      h2spec: ["http2/6.1/2"],
      given: [get(1), data(1, "test")],
      want: streamError("streamClosed"),
      unanswered: true,
    },
    {
      name: "padding longer than the payload",
      h2spec: ["http2/6.1/3"],
      given: [post(1), data(1, Buffer.from([9, 0]), FLAG.padded)],
      want: connectionError("protocolError", 1),
    },
    {
      name: "PADDED without a pad length",
      given: [post(1), data(1, "", FLAG.padded)],
      want: connectionError("frameSizeError", 1),
    },
  ],
  "6.2": [
    { name: "a request", h2spec: ["generic/3.2/1"], given: [get(1)], want: answered(1) },
    {
      name: "padding",
      h2spec: ["generic/3.2/2"],
      given: [frame(FRAME.headers, REQUEST | FLAG.padded, 1, padded(block, 9))],
      want: answered(1),
    },
    { name: "priority", h2spec: ["generic/3.2/3"], given: [withPriority(0, 15)], want: answered(1) },
    {
      name: "padding and priority",
      given: [
        frame(
          FRAME.headers,
          REQUEST | FLAG.padded | FLAG.priority,
          1,
          padded(Buffer.concat([uint32(0), Buffer.from([15]), block]), 255),
        ),
      ],
      want: answered(1),
    },
    {
      name: "PRIORITY before the block has ended",
      h2spec: ["http2/6.2/1"],
      given: [headers(1, GET, FLAG.endStream), priority(1)],
      want: connectionError("protocolError"),
    },
    {
      name: "HEADERS of another stream before the block has ended",
      h2spec: ["http2/6.2/2"],
      given: [headers(1, GET, FLAG.endStream), get(3)],
      want: connectionError("protocolError"),
    },
    { name: "on stream 0", h2spec: ["http2/6.2/3"], given: [get(0)], want: connectionError("protocolError") },
    {
      name: "padding longer than the payload",
      h2spec: ["http2/6.2/4"],
      given: [frame(FRAME.headers, REQUEST | FLAG.padded, 1, Buffer.concat([Buffer.from([200]), block]))],
      want: connectionError("protocolError"),
    },
    {
      name: "PADDED without a pad length",
      given: [frame(FRAME.headers, REQUEST | FLAG.padded, 1)],
      want: connectionError("frameSizeError"),
    },
    {
      name: "PRIORITY with half of its fields",
      given: [frame(FRAME.headers, REQUEST | FLAG.priority, 1, zeros(3))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.3": [
    { name: "weight 1", h2spec: ["generic/3.3/1"], given: [priority(1, 0, 0), get(1)], want: answered(1) },
    { name: "weight 256", h2spec: ["generic/3.3/2"], given: [priority(1, 0, 255), get(1)], want: answered(1) },
    { name: "a dependency", h2spec: ["generic/3.3/3"], given: [priority(1, 3), get(1)], want: answered(1) },
    {
      name: "an exclusive dependency",
      h2spec: ["generic/3.3/4"],
      given: [priority(1, EXCLUSIVE + 3), get(1)],
      want: answered(1),
    },
    {
      name: "on an idle stream, then HEADERS with a lower number",
      h2spec: ["generic/3.3/5"],
      given: [priority(7), get(5)],
      want: answered(5),
    },
    { name: "on stream 0", h2spec: ["http2/6.3/1"], given: [priority(0)], want: connectionError("protocolError") },
    {
      name: "a length other than 5",
      h2spec: ["http2/6.3/2"],
      given: [frame(FRAME.priority, 0, 1, zeros(4))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.4": [
    {
      name: "ends a stream",
      h2spec: ["generic/3.4/1"],
      given: [post(1), rstStream(1), get(3)],
      want: answered(3),
    },
    { name: "on stream 0", h2spec: ["http2/6.4/1"], given: [rstStream(0)], want: connectionError("protocolError") },
    {
      name: "on an idle stream",
      h2spec: ["http2/6.4/2"],
      given: [rstStream(1)],
      want: connectionError("protocolError"),
    },
    {
      name: "a length other than 4",
      h2spec: ["http2/6.4/3"],
      given: [post(1), frame(FRAME.rstStream, 0, 1, zeros(3))],
      want: connectionError("frameSizeError", 1),
    },
  ],
  "6.5": [
    { name: "are acknowledged", h2spec: ["generic/3.5/1"], given: [settings()], want: ["settings ack"] },
    { name: "an acknowledgement is not acknowledged", given: [settingsAck], want: [] },
    {
      name: "an acknowledgement with a payload",
      h2spec: ["http2/6.5/1"],
      given: [frame(FRAME.settings, FLAG.ack, 0, zeros(6))],
      want: connectionError("frameSizeError"),
    },
    {
      name: "on a stream",
      h2spec: ["http2/6.5/2"],
      given: [frame(FRAME.settings, 0, 1)],
      want: connectionError("protocolError"),
    },
    {
      name: "a length that is not a multiple of 6",
      h2spec: ["http2/6.5/3"],
      given: [frame(FRAME.settings, 0, 0, zeros(5))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.5.2": [
    {
      name: "SETTINGS_ENABLE_PUSH other than 0 and 1",
      h2spec: ["http2/6.5.2/1"],
      given: [settings([SETTING.enablePush, 2])],
      want: connectionError("protocolError"),
    },
    {
      name: "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1",
      h2spec: ["http2/6.5.2/2"],
      given: [settings([SETTING.initialWindowSize, 2 ** 31])],
      want: connectionError("flowControlError"),
    },
    {
      name: "SETTINGS_MAX_FRAME_SIZE below 2^14",
      h2spec: ["http2/6.5.2/3"],
      given: [settings([SETTING.maxFrameSize, 16_383])],
      want: connectionError("protocolError"),
    },
    {
      name: "SETTINGS_MAX_FRAME_SIZE above 2^24-1",
      h2spec: ["http2/6.5.2/4"],
      given: [settings([SETTING.maxFrameSize, 2 ** 24])],
      want: connectionError("protocolError"),
    },
    {
      name: "an unknown setting is ignored",
      h2spec: ["http2/6.5.2/5"],
      given: [settings([0xff, 1]), ping()],
      want: ["settings ack", PONG],
    },
    {
      name: "the limits themselves are accepted",
      given: [
        settings(
          [SETTING.enablePush, 1],
          [SETTING.maxFrameSize, 16_384],
          [SETTING.maxFrameSize, 2 ** 24 - 1],
          [SETTING.initialWindowSize, MAX_WINDOW],
        ),
      ],
      want: ["settings ack"],
    },
  ],
  "6.5.3": [
    {
      name: "of several values of one setting the last applies",
      h2spec: ["http2/6.5.3/1"],
      given: [settings([SETTING.initialWindowSize, 100], [SETTING.initialWindowSize, 1]), get(1, ["x-answer", "2"])],
      want: ["settings ack", "headers 1: 200", "data 1: 1"],
    },
    {
      name: "each frame is acknowledged",
      h2spec: ["http2/6.5.3/2"],
      given: [settings(), settings([SETTING.headerTableSize, 0])],
      want: ["settings ack", "settings ack"],
    },
  ],
  "6.6": [
    {
      name: "PUSH_PROMISE of a client",
      h2spec: ["http2/8.2/1"],
      given: [post(1), frame(FRAME.pushPromise, FLAG.endHeaders, 1, zeros(4))],
      want: connectionError("protocolError", 1),
    },
  ],
  "6.7": [
    {
      name: "is acknowledged with its payload",
      h2spec: ["generic/3.7/1", "http2/6.7/1"],
      given: [ping("abcdefgh")],
      want: ["ping ack abcdefgh"],
    },
    {
      name: "an acknowledgement is not acknowledged",
      h2spec: ["http2/6.7/2"],
      given: [frame(FRAME.ping, FLAG.ack, 0, "invalid!"), ping()],
      want: [PONG],
    },
    {
      name: "on a stream",
      h2spec: ["http2/6.7/3"],
      given: [frame(FRAME.ping, 0, 1, zeros(8))],
      want: connectionError("protocolError"),
    },
    {
      name: "a length other than 8",
      h2spec: ["http2/6.7/4"],
      given: [frame(FRAME.ping, 0, 0, zeros(7))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.8": [
    {
      name: "of the client: its requests are answered",
      h2spec: ["generic/3.8/1"],
      given: [goAway(), get(1)],
      want: answered(1),
    },
    {
      name: "on a stream",
      h2spec: ["http2/6.8/1"],
      given: [frame(FRAME.goAway, 0, 1, zeros(8))],
      want: connectionError("protocolError"),
    },
    {
      name: "a length below 8",
      given: [frame(FRAME.goAway, 0, 0, zeros(7))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.9": [
    { name: "of the connection", h2spec: ["generic/3.9/1"], given: [windowUpdate(0, 1), get(1)], want: answered(1) },
    {
      name: "of a stream",
      h2spec: ["generic/3.9/2"],
      given: [settings([SETTING.initialWindowSize, 0]), get(1), windowUpdate(1, 1)],
      want: ["settings ack", ...answered(1)],
    },
    {
      name: "an increment of 0",
      h2spec: ["http2/6.9/1"],
      given: [windowUpdate(0, 0)],
      want: connectionError("protocolError"),
    },
    {
      name: "an increment of 0, of a stream",
      h2spec: ["http2/6.9/2"],
      given: [post(1), windowUpdate(1, 0)],
      want: streamError("protocolError"),
    },
    {
      name: "a length other than 4",
      h2spec: ["http2/6.9/3"],
      given: [frame(FRAME.windowUpdate, 0, 0, zeros(3))],
      want: connectionError("frameSizeError"),
    },
  ],
  "6.9.1": [
    {
      name: "DATA is not longer than the window",
      h2spec: ["http2/6.9.1/1"],
      given: [settings([SETTING.initialWindowSize, 1]), get(1, ["x-answer", "5"])],
      want: ["settings ack", "headers 1: 200", "data 1: 1"],
    },
    {
      name: "a window above 2^31-1",
      h2spec: ["http2/6.9.1/2"],
      given: [windowUpdate(0, MAX_WINDOW), windowUpdate(0, MAX_WINDOW)],
      want: connectionError("flowControlError"),
    },
    {
      name: "a window above 2^31-1, of a stream",
      h2spec: ["http2/6.9.1/3"],
      given: [post(1), windowUpdate(1, MAX_WINDOW)],
      want: streamError("flowControlError"),
    },
    {
      name: "DATA of the client beyond the window of its stream",
      given: [post(1), ...Array.from({ length: 17 }, () => data(1, zeros(16_000)))],
      want: streamError("flowControlError"),
      unanswered: true,
    },
  ],
  "6.9.2": [
    {
      name: "a new initial size widens streams that are open",
      h2spec: ["http2/6.9.2/1"],
      given: [settings([SETTING.initialWindowSize, 0]), get(1, ["x-answer", "1"])],
      afterwards: [settings([SETTING.initialWindowSize, 1])],
      want: ["settings ack", "headers 1: 200", "settings ack", "data 1: 1 end"],
    },
    {
      name: "a window may become negative",
      h2spec: ["http2/6.9.2/2"],
      given: [settings([SETTING.initialWindowSize, 3]), get(1, ["x-answer", "6"])],
      afterwards: [settings([SETTING.initialWindowSize, 2]), windowUpdate(1, 2)],
      want: ["settings ack", "headers 1: 200", "data 1: 3", "settings ack", "data 1: 1"],
    },
    {
      name: "a window of a stream above 2^31-1 by SETTINGS",
      h2spec: ["http2/6.9.2/3"],
      given: [post(1), windowUpdate(1, MAX_WINDOW - 65_535), settings([SETTING.initialWindowSize, 65_536])],
      want: connectionError("flowControlError", 1),
    },
  ],
  "6.10": [
    {
      name: "one",
      h2spec: ["generic/3.10/1"],
      given: [frame(FRAME.headers, FLAG.endStream, 1, block.subarray(0, 9)), continuation(1, block.subarray(9))],
      want: answered(1),
    },
    {
      name: "several",
      h2spec: ["generic/3.10/2", "http2/6.10/1"],
      given: [
        frame(FRAME.headers, FLAG.endStream, 1, block.subarray(0, 9)),
        continuation(1, block.subarray(9, 12), 0),
        continuation(1, block.subarray(12)),
      ],
      want: answered(1),
    },
    {
      name: "empty ones",
      given: [
        frame(FRAME.headers, FLAG.endStream, 1),
        continuation(1, "", 0),
        continuation(1, block, 0),
        continuation(1),
      ],
      want: answered(1),
    },
    {
      name: "another frame in between",
      h2spec: ["http2/6.10/2"],
      given: [headers(1, GET, 0), continuation(1, fieldBlock([["a", "b"]]), 0), ping()],
      want: connectionError("protocolError"),
    },
    {
      name: "on stream 0",
      h2spec: ["http2/6.10/3"],
      given: [headers(1, GET, 0), continuation(0)],
      want: connectionError("protocolError"),
    },
    {
      name: "on another stream",
      given: [headers(1, GET, 0), continuation(3)],
      want: connectionError("protocolError"),
    },
    {
      name: "after HEADERS with END_HEADERS",
      h2spec: ["http2/6.10/4"],
      given: [post(1), continuation(1, fieldBlock([["a", "b"]]))],
      want: connectionError("protocolError", 1),
    },
    {
      name: "after CONTINUATION with END_HEADERS",
      h2spec: ["http2/6.10/5"],
      given: [headers(1, GET, 0), continuation(1), continuation(1, fieldBlock([["a", "b"]]))],
      want: connectionError("protocolError", 1),
    },
    {
      name: "after DATA",
      h2spec: ["http2/6.10/6"],
      given: [post(1), data(1, "test"), continuation(1, fieldBlock([["a", "b"]]))],
      want: connectionError("protocolError", 1),
    },
  ],
  "7": [
    {
      name: "GOAWAY with an unknown error code is accepted",
      h2spec: ["http2/7/1"],
      given: [goAway(UNKNOWN_CODE), ping()],
      want: [PONG],
    },
    {
      name: "RST_STREAM with an unknown error code ends the stream",
      h2spec: ["http2/7/2"],
      given: [post(1), rstStream(1, UNKNOWN_CODE), ping()],
      want: [PONG],
    },
  ],
};
