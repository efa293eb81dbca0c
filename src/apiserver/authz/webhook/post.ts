/** One JSON object to another server, and the one that it answers with. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isObject, type JsonObject } from "#api";
import type { Clock } from "#base";
import type { KubeconfigConnection } from "#pki";

const MAX_ANSWER_BYTES = 1024 * 1024;

/** It was not answered as it should be. */
export class PostError extends Error {
  override readonly name = "PostError";
  /** Another try may go better. */
  readonly passing: boolean;

  constructor(message: string, passing: boolean, cause?: unknown) {
    super(message, { cause });
    this.passing = passing;
  }
}

export interface Poster {
  post(body: JsonObject): Promise<JsonObject>;
  close(): void;
}

/** Connections are kept between requests; `close` ends them. */
export function poster(target: KubeconfigConnection, timeoutMs: number, clock: Clock): Poster {
  const url = new URL(target.server);
  const secure = url.protocol === "https:";
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const { caPem, client, tlsServerName, insecureSkipTlsVerify } = target;
  const tls = {
    ...(caPem !== undefined && { ca: caPem }),
    ...(client !== undefined && "certPem" in client && { cert: client.certPem, key: client.keyPem }),
    ...(tlsServerName !== undefined && { servername: tlsServerName }),
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  const identity = client !== undefined && "token" in client ? { authorization: `Bearer ${client.token}` } : {};
  return {
    close: () => agent.destroy(),
    post: (body) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = {
        ...identity,
        accept: "application/json",
        "content-type": "application/json",
        "content-length": String(bytes.length),
      };
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      const outgoing = (secure ? httpsRequest : httpRequest)(url, { method: "POST", agent, headers, ...tls });
      const deadline = clock.timer(timeoutMs, () => outgoing.destroy(new PostError("the request timed out", false)));
      outgoing.once("error", (error: NodeJS.ErrnoException) =>
        reject(error instanceof PostError ? error : new PostError(error.message, error.code === "ECONNRESET", error)),
      );
      outgoing.once("response", (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) outgoing.destroy(new PostError("the answer is too large", false));
          else chunks.push(chunk);
        });
        response.once("error", (error) => reject(new PostError(error.message, true, error)));
        response.once("end", () => {
          try {
            resolve(answerOf(response.statusCode ?? 0, response.headers["retry-after"], Buffer.concat(chunks)));
          } catch (error) {
            reject(error);
          }
        });
      });
      outgoing.end(bytes);
      return promise.finally(() => deadline.cancel());
    },
  };
}

function answerOf(status: number, retryAfter: string | undefined, bytes: Buffer): JsonObject {
  if (status < 200 || status > 299) {
    const passing = status === 500 || status === 504 || status === 429 || retryAfter !== undefined;
    throw new PostError(`the server answered with HTTP status ${status}`, passing);
  }
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new PostError("the server answered with something that is not JSON", false, error);
  }
  if (!isObject(value as JsonObject))
    throw new PostError("the server answered with something that is no object", false);
  return value as JsonObject;
}
