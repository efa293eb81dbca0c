/** Requests to the API server, with the user's credentials and nothing else that the page might add. */
import type { ClientRequest, IncomingHttpHeaders } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";

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
