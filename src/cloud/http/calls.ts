/**
 * Calls to the server of a cloud: docs/cloud-provider.openapi.yaml.
 *
 *     call ──► attempt ──► answer
 *       ▲         └─ no answer, 429, 5xx: again, with the same Idempotency-Key, after a backoff or Retry-After
 *
 * 1. Every attempt is bounded in time and size. After the last one the call throws a CloudError.
 * 2. "Not found" is believed only of a server that says it in its own words: a body with the code NotFound. Any other
 *    404 may come from a proxy or a wrong URL, and is a failure.
 * 3. Redirects are not followed: a token goes to the configured server only.
 * 4. Words of the server are cut before they get into Events.
 */
import { readFile } from "node:fs/promises";
import { backoffDelay, type Clock, HttpClient, type HttpResponse, httpFailureText, type Random } from "#base";
import { CloudError } from "../cloud.ts";
import type { HttpCloudSettings } from "./settings.ts";

const MAX_BYTES = 8 * 1024 * 1024;
const BACKOFF = { initialMs: 200, maxMs: 5_000, jitter: 0.5 } as const;
const MAX_RETRY_AFTER_SECONDS = 300;
/** Longer waits are the controller's: its workers have other things to do. */
const MAX_WAIT_HERE_MS = 5_000;
const MAX_WORDS = 300;

export interface Call {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** The answer has no body: only 204 says that it is done. */
  readonly silent?: boolean | undefined;
}

/** The body is undefined if there is none. */
export type CallResult = { readonly found: true; readonly body: unknown } | { readonly found: false };

export interface CallsOptions {
  readonly settings: HttpCloudSettings;
  readonly ca?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Sends requests. Default: over HTTP. */
  readonly http?: Pick<HttpClient, "send" | "close"> | undefined;
}

export class CloudCalls {
  readonly #options: CallsOptions;
  readonly #http: Pick<HttpClient, "send" | "close">;

  constructor(options: CallsOptions) {
    const { clock, ca, settings, http } = options;
    this.#options = options;
    const { timeoutMs } = settings;
    this.#http = http ?? new HttpClient({ clock, timeoutMs, maxResponseBytes: MAX_BYTES, tls: { ca } });
  }

  close(): void {
    this.#http.close();
  }

  /** Throws CloudError. */
  async send(call: Call, signal: AbortSignal): Promise<CallResult> {
    const { settings, clock, random } = this.#options;
    const key = Buffer.from(random.bytes(16)).toString("hex");
    for (let failures = 0; ; failures++) {
      const result = await this.#attempt(call, key, signal);
      if ("found" in result) return result;
      const waitMs = result.retryAfterMs ?? backoffDelay(BACKOFF, failures, random);
      if (!result.mayRetry || failures >= settings.retries || waitMs > MAX_WAIT_HERE_MS)
        throw new CloudError(`${call.method} ${call.path}: ${result.why}`, { retryAfterMs: result.retryAfterMs });
      await clock.sleep(waitMs, signal);
    }
  }

  async #attempt({ method, path, query = {}, body, silent = false }: Call, key: string, signal: AbortSignal) {
    const { server } = this.#options.settings;
    const search = new URLSearchParams(query).toString();
    const token = await this.#token();
    const response = await this.#http.send({
      ...{ method, signal, url: `${server}${path}${search === "" ? "" : `?${search}`}` },
      headers: {
        accept: "application/json",
        "user-agent": "k8ts-cloud-controller-manager",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(method !== "GET" && { "idempotency-key": key }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    });
    if (response.ok) return answerOf(response, silent);
    if (signal.aborted) throw signal.reason;
    return { mayRetry: response.reason !== "too-large", why: httpFailureText(response), retryAfterMs: undefined };
  }

  async #token(): Promise<string | undefined> {
    const { token, tokenFile } = this.#options.settings;
    if (tokenFile === undefined) return token;
    try {
      return (await readFile(tokenFile, "utf8")).trim();
    } catch (error) {
      throw new CloudError(`tokenFile cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }
}

interface Failed {
  readonly mayRetry: boolean;
  readonly why: string;
  readonly retryAfterMs: number | undefined;
}

function answerOf({ status, headers, body }: HttpResponse, isSilent: boolean): CallResult | Failed {
  const text = body.toString("utf8");
  const json = parsed(text);
  const retryAfterMs = retryAfterOf(headers["retry-after"]);
  if (isSilent && status === 204) return { found: true, body: undefined };
  if (!isSilent && status === 200 && json !== undefined) return { found: true, body: json };
  if (!isSilent && status === 200) return { mayRetry: false, why: "the answer is not JSON", retryAfterMs };
  if (status === 202) return { mayRetry: false, why: "still in progress", retryAfterMs: retryAfterMs ?? 10_000 };
  const { code, message } = errorIn(json);
  if (status === 404 && code === "NotFound") return { found: false };
  const said = message === undefined ? text : `${code ?? ""}: ${message}`;
  const why = `${status} ${said}`.replace(/\s+/g, " ").trim().slice(0, MAX_WORDS);
  return { mayRetry: status === 429 || status >= 500, why, retryAfterMs };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorIn(json: unknown): { readonly code?: string; readonly message?: string } {
  if (typeof json !== "object" || json === null) return {};
  const { code, message } = json as Readonly<Record<string, unknown>>;
  return {
    ...(typeof code === "string" && { code }),
    ...(typeof message === "string" && { message }),
  };
}

/** Seconds only. */
function retryAfterOf(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,9}$/.test(value)) return undefined;
  return 1000 * Math.min(MAX_RETRY_AFTER_SECONDS, Number(value));
}
