/**
 * One question to another server, as JSON over HTTPS, and its answer.
 *
 * 1. It ends: after `timeoutMs`, with the signal, or when the answer grows beyond what an honest one needs.
 * 2. Only TLS: keys and tokens do not travel in the clear.
 */
import { Agent, type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import type { Clock } from "#base";

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 5;

export interface JsonQuestion {
  readonly url: string;
  /** Sent by POST. Absent: GET. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface JsonClientOptions {
  /** The system's own authorities, if undefined. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly servername?: string | undefined;
  readonly insecure?: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export class JsonClient {
  readonly #options: JsonClientOptions;
  readonly #agent: Agent;

  constructor(options: JsonClientOptions) {
    const { ca, cert, key, servername, insecure = false } = options;
    this.#options = options;
    this.#agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: !insecure,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
    });
  }

  /** Throws if there is no answer; any status is one. */
  async ask(question: JsonQuestion): Promise<JsonAnswer> {
    let { url } = question;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#once({ ...question, url });
      const { location } = answer.headers;
      const moved = question.body === undefined && answer.status >= 300 && answer.status < 400;
      if (!moved || typeof location !== "string") return answer;
      if (redirects === MAX_REDIRECTS) throw new Error(`${question.url} redirects too often`);
      url = new URL(location, url).href;
    }
  }

  /** Connections end; what is under way fails. */
  close(): void {
    this.#agent.destroy();
  }

  async #once({ url, body, headers, signal }: JsonQuestion): Promise<JsonAnswer> {
    const { clock, timeoutMs } = this.#options;
    if (!url.startsWith("https://")) throw new Error(`${url} is not an https URL`);
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const late = new AbortController();
    const timer = clock.timer(timeoutMs, () => late.abort(new Error(`no answer from ${url} within ${timeoutMs} ms`)));
    const options: RequestOptions = {
      method: bytes === undefined ? "GET" : "POST",
      agent: this.#agent,
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      headers: {
        accept: "application/json",
        ...(bytes !== undefined && { "content-type": "application/json", "content-length": bytes.length }),
        ...headers,
      },
    };
    try {
      return await answered(url, options, bytes);
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }
}

async function answered(url: string, options: RequestOptions, body: Buffer | undefined): Promise<JsonAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonAnswer>();
  const outgoing = request(url, options, (response) => {
    let received = 0;
    response.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_ANSWER_BYTES) response.destroy(new Error(`the answer of ${url} is too large`));
    });
    text(response).then((whole) => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, text: whole });
    }, reject);
  });
  outgoing.once("error", reject);
  outgoing.end(body);
  return promise;
}
