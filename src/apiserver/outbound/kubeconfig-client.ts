/**
 * Posts JSON to the server that a kubeconfig describes, and reads the JSON that it answers with.
 *
 * 1. A reset connection, the statuses 429, 500 and 504, and every answer with Retry-After are tried again, five times
 *    in all, after growing delays.
 * 2. Failures have the words of Go's client: people search for them.
 */
import { type JsonObject, serverResponse, writeJson } from "#api";
import { backoffDelay, type Clock, HttpClient, type HttpResponse, httpFailureText, type Random } from "#base";
import { httpCredentials, type KubeconfigConnection } from "#pki";
import { parsed, UNREACHABLE, WEBHOOK_TIMEOUT_MS, type WebhookAnswer } from "./webhook-client.ts";

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_TRIES = 5;
const FACTOR = 1.5;
const JITTER = 0.2;
const TRANSIENT = [429, 500, 504];

export interface KubeconfigClientOptions {
  readonly connection: KubeconfigConnection;
  /** The first delay before another try. */
  readonly retryBackoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface KubeconfigClient {
  post(body: JsonObject): Promise<WebhookAnswer>;
  /** Cuts all connections; nothing is tried again. */
  close(): void;
}

export function kubeconfigClient(options: KubeconfigClientOptions): KubeconfigClient {
  const { connection, retryBackoffMs, clock, random } = options;
  const { tls, headers: identity } = httpCredentials(connection);
  const client = new HttpClient({ clock, timeoutMs: WEBHOOK_TIMEOUT_MS, maxResponseBytes: MAX_ANSWER_BYTES, tls });
  const closing = new AbortController();
  const url = new URL(connection.server);
  url.searchParams.set("timeout", `${WEBHOOK_TIMEOUT_MS / 1000}s`);
  const headers = { ...identity, accept: "application/json, */*", "content-type": "application/json" };
  const backoff = { initialMs: retryBackoffMs, maxMs: Number.MAX_SAFE_INTEGER, factor: FACTOR, jitter: JITTER };

  const attempt = async (body: Buffer): Promise<{ readonly answer: WebhookAnswer; readonly isTransient: boolean }> => {
    const result = await client.send({ url, headers, body, signal: closing.signal });
    if (result.ok) return { answer: answerOf(result), isTransient: isTransient(result) };
    const { code } = (result.cause ?? {}) as NodeJS.ErrnoException;
    return {
      answer: { ok: false, message: `Post "${url.href}": ${httpFailureText(result)}`, code: UNREACHABLE },
      isTransient: result.reason === "connection" && code === "ECONNRESET",
    };
  };
  return {
    close: () => {
      closing.abort();
      client.close();
    },
    post: async (body) => {
      const bytes = Buffer.from(writeJson(body));
      for (let tries = 1; ; tries++) {
        const { answer, isTransient } = await attempt(bytes);
        if (!isTransient || tries === MAX_TRIES || closing.signal.aborted) return answer;
        await clock.sleep(backoffDelay(backoff, tries - 1, random), closing.signal).catch(() => {});
      }
    },
  };
}

function answerOf({ status, body }: HttpResponse): WebhookAnswer {
  const text = body.toString("utf8");
  if (status >= 200 && status <= 206) return parsed(text);
  return { ok: false, message: serverResponse(status, text).message, code: status };
}

function isTransient({ status, headers }: HttpResponse): boolean {
  return TRANSIENT.includes(status) || headers["retry-after"] !== undefined;
}
