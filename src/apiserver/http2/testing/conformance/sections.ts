/**
 * The sections of RFC 9113 and RFC 7541, and what covers each: rows of this folder, tests elsewhere, or the reason why
 * there is nothing to test on this server. docs/http2-conformance.md is written from this list.
 */
import { connectionRows } from "./connection-rows.ts";
import { frameRows } from "./frame-rows.ts";
import { hpackRows } from "./hpack-rows.ts";
import { messageRows } from "./message-rows.ts";
import type { Rows } from "./row.ts";

export interface Section {
  readonly section: string;
  readonly title: string;
  /** Tests outside this folder: the file, from src/apiserver, and the test's name as it is written there. */
  readonly tests?: readonly (readonly [file: string, test: string])[];
  /** Why nothing, or no more, is tested. */
  readonly why?: string;
}

export interface Specification {
  readonly rfc: string;
  readonly title: string;
  readonly rows: Rows;
  readonly sections: readonly Section[];
}

const flow = "http2/connection-flow.test.ts";
const abuse = "http2/connection-abuse.test.ts";
const idle = "http2/connection-idle.test.ts";
const beginning = "http2/connection-start.test.ts";
const decoder = "http2/hpack/decoder.test.ts";
const encoder = "http2/hpack/encoder.test.ts";

const NO_PUSH = "The server never pushes.";

