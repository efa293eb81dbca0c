/**
 * Requests to an API server in the same process: through its whole pipeline, as a user that is given here, without TLS.
 *
 * 1. The type of the server's pipeline is structural, so that clients do not depend on the server.
 * 2. Objects and watch events are the server's own values, without an encoding between: they are shared and must not be
 *    changed. What is sent is copied, as if it had been encoded.
 * 3. A watch that is not read holds a bounded number of bytes: `write` returns what waits, and the server drops a
 *    reader that is too slow.
 */
import { type Json, plainJson, writeJson } from "#api";
import { abortable, Channel, childController, type Ending, isPending, whenAborted } from "#base";
import type { BodyPart, Transport, TransportRequest, TransportResponse } from "./transport.ts";

export interface InProcessUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The type of the API server's pipeline. */
export type InProcessHandle = (request: {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  body(limit: number): Promise<Buffer>;
  readonly value?: (() => Json) | undefined;
  readonly signal: AbortSignal;
  whenGone(call: () => void): () => void;
  readonly user: InProcessUser;
}) => WholeAnswer | StreamAnswer | Promise<WholeAnswer | StreamAnswer>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

interface WholeAnswer extends Answer {
  readonly body: readonly Buffer[];
  readonly value?: (() => object) | undefined;
}

interface StreamAnswer extends Answer {
  stream(sink: {
    write(bytes: Buffer): number;
    readonly event?: ((type: string, object: object) => number) | undefined;
    drop(): void;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

export function inProcess(handle: InProcessHandle, user: InProcessUser): Transport {
  const closing = childController();
  return {
    async send(request) {
      const { ending: end, goesOn = false, takesValues = false } = request;
      closing.throwIfAborted();
      // A long-running response needs its own ending; other requests do without.
      const going = goesOn ? ongoing(end.signal, closing) : undefined;
      const ends = going?.ending ?? end;
      try {
        const answering = handle(new InProcessRequest(request, ends, user));
        const answer = isPending(answering) ? await abortable(answering, ends, closing) : answering;
        ends.throwIfAborted();
        if ("stream" in answer) {
          const { ending, release } = going ?? ongoing(end.signal, closing);
          return streamed(answer, ending, release, takesValues);
        }
        going?.release();
        return new WholeResponse(answer, takesValues);
      } catch (error) {
        going?.release();
        throw error;
      }
    },
    close: async () => {
      closing.abort(new Error("the client was closed"));
    },
  };
}

type Part = IteratorResult<BodyPart, undefined>;

const END: Part = { done: true, value: undefined };

/** `signal` is a getter: few requests use it, and making one is expensive. */
class InProcessRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: TransportRequest["headers"];
  readonly value: (() => Json) | undefined;
  readonly user: InProcessUser;
  readonly #text: string;
  readonly #ends: Ending;

  constructor({ method, target, headers, body, value }: TransportRequest, ends: Ending, user: InProcessUser) {
    // Copied now: later changes by the caller must not reach the server.
    const copy = value === undefined ? undefined : plainJson(value);
    const at = target.indexOf("?");
    this.method = method;
    this.path = at === -1 ? target : target.slice(0, at);
    this.query = new URLSearchParams(at === -1 ? undefined : target.slice(at + 1));
    this.headers = headers;
    this.value = copy === undefined ? undefined : () => copy;
    this.user = user;
    this.#text = body ?? "";
    this.#ends = ends;
  }

  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  async body(): Promise<Buffer> {
    return Buffer.from(this.value === undefined ? this.#text : writeJson(this.value()));
  }

  whenGone(call: () => void): () => void {
    return this.#ends.whenAborted(call);
  }
}

/** Ends with the caller's signal, and with the client. */
function ongoing(signal: AbortSignal, closing: Ending) {
  const ending = childController(signal);
  const leave = whenAborted(closing, () => ending.abort(closing.reason));
  const release = () => {
    leave();
    ending[Symbol.dispose]();
  };
  return { ending, release };
}

/**
 * Body and headers are made only if they are read: most callers take the value. Measured on 2026-11-18 (a stub server,
 * 5 runs in turn, processor time): 2.3 instead of 2.5 µs for the client's part of a get, 1.8 instead of 2.15 µs if the
 * server answers at once.
 */
class WholeResponse implements TransportResponse {
  readonly status: number;
  readonly value: (() => object) | undefined;
  readonly #answer: WholeAnswer;

  constructor(answer: WholeAnswer, takesValues: boolean) {
    this.status = answer.status;
    this.value = takesValues ? answer.value : undefined;
    this.#answer = answer;
  }

  get headers(): Record<string, string> {
    return joined(this.#answer.headers);
  }

  get body(): AsyncIterable<Buffer> {
    return parts(this.#answer);
  }
}

async function* parts(answer: WholeAnswer): AsyncIterable<Buffer> {
  yield* answer.body;
}

function streamed(
  answer: StreamAnswer,
  ending: ReturnType<typeof childController>,
  release: () => void,
  takesValues: boolean,
): TransportResponse {
  const { signal } = ending;
  const left = () => ending.abort(new Error("the caller left"));
  const channel = new Channel<BodyPart>({ capacity: Number.POSITIVE_INFINITY, onLeave: left });
  let waiting = 0;
  const write = (bytes: Buffer) => {
    if (channel.push(bytes)) waiting += bytes.length;
    return waiting;
  };
  let events = 0;
  const event = (type: string, object: object) => {
    if (channel.push({ type, object })) events += 1;
    return events;
  };
  const fail = () => channel.fail(signal.reason);
  signal.addEventListener("abort", fail, { once: true });
  const done = answer
    .stream({
      write,
      event: takesValues ? event : undefined,
      drop: () => ending.abort(new Error("the caller reads too slowly")),
      signal,
    })
    .then(
      () => channel.close(),
      (error: unknown) => channel.fail(error),
    );
  const taken = (result: Part): Part | Promise<Part> => {
    if (result.done === true) return ended(result);
    if (result.value instanceof Uint8Array) waiting -= result.value.length;
    else events -= 1;
    return result;
  };
  const ended = async (result: Part): Promise<Part> => {
    signal.removeEventListener("abort", fail);
    left();
    release();
    await done;
    return result;
  };
  const failed = async (error: unknown): Promise<Part> => {
    await ended(END);
    throw error;
  };
  // Not a generator, for speed: an event of a watch costs the client 0.70 instead of 0.94 µs of processor time (a stub
  // server, 200,000 events, 5 runs in turn, 2026-11-18).
  const parts = channel[Symbol.asyncIterator]();
  const body = {
    next: () => parts.next().then(taken, failed),
    return: async () => {
      await parts.return?.();
      return ended(END);
    },
    [Symbol.asyncIterator]: () => body,
  };
  return { status: answer.status, headers: joined(answer.headers), body };
}

/** Repeated headers are joined, as over the network. */
function joined(headers: Answer["headers"]): Record<string, string> {
  if (!Object.values(headers).some(Array.isArray)) return headers as Record<string, string>;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : value.join(", ")]),
  );
}
