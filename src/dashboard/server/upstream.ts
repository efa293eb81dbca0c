/** The API server as the user reaches it: every request carries the user's own credentials, and nothing else that the page might add. */
import type { ClientRequest, IncomingHttpHeaders } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";

/** What a kubeconfig says. */
export interface Upstream {
  readonly server: string;
  readonly caPem: string | undefined;
  readonly client: { readonly certPem: string; readonly keyPem: string } | { readonly token: string } | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean;
  readonly context?: string;
  readonly namespace?: string | undefined;
}

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

  /** Of the page's headers only those named pass: no cookie, no other identity. */
  request(path: string, headers: IncomingHttpHeaders, pass: readonly string[], options: RequestOptions): ClientRequest {
    const { server, client } = this.#upstream;
    const kept = Object.fromEntries(
      pass.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    );
    return request(new URL(server.replace(/\/$/, "") + path), {
      ...options,
      agent: this.#agent,
      headers: {
        ...kept,
        "user-agent": "k8ts-dashboard",
        ...(client !== undefined && "token" in client && { authorization: `Bearer ${client.token}` }),
      },
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
