/** A user of the cluster under test: requests over TLS with a token, or with the admin's certificate. */
import { once } from "node:events";
import { Agent, request } from "node:https";

export interface Credentials {
  readonly ca: string;
  readonly token?: string | undefined;
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

export interface Ask {
  readonly method?: string | undefined;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | string | undefined;
  /** The answer has no end: it is read until it contains this. */
  readonly until?: string | undefined;
}

export interface Answer {
  readonly status: number;
  /** Headers and body, one character for each byte. */
  readonly text: string;
  readonly body: string;
}

const MERGE_PATCH = "application/merge-patch+json";
/** More than any bounded answer needs; an answer without end is cut off here. */
const GIVE_UP_MS = 20_000;

export class Client implements Disposable {
  readonly #url: string;
  readonly #credentials: Credentials;
  readonly #agent: Agent;

  constructor(url: string, credentials: Credentials) {
    this.#url = url;
    this.#credentials = credentials;
    const { ca, certificate } = credentials;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 160, ca, ...certificate });
  }

  async ask({ method = "GET", path, headers = {}, body, until }: Ask): Promise<Answer> {
    const { token } = this.#credentials;
    const bytes = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const type = method === "PATCH" ? MERGE_PATCH : "application/json";
    const call = request(this.#url + path, {
      method,
      agent: this.#agent,
      signal: AbortSignal.timeout(GIVE_UP_MS),
      headers: {
        "user-agent": "tenant/1.0",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(bytes !== undefined && { "content-type": type, "content-length": String(Buffer.byteLength(bytes)) }),
        ...headers,
      },
    });
    call.end(bytes);
    const [response] = await once(call, "response");
    let text = "";
    for await (const chunk of response.setEncoding("latin1")) {
      text += chunk;
      if (until !== undefined && text.includes(until)) break;
    }
    if (response.statusCode === 429) throw new Error(`${method} ${path}: not answered, the server is busy`);
    return { status: response.statusCode, text: `${response.rawHeaders.join("\n")}\n\n${text}`, body: text };
  }

  /** The object in the answer to a request that has to succeed. */
  async ok<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object,
    more: Partial<Ask> = {},
  ): Promise<T> {
    const answer = await this.ask({ method, path, body, ...more });
    if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as T;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
