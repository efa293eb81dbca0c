/**
 * A dashboard on loopback. Until somebody opens it, it is a listening socket and nothing else: what serves it is loaded with the first request.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Clock, Logger } from "#base";
import type { Routes } from "./routes.ts";
import { Sessions, secret } from "./sessions.ts";
import type { Upstream } from "./upstream.ts";

export interface DashboardOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 picks a free one. */
  readonly port: number;
  /** The folder that the build of the page wrote. */
  readonly assets: string;
  /** Where the API server is, and who the user is: asked for when a session begins. */
  readonly upstream: () => Promise<Upstream>;
}

export interface Dashboard {
  /** A link that works once, and makes the one before worthless. */
  newLink(): string;
  close(): Promise<void>;
}

export async function startDashboard({ clock, log, port, assets, upstream }: DashboardOptions): Promise<Dashboard> {
  const sessions = new Sessions(clock);
  const path = `/${secret().slice(0, 12)}`;
  const server: Server = createServer();
  const portOf = () => (server.address() as AddressInfo).port;
  let loading: Promise<Routes> | undefined;
  const routes = () => {
    loading ??= import("./routes.ts").then(
      (module) => new module.Routes({ sessions, path, port: portOf, assets, upstream }),
    );
    return loading;
  };
  // The server forgets those that became WebSockets.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (message, response) => {
    routes()
      .then((all) => all.answer(message, response))
      .catch((error: unknown) => {
        log.warn("the dashboard could not answer", { error });
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
  });
  server.on("upgrade", (message, socket, head) => {
    routes()
      .then((all) => all.upgrade(message, socket, head))
      .catch((error: unknown) => {
        log.warn("the dashboard could not answer", { error });
        socket.destroy();
      });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    newLink: () => `http://127.0.0.1:${portOf()}${path}/?token=${sessions.newToken()}`,
    async close() {
      (await loading)?.close();
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
