/** Requests to the API server, with the user's credentials and nothing else that the page might add. */
import { once } from "node:events";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { WebSocket } from "ws";

/** From a kubeconfig. */
export interface Upstream {
  readonly server: string;
  readonly caPem: string | undefined;
  readonly client: { readonly certPem: string; readonly keyPem: string } | { readonly token: string } | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean;
  readonly context?: string;
  readonly namespace?: string | undefined;
}

/** What the API server does not do, in its own words. */
export class RefusedByServer extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** More than any Status needs. */
const MAX_WORDS = 16 * 1024;
const MAX_ANSWER = 16 * 1024 * 1024;
const HANDSHAKE_MS = 30_000;

export class ApiServer {
  readonly #upstream: Upstream;
  readonly #agent: Agent;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    const { caPem, client, tlsServerName, insecureSkipTlsVerify } = upstream;
    this.#agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      ...(caPem !== undefined && { ca: caPem }),
      ...(tlsServerName !== undefined && { servername: tlsServerName }),
      ...(client !== undefined && "certPem" in client && { cert: client.certPem, key: client.keyPem }),
    });
  }

  /** Only these headers of the page are forwarded: no cookie, no other identity. */
  request(path: string, headers: IncomingHttpHeaders, pass: readonly string[], options: RequestOptions): ClientRequest {
    const { server } = this.#upstream;
    const kept = Object.fromEntries(
      pass.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    );
    return request(new URL(server.replace(/\/$/, "") + path), {
      ...options,
      agent: this.#agent,
      headers: { ...kept, ...this.#identity() },
    });
  }

  /** Throws RefusedByServer. */
  async json<T>(path: string, body?: object): Promise<T> {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    const call = this.request(path, headers, ["accept", "content-type"], { method });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    const text = await textOf(answer, MAX_ANSWER);
    if ((answer.statusCode ?? 502) >= 300) throw refusedBy(answer, text);
    return JSON.parse(text) as T;
  }

  /** An open WebSocket, paused: what comes at once is not lost. Throws RefusedByServer. */
  async dial(path: string, protocol: string): Promise<WebSocket> {
    const url = this.#upstream.server.replace(/\/$/, "") + path;
    const socket = new WebSocket(url.replace(/^http/, "ws"), protocol, {
      agent: this.#agent,
      headers: this.#identity(),
      handshakeTimeout: HANDSHAKE_MS,
      perMessageDeflate: false,
    });
    const refused = Promise.withResolvers<never>();
    socket.once("unexpected-response", (_, answer) => {
      textOf(answer, MAX_WORDS)
        .then((text) => refused.reject(refusedBy(answer, text)), refused.reject)
        .finally(() => socket.terminate());
    });
    socket.on("error", () => socket.terminate());
    socket.once("open", () => socket.pause());
    await Promise.race([once(socket, "open"), refused.promise]);
    return socket;
  }

  #identity(): Record<string, string> {
    const { client } = this.#upstream;
    const token = client !== undefined && "token" in client ? client.token : undefined;
    return {
      "user-agent": "k8ts-dashboard",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

function refusedBy({ statusCode = 502, statusMessage }: IncomingMessage, text: string): RefusedByServer {
  try {
    const { reason = "", message } = JSON.parse(text) as { reason?: string; message?: string };
    if (message !== undefined) return new RefusedByServer(statusCode, reason, message);
  } catch {
    // plain words, as kubelets answer
  }
  return new RefusedByServer(statusCode, "", text || `The API server answers ${statusCode} ${statusMessage}.`);
}

/** At most so much of it. */
export async function textOf(answer: IncomingMessage, limit: number): Promise<string> {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) {
    text += chunk;
    if (text.length > limit) break;
  }
  return text.slice(0, limit).trim();
}