export const specifications: readonly Specification[] = [
  {
    rfc: "RFC 9113",
    title: "HTTP/2",
    rows: { ...connectionRows, ...frameRows, ...messageRows },
    sections: [
      {
        section: "3.1",
        title: "HTTP/2 Version Identification",
        why: "TLS only: `h2` is chosen with ALPN, see 3.2; there is no `h2c`.",
      },
      {
        section: "3.2",
        title: 'Starting HTTP/2 for "https" URIs',
        tests: [["authn/connections.test.ts", "is refused over HTTP/2, and the server goes on"]],
      },
      { section: "3.3", title: "Starting HTTP/2 with Prior Knowledge", why: "TLS only." },
      {
        section: "3.4",
        title: "HTTP/2 Connection Preface",
        tests: [[beginning, "closes a connection whose client does not start it: %s"]],
      },
      { section: "4.1", title: "Frame Format" },
      { section: "4.2", title: "Frame Size" },
      { section: "4.3", title: "Field Section Compression and Decompression" },
      { section: "4.3.1", title: "Compression State" },
      { section: "5.1", title: "Stream States" },
      { section: "5.1.1", title: "Stream Identifiers" },
      {
        section: "5.1.2",
        title: "Stream Concurrency",
        tests: [[abuse, "of requests: at most a thousand at a time (5.1.2)"]],
      },
      { section: "5.2", title: "Flow Control", tests: [[flow, "waits for the connection's window"]] },
      { section: "5.2.1", title: "Flow-Control Principles", tests: [[flow, "opens its window for padding at once"]] },
      {
        section: "5.2.2",
        title: "Appropriate Use of Flow Control",
        tests: [[flow, "opens its window as it is read, and not before"]],
      },
      {
        section: "5.2.3",
        title: "Flow-Control Performance",
        tests: [[flow, "counts for the connection's window, also if it is discarded"]],
      },
      { section: "5.3.1", title: "Background on Priority in RFC 7540" },
      {
        section: "5.3.2",
        title: "Priority Signaling in This Document",
        why: "Priorities are checked for their form and ignored: streams send a frame each in turn.",
        tests: [[flow, "send a frame each in turn"]],
      },
      {
        section: "5.4.1",
        title: "Connection Error Handling",
        tests: [[abuse, "is disconnected after a connection error, without reading GOAWAY"]],
      },
      { section: "5.4.2", title: "Stream Error Handling" },
      { section: "5.4.3", title: "Connection Termination", tests: [[flow, "when the connection is lost"]] },
      { section: "5.5", title: "Extending HTTP/2" },
      { section: "6.1", title: "DATA" },
      { section: "6.2", title: "HEADERS", tests: [[flow, "with a head of several frames"]] },
      { section: "6.3", title: "PRIORITY" },
      { section: "6.4", title: "RST_STREAM", tests: [[flow, "when its client resets it"]] },
      { section: "6.5", title: "SETTINGS" },
      { section: "6.5.1", title: "SETTINGS Format", why: "Covered by 6.5 and 6.5.2." },
      { section: "6.5.2", title: "Defined Settings" },
      { section: "6.5.3", title: "Settings Synchronization" },
      { section: "6.6", title: "PUSH_PROMISE", why: NO_PUSH },
      { section: "6.7", title: "PING" },
      {
        section: "6.8",
        title: "GOAWAY",
        tests: [
          [flow, "finishes open requests, and accepts no more"],
          [flow, "does not raise the last stream of GOAWAY on a later connection error (6.8)"],
        ],
      },
      { section: "6.9", title: "WINDOW_UPDATE" },
      { section: "6.9.1", title: "The Flow-Control Window", tests: [[flow, "waits for the window of its stream"]] },
      {
        section: "6.9.2",
        title: "Initial Flow-Control Window Size",
        tests: [[flow, "waits while its window is negative (6.9.2)"]],
      },
      { section: "6.9.3", title: "Reducing the Stream Window Size", why: "The server never reduces its windows." },
      { section: "6.10", title: "CONTINUATION" },
      { section: "7", title: "Error Codes" },
      {
        section: "8.1",
        title: "HTTP Message Framing",
        tests: [[flow, "is not awaited once the answer is complete (8.1)"]],
      },
      { section: "8.1.1", title: "Malformed Messages" },
      { section: "8.2", title: "HTTP Fields" },
      { section: "8.2.1", title: "Field Validity" },
      { section: "8.2.2", title: "Connection-Specific Header Fields" },
      { section: "8.2.3", title: "Compressing the Cookie Header Field" },
      { section: "8.3", title: "HTTP Control Data" },
      {
        section: "8.3.1",
        title: "Request Pseudo-Header Fields",
        why: "As in Kubernetes, a `host` that differs from `:authority` is not refused; nothing depends on either.",
      },
      {
        section: "8.3.2",
        title: "Response Pseudo-Header Fields",
        tests: [[encoder, "writes the status $status in $bytes bytes, then in one"]],
      },
      { section: "8.4", title: "Server Push", why: NO_PUSH },
      { section: "8.5", title: "The CONNECT Method", why: "exec, attach and port-forward use HTTP/1.1 upgrades." },
      { section: "8.6", title: "The Upgrade Header Field", why: "See 8.2.2." },
      {
        section: "8.7",
        title: "Request Reliability",
        tests: [[idle, "reads requests that cross GOAWAY, and ends when the client does"]],
      },
      {
        section: "9.1",
        title: "Connection Management",
        tests: [[idle, "for hours, and is idle from the end of the last request on"]],
      },
      {
        section: "9.2",
        title: "Use of TLS Features",
        why: "TLS 1.2 or later with Node's ciphers; as in Kubernetes, weak ones are not refused for HTTP/2 alone.",
      },
      { section: "10.5", title: "Denial-of-Service Considerations", tests: [[abuse, "of %s"]] },
      { section: "10.5.1", title: "Limits on Field Block Size" },
    ],
  },
  {
    rfc: "RFC 7541",
    title: "HPACK",
    rows: hpackRows,
    sections: [
      {
        section: "2.1",
        title: "Header List Ordering",
        tests: [["http2/hpack/node-peer.test.ts", "reads the blocks that we write (%o)"]],
      },
      {
        section: "2.2",
        title: "Encoding and Decoding Contexts",
        tests: [[encoder, "is understood, with evictions and changes of size (seed $seed)"]],
      },
      {
        section: "2.3.2",
        title: "Dynamic Table",
        tests: [[encoder, "writes a byte for each field that was sent before, and what is new each time in full"]],
      },
      { section: "2.3.3", title: "Index Address Space" },
      {
        section: "3.1",
        title: "Header Block Processing",
        tests: [[decoder, "reads an empty block, and one with nothing but size updates"]],
      },
      {
        section: "4.1",
        title: "Calculating Table Size",
        tests: [[decoder, "starts with 4096 bytes, whatever our setting says, until the peer tells"]],
      },
      {
        section: "4.2",
        title: "Maximum Table Size",
        tests: [[encoder, "tells the table's size once when the peer allows $name"]],
      },
      { section: "4.3", title: "Entry Eviction When Dynamic Table Size Changes" },
      {
        section: "4.4",
        title: "Entry Eviction When Adding New Entries",
        tests: [[decoder, "takes the name of an entry that is evicted by the field itself"]],
      },
      { section: "5.1", title: "Integer Representation" },
      { section: "5.2", title: "String Literal Representation" },
      { section: "6.1", title: "Indexed Header Field Representation" },
      { section: "6.2.1", title: "Literal Header Field with Incremental Indexing" },
      { section: "6.2.2", title: "Literal Header Field without Indexing" },
      { section: "6.2.3", title: "Literal Header Field Never Indexed" },
      { section: "6.3", title: "Dynamic Table Size Update" },
      { section: "7.1.3", title: "Never-Indexed Literals", tests: [[encoder, "marks cookies as never to be indexed"]] },
      {
        section: "7.3",
        title: "Memory Consumption",
        tests: [[decoder, "does not let a small block become a large list"]],
      },
      {
        section: "7.4",
        title: "Implementation Limits",
        tests: [[decoder, "gives up a list that is too long, and stays in step"]],
      },
      {
        section: "A",
        title: "Static Table Definition",
        tests: [["http2/hpack/node-peer.test.ts", "reads the blocks that we write (%o)"]],
      },
      {
        section: "B",
        title: "Huffman Code",
        tests: [
          ["http2/hpack/node-peer.test.ts", "writes blocks that we read: every byte, with and without Huffman coding"],
        ],
      },
      { section: "C", title: "Examples", tests: [["http2/hpack/examples.test.ts", "$name"]] },
    ],
  },
];

