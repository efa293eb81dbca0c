/**
 * A client of a cluster under test: its admin, by its own kubeconfig, over one connection that is kept.
 *
 * 1. A call ends with an answer that arrived whole, or rejects: a broken connection is never taken for an answer.
 * 2. A connection that broke is opened anew by the next call, which reads the kubeconfig again.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { parse } from "yaml";
import type { Home } from "./k8ts.ts";

/** What the tests look at in objects, lists and Statuses alike. */
export interface Body {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Body[];
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
}

export interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Body;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Started {
  readonly status: number;
  readonly stream: Readable;
}

interface Access {
  readonly url: string;
  readonly tls: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
}

/** The server has answered, and the answer is no. */
export class Refused extends Error {
  constructor(method: Method, path: string, status: number, text: string) {
    super(`${method} ${path}: ${status} ${text}`);
  }
}

const MERGE_PATCH = "application/merge-patch+json";

export class Api implements Disposable {
  readonly #home: Pick<Home, "dataDir">;
  readonly #protocol: "http/1.1" | "h2";
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #session: ClientHttp2Session | undefined;

  constructor(home: Pick<Home, "dataDir">, protocol: "http/1.1" | "h2" = "http/1.1") {
    this.#home = home;
    this.#protocol = protocol;
  }

  /** A PATCH is a merge patch. */
  async call(method: Method, path: string, body?: object): Promise<Reply> {
    const { status, stream } = await this.#start(method, path, body);
    const text = await wholeText(stream);
    return { status, text, body: text.startsWith("{") ? (JSON.parse(text) as Body) : {} };
  }

  /** The body of a call that has to succeed. */
  async ok(method: Method, path: string, body?: object): Promise<Body> {
    const reply = await this.call(method, path, body);
    if (reply.status < 200 || reply.status > 299) throw new Refused(method, path, reply.status, reply.text);
    return reply.body;
  }

  /** Ends when the server ends it, or throws when its connection breaks. */
  async *watch(path: string): AsyncGenerator<WatchLine, void, undefined> {
    const { status, stream } = await this.#start("GET", path);
    if (status !== 200) throw new Refused("GET", path, status, await wholeText(stream));
    let rest = "";
    for await (const chunk of stream.setEncoding("utf8")) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line) as WatchLine;
    }
  }

  /** The same, on a connection of its own. */
  another(): Api {
    return new Api(this.#home, this.#protocol);
  }

  /** Breaks off what is under way. The next call opens a new connection. */
  drop(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  [Symbol.dispose](): void {
    this.drop();
  }

  #start(method: Method, path: string, body?: object): Promise<Started> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const contentType = method === "PATCH" ? MERGE_PATCH : "application/json";
    const headers = bytes === undefined ? {} : { "content-type": contentType, "content-length": bytes.length };
    return this.#protocol === "h2"
      ? this.#startH2({ ":method": method, ":path": path, ...headers }, bytes)
      : this.#startH1(method, path, headers, bytes);
  }

  async #startH1(method: Method, path: string, headers: object, bytes: Buffer | undefined): Promise<Started> {
    const { url, tls } = access(this.#home);
    const call = httpsRequest(url + path, { ...tls, method, headers: { ...headers }, agent: this.#agent }).end(bytes);
    const [response] = await once(call, "response");
    return { status: response.statusCode, stream: response };
  }

  async #startH2(headers: Record<string, string | number>, bytes: Buffer | undefined): Promise<Started> {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      const { url, tls } = access(this.#home);
      // Streams report what breaks the session.
      this.#session = connect(url, tls).on("error", () => {});
    }
    const stream = this.#session.request(headers, { endStream: bytes === undefined });
    const broken = once(stream, "close").then(() =>
      Promise.reject(new Error("the stream was closed without an answer")),
    );
    if (bytes !== undefined) stream.end(bytes);
    const [answer] = await Promise.race([once(stream, "response"), broken]);
    return { status: Number(answer[":status"]), stream };
  }
}

async function wholeText(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}

function access({ dataDir }: Pick<Home, "dataDir">): Access {
  const { clusters, users } = parse(readFileSync(join(dataDir, "kubeconfig"), "utf8"));
  const bytes = (base64: string) => Buffer.from(base64, "base64");
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  const { "client-certificate-data": cert, "client-key-data": key } = users[0].user;
  return { url: server, tls: { ca: bytes(ca), cert: bytes(cert), key: bytes(key) } };
}
