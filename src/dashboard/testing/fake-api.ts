/** An API server that tells what it was asked: over TLS, with a watch and a WebSocket that a test speaks through. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import { realClock } from "#base";
import { ensureClusterPki } from "#pki";
import type { Upstream } from "../server/upstream.ts";

export const TOKEN = "the-users-own";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export class FakeApi implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Answers that go on: watches, logs. */
  readonly watches: ServerResponse[] = [];
  readonly sockets: WebSocket[] = [];
  /** What came over WebSockets. */
  readonly frames: Buffer[] = [];
  readonly upstream: Upstream;
  /** Why WebSockets are refused; undefined: they are not. */
  refusal: string | undefined;
  readonly #stop: () => Promise<void>;

  private constructor(upstream: Upstream, stop: () => Promise<void>) {
    this.upstream = upstream;
    this.#stop = stop;
  }

  /** `answers` may know what to say to a path. */
  static async start(answers: (url: string) => string | undefined = () => undefined): Promise<FakeApi> {
    const dir = await mkdtemp(join(tmpdir(), "k8ts-dashboard-"));
    const serverNames = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
    const pki = await ensureClusterPki(dir, { clock: realClock(), serverNames });
    const server = createServer({ cert: pki.apiserver.certPem, key: pki.apiserver.keyPem });
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0] ?? false });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const upstream = { server: `https://127.0.0.1:${port}`, caPem: pki.ca.certPem, client: { token: TOKEN } };
    const api = new FakeApi(upstream, async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await once(server.close(), "close");
      await rm(dir, { recursive: true, force: true });
    });
    server.on("request", async (message, response) => {
      let body = "";
      for await (const chunk of message.setEncoding("utf8")) body += chunk;
      const { method = "", url = "", headers } = message;
      api.asked.push({ method, url, headers, body });
      const goesOn = /[?&](watch|follow)=true/.test(url);
      const known = goesOn ? undefined : answers(url);
      if (known !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(known);
      else if (goesOn) {
        response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
        api.watches.push(response);
      } else if (url.startsWith("/forbidden")) {
        response
          .writeHead(403, { "content-type": "application/json" })
          .end('{"kind":"Status","code":403,"message":"no"}');
      } else if (url.startsWith("/html")) {
        response.writeHead(200, { "content-type": "text/html" }).end("<script>alert(1)</script>");
      } else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ method, url, body }));
    });
    server.on("upgrade", (message, socket, head) => {
      const { method = "", url = "", headers } = message;
      api.asked.push({ method, url, headers, body: "" });
      if (api.refusal !== undefined) {
        const body = JSON.stringify({ kind: "Status", status: "Failure", code: 500, message: api.refusal });
        const lines = ["HTTP/1.1 500 Internal Server Error", `Content-Length: ${body.length}`, "Connection: close"];
        socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
        return;
      }
      sockets.handleUpgrade(message, socket, head, (each) => {
        each.on("message", (data) => api.frames.push(data as Buffer));
        api.sockets.push(each);
      });
    });
    return api;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}
