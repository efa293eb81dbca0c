/**
 * Requests of authenticators to other servers, as JSON over HTTPS: TokenReviews, and the documents of OpenID providers.
 *
 * 1. Only TLS: keys and tokens do not travel in the clear.
 * 2. A GET follows redirects, a POST does not. Credentials go to the origin that they were meant for, and to no other.
 */
import { STATUS_CODES } from "node:http";
import { type Clock, type Dial, HttpClient, type HttpClientTls, type HttpFailure, type HttpResponse } from "#base";

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 5;

export interface JsonQuestion {
  readonly url: string;
  /** Sent by POST. Absent: GET. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** The usual words for the status. */
  readonly reason: string;
  readonly headers: HttpResponse["headers"];
  readonly text: string;
}

export interface JsonClientOptions {
  readonly tls: HttpClientTls;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

export class JsonClient {
  readonly #timeoutMs: number;
  readonly #client: HttpClient;

  constructor({ tls, timeoutMs, clock, dial }: JsonClientOptions) {
    this.#timeoutMs = timeoutMs;
    this.#client = new HttpClient({ clock, timeoutMs, maxResponseBytes: MAX_ANSWER_BYTES, tls, dial });
  }

  /** Throws if there is no answer; any status is an answer. */
  async ask(question: JsonQuestion): Promise<JsonAnswer> {
    let { url, headers = {} } = question;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once({ ...question, url, headers });
      const { location } = answer.headers;
      const moved = question.body === undefined && answer.status >= 300 && answer.status < 400;
      if (!moved || location === undefined) return answer;
      if (redirects === MAX_REDIRECTS) throw new Error(`${question.url} redirects too often`);
      const next = new URL(location, url);
      if (next.origin !== new URL(url).origin) {
        const { authorization: _, ...others } = headers;
        headers = others;
      }
      url = next.href;
    }
  }

  /** Requests in flight fail. */
  close(): void {
    this.#client.close();
  }

  async #once({ url, body, headers, signal }: JsonQuestion): Promise<JsonAnswer> {
    if (!url.startsWith("https://")) throw new Error(`${url} is not an https URL`);
    const result = await this.#client.send({
      url,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      signal,
    });
    if (!result.ok) throw this.#failed(url, result);
    const { status } = result;
    const reason = STATUS_CODES[status] ?? "";
    return { status, reason, headers: result.headers, text: result.body.toString("utf8") };
  }

  #failed(url: string, { reason, cause }: HttpFailure): unknown {
    if (reason === "deadline") return new Error(`no answer from ${url} within ${this.#timeoutMs} ms`);
    if (reason === "too-large") return new Error(`the answer of ${url} is too large`);
    return cause;
  }
}
