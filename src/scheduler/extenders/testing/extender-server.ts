/** An extender on a free port of the loopback, whose responses a test defines. */
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Json } from "#api";

export type Answer =
  | { readonly status?: number; readonly body?: Json; readonly text?: string }
  | "hang"
  | "hang in the middle";

export interface Asked {
  readonly url: string;
  readonly body: Json;
}

export interface ExtenderServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

export interface ExtenderTls {
  readonly cert: string;
  readonly key: string;
  /** CA of client certificates; absent: clients need none. */
  readonly ca?: string;
}

export async function extenderServer(
  answer: (asked: Asked) => Answer | Promise<Answer>,
  tls?: ExtenderTls,
): Promise<ExtenderServer> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    const respond = async () => {
      const one = { url: request.url ?? "", body: JSON.parse(await bodyOf(request)) as Json };
      asked.push(one);
      const said = await answer(one);
      if (said === "hang") return;
      if (said === "hang in the middle") {
        response.writeHead(200, { "content-length": 100 });
        response.write("{");
        return;
      }
      response.writeHead(said.status ?? 200);
      response.end(said.text ?? JSON.stringify(said.body ?? null));
    };
    respond().catch(() => response.destroy());
  };
  const isMutual = tls?.ca !== undefined;
  const server =
    tls === undefined
      ? createHttpServer(listener)
      : createHttpsServer({ ...tls, requestCert: isMutual, rejectUnauthorized: isMutual }, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/ext`,
    asked,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
