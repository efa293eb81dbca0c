/**
 * Ports of Pods and Services on this machine's loopback, opened from the page, as `kubectl port-forward` does.
 *
 *     page ──► open ──► may the user? ──► a listening port
 *     a local program ──► the port ──► podPortOf ──► pods/portforward, as the user ──► the container
 *
 * 1. Only loopback listens, and only while the dashboard runs.
 * 2. The API server authorizes each connection; a user who may not is told when the port is opened.
 * 3. What fails is kept with its words for the page; the port stays.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Clock } from "#base";
import { type ApiServer, RefusedByServer } from "../upstream.ts";
import { joinPort, PORT_PROTOCOL } from "./port-channel.ts";
import { type Destination, podPortOf } from "./target.ts";

/** As the page shows it. */
export interface Forward extends Destination {
  readonly id: number;
  readonly localPort: number;
  /** Of the last connection. */
  readonly pod: string;
  readonly open: number;
  readonly total: number;
  /** Why the last connection failed; empty: it did not. */
  readonly trouble: string;
}

const MAX_FORWARDS = 64;
const MAX_CONNECTIONS = 256;

interface Running {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  shown: Forward;
}

export class Forwards {
  readonly #clock: Clock;
  readonly #all = new Map<number, Running>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  list(): Forward[] {
    return [...this.#all.values()].map(({ shown }) => shown);
  }

  /** `localPort`: 0 picks a free one. Throws RefusedByServer. */
  async open(api: ApiServer, destination: Destination, localPort: number): Promise<Forward> {
    if (this.#all.size >= MAX_FORWARDS)
      throw new RefusedByServer(429, "TooManyRequests", `${MAX_FORWARDS} ports are forwarded already: close one.`);
    await mayForward(api, destination);
    // A Service without Pods is told now.
    const { pod } = await podPortOf(api, destination);
    const server = createServer({ allowHalfOpen: true });
    server.maxConnections = MAX_CONNECTIONS;
    await listening(server, localPort);
    const id = ++this.#last;
    const port = (server.address() as AddressInfo).port;
    const shown = { ...destination, id, localPort: port, pod, open: 0, total: 0, trouble: "" };
    const running: Running = { server, sockets: new Set(), shown };
    this.#all.set(id, running);
    server.on("connection", (local) => void this.#join(api, running, local));
    return running.shown;
  }

  /** Whether there was one. */
  async close(id: number): Promise<boolean> {
    const running = this.#all.get(id);
    if (running === undefined) return false;
    this.#all.delete(id);
    const closed = once(running.server.close(), "close");
    for (const socket of running.sockets) socket.destroy();
    await closed;
    return true;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((id) => this.close(id)));
  }

  async #join(api: ApiServer, running: Running, local: Socket): Promise<void> {
    const tell = (news: Partial<Forward>) => {
      running.shown = { ...running.shown, ...news };
    };
    running.sockets.add(local);
    local.once("close", () => running.sockets.delete(local));
    local.on("error", () => local.destroy());
    local.pause();
    tell({ open: running.shown.open + 1, total: running.shown.total + 1 });
    try {
      const { pod, port } = await podPortOf(api, running.shown);
      tell({ pod });
      const inside = `/api/v1/namespaces/${encodeURIComponent(running.shown.namespace)}`;
      const far = await api.dial(`${inside}/pods/${encodeURIComponent(pod)}/portforward?ports=${port}`, PORT_PROTOCOL);
      tell({ trouble: await joinPort(far, local, this.#clock) });
    } catch (error) {
      tell({ trouble: (error as Error).message });
    } finally {
      tell({ open: running.shown.open - 1 });
      local.destroySoon();
    }
  }
}

interface Review {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

async function mayForward(api: ApiServer, { resource, namespace, name }: Destination): Promise<void> {
  // Of a Service, any Pod may be meant.
  const about = { verb: "create", resource: "pods", subresource: "portforward", namespace };
  const resourceAttributes = resource === "pods" ? { ...about, name } : about;
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  const { status } = await api.json<Review>("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body);
  if (status?.allowed === true) return;
  const where = `resource "pods/portforward" in API group "" in the namespace "${namespace}"`;
  throw new RefusedByServer(403, "Forbidden", `You cannot create ${where}. ${status?.reason ?? ""}`.trim());
}

async function listening(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const words =
      code === "EADDRINUSE"
        ? `Port ${port} of this machine is in use.`
        : code === "EACCES"
          ? `Port ${port} of this machine needs more rights than this user has.`
          : message;
    throw new RefusedByServer(409, "Conflict", `${words} Without a port, a free one is taken.`);
  }
}
