/** A CONNECT proxy for tests: over TCP, TLS or a Unix socket. It notes where it was asked to lead. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { joined } from "#base";

export interface ConnectProxy {
  /** 0 for a Unix socket. */
  readonly port: number;
  /** `host:port`, in order. */
  readonly asked: readonly string[];
  /** Answers so from now on, instead of connecting. */
  refuse: string | undefined;
  close(): Promise<void>;
}

export interface ConnectProxyOptions {
  readonly socket?: string;
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
  /** Where connections lead, whatever was asked for. Default: to what was asked for. */
  readonly leadTo?: (asked: string) => number | undefined;
}

export async function connectProxy({ socket, tls, leadTo }: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  const open = new Set<Duplex>();
  const server =
    tls === undefined ? createHttpServer() : createHttpsServer({ ...tls, requestCert: true, rejectUnauthorized: true });
  const proxy = {
    port: 0,
    asked,
    refuse: undefined as string | undefined,
    async close() {
      for (const each of open) each.destroy();
      server.close();
      await once(server, "close");
    },
  };
  server.on("connect", ({ url = "" }, caller: Duplex) => {
    asked.push(url);
    open.add(caller);
    caller.on("error", () => {});
    if (proxy.refuse !== undefined) return void caller.end(`HTTP/1.1 ${proxy.refuse}\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`tcp://${url}`);
    const led = leadTo?.(url);
    const target = led === undefined ? { host: hostname.replace(/[[\]]/g, ""), port: Number(port) } : { port: led };
    const there = connect({ host: "127.0.0.1", ...target });
    open.add(there);
    there.once("connect", () => caller.write("HTTP/1.1 200 Connection established\r\n\r\n"));
    there.once("error", () => caller.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"));
    void joined(caller, there);
  });
  if (socket === undefined) server.listen(0, "127.0.0.1");
  else server.listen(socket);
  await once(server, "listening");
  if (socket === undefined) proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}
