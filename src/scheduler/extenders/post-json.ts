/**
 * Posts JSON to an extender and reads its JSON answer.
 *
 * 1. An answer that is not 200, not JSON, or larger than the limit is an error that names the URL.
 */
import { type Json, parseJson, writeJson } from "#api";
import { type Clock, HttpClient, type HttpFailure } from "#base";
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
  const client = new HttpClient({
    clock,
    timeoutMs,
    maxResponseBytes: LARGEST_ANSWER,
    tls: {
      ca: tls?.caPem,
      cert: tls?.certPem,
      key: tls?.keyPem,
      serverName: tls?.serverName,
      insecure: tls?.insecure,
    },
  });
  const headers = { "content-type": "application/json" };
  return {
    close: () => client.close(),
    post: async (action, body, signal) => {
      const url = `${urlPrefix.replace(/\/+$/, "")}/${action}`;
      const result = await client.send({ url, headers, body: Buffer.from(writeJson(body)), signal });
      if (!result.ok) throw failed(url, result);
      if (result.status !== 200)
        throw new ExtenderError(`failed ${action} with extender at URL ${url}, code ${result.status}`);
      return parsed(result.body.toString("utf8"), url);
    },
  };
}

function failed(url: string, { reason, cause }: HttpFailure): unknown {
  if (reason === "aborted") return cause;
  if (reason === "too-large")
    return new ExtenderError(`the extender's answer is larger than ${LARGEST_ANSWER} bytes`, { cause });
  const { message, code } = cause as NodeJS.ErrnoException;
  const why =
    reason === "deadline"
      ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
      : message || String(code);
  return new ExtenderError(`Post ${JSON.stringify(url)}: ${why}`, { cause });
}

function parsed(text: string, url: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ExtenderError(`the extender at URL ${url} does not answer with JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
