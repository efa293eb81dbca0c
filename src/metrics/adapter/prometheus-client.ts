/**
 * The part of Prometheus' HTTP API that is needed: series, and instant queries.
 *
 * 1. A request is bounded in time and size. A failure is an Error with Prometheus' own words.
 */
import { type Clock, HttpClient, httpFailureText } from "#base";

const MAX_BYTES = 64 * 1024 * 1024;

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly atMs: number;
  readonly value: number;
}

export interface PrometheusOptions {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** PEM: the authority of its certificate. */
  readonly ca?: string | undefined;
  readonly token?: (() => string | undefined) | undefined;
}

interface Answer {
  readonly status?: string;
  readonly error?: string;
  readonly errorType?: string;
  readonly data?: unknown;
}

export class PrometheusClient {
  readonly #options: PrometheusOptions;
  readonly #http: HttpClient;

  constructor(options: PrometheusOptions) {
    const { clock, timeoutMs, ca } = options;
    this.#options = options;
    this.#http = new HttpClient({ clock, timeoutMs, maxResponseBytes: MAX_BYTES, tls: { ca } });
  }

  /** All series that a selector has matched since then, with their labels. */
  async series(selector: string, sinceMs: number, signal: AbortSignal): Promise<readonly Labels[]> {
    const data = await this.#ask("series", { "match[]": selector, start: String(sinceMs / 1000) }, signal);
    if (!Array.isArray(data)) throw new Error("its list of series is not a list");
    return data as readonly Labels[];
  }

  async query(query: string, signal: AbortSignal): Promise<readonly Sample[]> {
    const data = await this.#ask("query", { query }, signal);
    const { resultType, result } = (data ?? {}) as { readonly resultType?: string; readonly result?: unknown };
    if (resultType === "scalar") return [sampleOf({}, result)];
    if (resultType !== "vector" || !Array.isArray(result))
      throw new Error(`expected a vector, got ${resultType ?? "nothing"}`);
    return (result as readonly { readonly metric?: Labels; readonly value?: unknown }[]).map(({ metric, value }) =>
      sampleOf(metric ?? {}, value),
    );
  }

  close(): void {
    this.#http.close();
  }

  async #ask(endpoint: string, parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<unknown> {
    const { url: base, method, token } = this.#options;
    const path = `${base.replace(/\/+$/, "")}/api/v1/${endpoint}`;
    const form = new URLSearchParams(parameters).toString();
    const bearer = token?.();
    const headers = {
      accept: "application/json",
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(method === "POST" && { "content-type": "application/x-www-form-urlencoded" }),
    };
    const request = method === "POST" ? { url: path, body: Buffer.from(form) } : { url: `${path}?${form}` };
    const response = await this.#http.send({ ...request, method, headers, signal });
    if (!response.ok) throw new Error(`${method} ${path}: ${httpFailureText(response)}`);
    const answer = parsed(response.body.toString("utf8"));
    if (answer?.status !== "success")
      throw new Error(
        `${method} ${path}: ${answer?.errorType ?? response.status}: ${answer?.error ?? "not an answer of Prometheus"}`,
      );
    return answer.data;
  }
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined; // told by its status
  }
}

function sampleOf(labels: Labels, value: unknown): Sample {
  const [seconds, text] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const number = { "+Inf": Number.POSITIVE_INFINITY, "-Inf": Number.NEGATIVE_INFINITY }[String(text)] ?? Number(text);
  return { labels, atMs: Math.round(Number(seconds) * 1000), value: number };
}
