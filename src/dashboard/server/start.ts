/**
 * A dashboard on loopback. Until it is opened, it is only a listening socket: the rest is loaded with the first
 * request.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Clock, Logger } from "#base";
import type { DescribeCluster } from "./cluster.ts";
import type { Clusters } from "./clusters.ts";
import type { Explain } from "./explain.ts";
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
  /** The API server and the user's credentials: read at the start of a session. */
  readonly upstream: () => Promise<Upstream>;
  /** Explains an object's state with the user's credentials. Without it the page has no explanations. */
  readonly explain?: Explain | undefined;
  /** Other clusters that the page leads to. Without it there is no switch. */
  readonly clusters?: Clusters | undefined;
  /** The parts of the cluster, with the user's credentials. Without it the page has no facts of them. */
  readonly describeCluster?: DescribeCluster | undefined;
}

export interface Dashboard {
  /** A one-time link, which invalidates the previous one. */
  newLink(): string;
  /** Where another process gets a link, and the secret that it has to present as a bearer token. */
  readonly access: { readonly url: string; readonly secret: string };
  close(): Promise<void>;
}

export async function startDashboard({ clock, log, port, ...options }: DashboardOptions): Promise<Dashboard> {
  const sessions = new Sessions(clock);
  const path = `/${secret().slice(0, 12)}`;
  const server: Server = createServer();
  const portOf = () => (server.address() as AddressInfo).port;
  const base = () => `http://127.0.0.1:${portOf()}${path}/`;
  const newLink = () => `${base()}?token=${sessions.newToken()}`;
  let loading: Promise<Routes> | undefined;
  const routes = () => {
    const parts = { clock, sessions, path, port: portOf, newLink, ...options };
    loading ??= import("./routes.ts").then((module) => new module.Routes(parts));
    return loading;
  };
  // The server does not track upgraded sockets.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (message, response) => {
    routes()
      .then((all) => all.answer(message, response))
      .catch((error: unknown) => {
        log.warn("the dashboard could not serve a request", { error });
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
  });
  server.on("upgrade", (message, socket, head) => {
    routes()
      .then((all) => all.upgrade(message, socket, head))
      .catch((error: unknown) => {
        log.warn("the dashboard could not serve a request", { error });
        socket.destroy();
      });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    newLink,
    access: { url: `${base()}link`, secret: sessions.holder },
    async close() {
      await (await loading)?.close();
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
