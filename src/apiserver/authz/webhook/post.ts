/** Posts one JSON object to an authorization webhook and reads the JSON object that it answers with. */
import { isObject, type JsonObject } from "#api";
import { type Clock, type Dial, HttpClient, type HttpFailure, type HttpResponse } from "#base";
import { httpCredentials, type KubeconfigConnection } from "#pki";

const MAX_ANSWER_BYTES = 1024 * 1024;

/** The webhook gave no usable answer. */
export class PostError extends Error {
  override readonly name = "PostError";
  /** Another try may succeed. */
  readonly passing: boolean;
  readonly isTimeout: boolean;

  constructor(message: string, passing: boolean, cause?: unknown, isTimeout = false) {
    super(message, { cause });
    this.passing = passing;
    this.isTimeout = isTimeout;
  }
}

export interface Poster {
  post(body: JsonObject): Promise<JsonObject>;
  /** Closes once no request is under way. */
  retire(): void;
  /** Requests under way fail. */
  close(): void;
}

export function poster(target: KubeconfigConnection, timeoutMs: number, clock: Clock, dial?: Dial): Poster {
  const { tls, headers: identity } = httpCredentials(target);
  const url = new URL(target.server);
  const client = new HttpClient({ clock, timeoutMs, maxResponseBytes: MAX_ANSWER_BYTES, tls, dial });
  const headers = { ...identity, accept: "application/json", "content-type": "application/json" };
  return {
    retire: () => client.closeWhenIdle(),
    close: () => client.close(),
    post: async (body) => {
      const result = await client.send({ url, headers, body: Buffer.from(JSON.stringify(body)) });
      if (!result.ok) throw failed(result);
      return answerOf(result);
    },
  };
}

function failed({ reason, cause }: HttpFailure): PostError {
  if (reason === "deadline") return new PostError("the request timed out", false, cause, true);
  if (reason === "too-large") return new PostError("the answer is too large", false, cause);
  const { code, message } = cause as NodeJS.ErrnoException;
  return new PostError(message, code === "ECONNRESET", cause);
}

function answerOf({ status, headers, body }: HttpResponse): JsonObject {
  if (status < 200 || status > 299) {
    const passing = status === 500 || status === 504 || status === 429 || headers["retry-after"] !== undefined;
    throw new PostError(`the server answered with HTTP status ${status}`, passing);
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw new PostError("the server answered with something that is not JSON", false, error);
  }
  if (!isObject(value as JsonObject))
    throw new PostError("the server answered with something that is no object", false);
  return value as JsonObject;
}