/** The groups of h2spec's cases and how many cases each has. */
export const h2specCases: Readonly<Record<string, number>> = {
  "generic/1": 1,
  "generic/2": 5,
  "generic/3.1": 3,
  "generic/3.2": 3,
  "generic/3.3": 5,
  "generic/3.4": 1,
  "generic/3.5": 1,
  "generic/3.7": 1,
  "generic/3.8": 1,
  "generic/3.9": 2,
  "generic/3.10": 2,
  "generic/4": 4,
  "generic/5": 15,
  "http2/3.5": 2,
  "http2/4.1": 3,
  "http2/4.2": 3,
  "http2/4.3": 3,
  "http2/5.1": 13,
  "http2/5.1.1": 2,
  "http2/5.1.2": 1,
  "http2/5.3.1": 2,
  "http2/5.4.1": 2,
  "http2/5.5": 2,
  "http2/6.1": 3,
  "http2/6.2": 4,
  "http2/6.3": 2,
  "http2/6.4": 3,
  "http2/6.5": 3,
  "http2/6.5.2": 5,
  "http2/6.5.3": 2,
  "http2/6.7": 4,
  "http2/6.8": 1,
  "http2/6.9": 3,
  "http2/6.9.1": 3,
  "http2/6.9.2": 3,
  "http2/6.10": 6,
  "http2/7": 2,
  "http2/8.1": 1,
  "http2/8.1.2": 1,
  "http2/8.1.2.1": 4,
  "http2/8.1.2.2": 2,
  "http2/8.1.2.3": 7,
  "http2/8.1.2.6": 2,
  "http2/8.2": 1,
  "hpack/2.3.3": 2,
  "hpack/4.2": 1,
  "hpack/5.2": 3,
  "hpack/6.1": 1,
  "hpack/6.3": 1,
};
