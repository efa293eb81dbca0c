/**
 * JSON to an extender and its answer back.
 *
 * 1. A request ends with its deadline, whatever the other side does: it may hang before, between or within its words.
 * 2. Connections are kept for the next request and closed with `close`.
 * 3. An answer that is not 200, not JSON, or larger than the limit is an error that names the URL.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Json } from "#api";
import { type Clock, childController } from "#base";
import type { ExtenderConfig } from "../framework/index.ts";

const LARGEST_ANSWER = 64 * 1024 * 1024;

export interface Poster {
  /** Throws an ExtenderError, or the reason of the signal. */
  post(action: string, body: Json, signal: AbortSignal): Promise<Json>;
  close(): void;
}

export class ExtenderError extends Error {
  override readonly name = "ExtenderError";
}

export function poster({ urlPrefix, timeoutMs, tls }: ExtenderConfig, clock: Clock): Poster {
  const secure = urlPrefix.startsWith("https:");
  const agent = secure
    ? new HttpsAgent({
        keepAlive: true,
        rejectUnauthorized: tls?.insecure !== true,
        ca: tls?.caPem,
        cert: tls?.certPem,
        key: tls?.keyPem,
        servername: tls?.serverName,
      })
    : new HttpAgent({ keepAlive: true });

  const post = async (action: string, body: Json, signal: AbortSignal): Promise<Json> => {
    const url = `${urlPrefix.replace(/\/+$/, "")}/${action}`;
    using deadline = childController(signal);
    const late = new ExtenderError(
      `Post ${JSON.stringify(url)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    );
    const timer = clock.timer(timeoutMs, () => deadline.abort(late));
    try {
      const answer = await send(url, JSON.stringify(body), deadline.signal);
      if (answer.status !== 200)
        throw new ExtenderError(`failed ${action} with extender at URL ${url}, code ${answer.status}`);
      return parsed(answer.text, url);
    } catch (error) {
      deadline.signal.throwIfAborted();
      if (error instanceof ExtenderError) throw error;
      const why = error instanceof Error ? error.message || String((error as { code?: string }).code) : String(error);
      throw new ExtenderError(`Post ${JSON.stringify(url)}: ${why}`, { cause: error });
    } finally {
      timer.cancel();
    }
  };

  const send = (url: string, body: string, signal: AbortSignal): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const options = { method: "POST", agent, headers, signal };
      const answered = (response: IncomingMessage) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      };
      const sent = secure ? httpsRequest(url, options, answered) : httpRequest(url, options, answered);
      sent.once("error", reject);
      sent.end(body);
    });

  return { post, close: () => agent.destroy() };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > LARGEST_ANSWER) throw new ExtenderError(`the extender's answer is larger than ${LARGEST_ANSWER} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parsed(text: string, url: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new ExtenderError(`the extender at URL ${url} does not answer with JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
