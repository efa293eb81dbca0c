/**
 * A requirement of a specification, tested in bytes: frames sent to a connection, and the frames that it must send
 * back.
 */
import type { Http2Stream } from "../../stream.ts";

export interface Row {
  readonly name: string;
  /** Cases of the public tool h2spec that test the same, as it numbers them. */
  readonly h2spec?: readonly string[];
  /** Sent in one piece, after the preface and SETTINGS. */
  readonly given: readonly Buffer[];
  /** Sent once the server has answered `given`. */
  readonly afterwards?: readonly Buffer[];
  /** What the server sends, in any order, as `lineOf` of frames.ts writes frames. */
  readonly want: readonly string[];
  /** Fields of the last request that reached the server. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The client sends `given` without a preface and SETTINGS of its own before it. */
  readonly unopened?: true;
  /** The server leaves requests unanswered. */
  readonly unanswered?: true;
}

/** Rows by section. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

export const connectionError = (code: string, lastStream = 0) => [`goaway after ${lastStream}: ${code}`];
export const streamError = (code: string, id = 1) => [`reset ${id}: ${code}`];
/** The answer of `serve` to a request without `x-answer`; its body is the number of bytes received. */
export const answered = (id: number, bytes = 0) => [`headers ${id}: 200`, `data ${id}: ${String(bytes).length} end`];
export const PONG = "ping ack 12345678";

/** Answers, once the whole request has come, with `x-answer` bytes, or with the number of bytes received. */
export function serve(stream: Http2Stream): void {
  let bytes = 0;
  const answer = () => {
    stream.respond(200, {});
    const size = stream.fields["x-answer"];
    stream.end(size === undefined ? Buffer.from(String(bytes)) : Buffer.alloc(Number(size)));
  };
  if (stream.body === undefined) answer();
  else
    stream.body
      .on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      })
      .on("end", answer);
}
