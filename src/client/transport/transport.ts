/**
 * The contract of transports: how requests reach an API server.
 *
 * 1. `send` resolves with the head of the response, whatever its status; the body is a stream that may be read once.
 * 2. When `ending` aborts, `send` and the body reject with its reason, and the server sees that the client has gone.
 * 3. A body that is left before its end is cancelled.
 * 4. A request that gets no response throws a StatusError: ServiceUnavailable, with its cause.
 */
import { StatusError, writeJson } from "#api";
import type { Ending } from "#base";

export interface TransportRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * Sent as JSON instead of a body. A server in the same process takes a copy, for others see `bodyOf`. It must not
   * change until there is a response, because it may be sent again.
   */
  readonly value?: object | undefined;
  /** Aborts when the caller no longer waits. */
  readonly ending: Ending;
  /** The caller accepts objects and watch events as values: a server in the same process need not encode them. */
  readonly takesValues?: boolean;
  /** A long-running response is expected, as of a watch. */
  readonly goesOn?: boolean;
}

/** An event of a watch as a value. */
export interface DirectEvent {
  readonly type: string;
  readonly object: object;
}

export type BodyPart = Uint8Array | DirectEvent;

export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Bytes; events only if the request takes values. */
  readonly body: AsyncIterable<BodyPart>;
  /** The value of the body; only if the request takes values. It is shared and must not be changed. */
  readonly value?: (() => object) | undefined;
}

export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Ends all requests under way. */
  close(): Promise<void>;
}

/** As text. */
export function bodyOf({ body, value }: Pick<TransportRequest, "body" | "value">): string | undefined {
  return value === undefined ? body : writeJson(value);
}

export function unreachable(where: string, cause: unknown): StatusError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StatusError("ServiceUnavailable", `${where} cannot be reached: ${why}`, { cause });
}

/** A body from the network: its errors are worded as those of `send`. `isComplete`: whether it has ended properly. */
export function guarded(
  source: AsyncIterable<Uint8Array>,
  { where, signal, isComplete }: { where: string; signal: AbortSignal; isComplete(): boolean },
): AsyncIterable<Uint8Array> {
  const failed = (error: unknown): never => {
    signal.throwIfAborted();
    throw unreachable(where, error);
  };
  const checked = (result: IteratorResult<Uint8Array>) =>
    result.done === true && !isComplete()
      ? failed(new Error("the connection was lost in the middle of an answer"))
      : result;
  return {
    [Symbol.asyncIterator]() {
      const parts = source[Symbol.asyncIterator]();
      return {
        next: () => parts.next().then(checked, failed),
        return: async () => (await parts.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

export async function readAll({ body }: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) if (chunk instanceof Uint8Array) chunks.push(chunk);
  const [first] = chunks;
  const whole = chunks.length === 1 && first instanceof Buffer ? first : Buffer.concat(chunks);
  return whole.toString("utf8");
}
