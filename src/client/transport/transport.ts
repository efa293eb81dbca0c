/**
 * How requests reach an API server: as values, whatever lies between.
 *
 * 1. `send` resolves with the head of the answer; its body may be read once, as it comes. An answer of any status is an answer.
 * 2. When its ending comes, `send` and the body reject with the reason, and the server learns that nobody waits any more.
 * 3. A body that is left before its end is cancelled.
 * 4. What keeps a request from being answered at all is a StatusError: ServiceUnavailable, with its cause.
 */
import { StatusError } from "#api";
import type { Ending } from "#base";

export interface TransportRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * What is sent as JSON: instead of a body. A server in the same process takes a copy of it, for others see `bodyOf`. As it may have to be sent again, it
   * stays as it is until there is an answer.
   */
  readonly value?: object | undefined;
  /** When nobody waits for the answer any more: its signal, or what comes cheaper. */
  readonly ending: Ending;
  /** The caller takes objects, and events of a watch, as values, too: a server in the same process need not make bytes of them. */
  readonly takesValues?: boolean;
  /** The answer is expected to go on and on, as a watch does. */
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
  /** Bytes; events only where the request says that it takes them. */
  readonly body: AsyncIterable<BodyPart>;
  /** What the body says, instead of it; only where the request says that it takes that. It is shared: nobody may change it. */
  readonly value?: (() => object) | undefined;
}

export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** As text. */
export function bodyOf({ body, value }: Pick<TransportRequest, "body" | "value">): string | undefined {
  return value === undefined ? body : JSON.stringify(value);
}

export function unreachable(where: string, cause: unknown): StatusError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StatusError("ServiceUnavailable", `${where} cannot be reached: ${why}`, { cause });
}

/** A body as it comes from the network: whatever goes wrong on the way is told as it is in `send`. `whole` says whether the end was the end. */
export function guarded(
  source: AsyncIterable<Uint8Array>,
  { where, signal, whole }: { where: string; signal: AbortSignal; whole(): boolean },
): AsyncIterable<Uint8Array> {
  const failed = (error: unknown): never => {
    signal.throwIfAborted();
    throw unreachable(where, error);
  };
  const checked = (result: IteratorResult<Uint8Array>) =>
    result.done === true && !whole() ? failed(new Error("the connection was lost in the middle of an answer")) : result;
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
