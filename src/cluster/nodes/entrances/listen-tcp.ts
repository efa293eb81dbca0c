/**
 * Passes TCP connections on to a target.
 *
 * 1. A direction that one side has ended stays open in the other one.
 * 2. A target that cannot be reached costs a client its connection only if no other can: it is reset, as if nobody
 *    listened.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Clock } from "#base";
import type { Target } from "./plan.ts";

const CONNECT_MS = 5000;
const MAX_CONNECTIONS = 10_000;

export interface Listener {
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly address: string;
  readonly port: number;
  /** Asked for each connection. */
  readonly targets: () => readonly Target[];
  readonly clock: Clock;
}

/** Rejects if the port is not to be had. */
export async function listenTcp({ address, port, targets, clock }: ListenOptions): Promise<Listener> {
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    return socket;
  };
  let turn = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (client) => {
    track(client);
    const all = targets();
    const first = all.length === 0 ? 0 : turn++ % all.length;
    void reach(client, [...all.slice(first), ...all.slice(0, first)], track, clock);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen({ host: address, port, ipv6Only: true });
  await once(server, "listening");
  return {
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function reach(
  client: Socket,
  targets: readonly Target[],
  track: (socket: Socket) => Socket,
  clock: Clock,
): Promise<void> {
  for (const { host, port } of targets) {
    if (client.destroyed) return;
    const target = track(connect({ host, port, allowHalfOpen: true, noDelay: true }));
    if (!(await isConnected(target, client, clock))) continue;
    client.pipe(target).pipe(client);
    // One that has ended in order has passed all on: the other may still have some of it to send.
    client.once("close", () => client.readableEnded || target.destroy());
    target.once("close", () => target.readableEnded || client.destroy());
    return;
  }
  if (!client.destroyed) client.resetAndDestroy();
}

async function isConnected(target: Socket, client: Socket, clock: Clock): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = clock.timer(CONNECT_MS, () => resolve(false));
  const gone = () => resolve(false);
  client.once("close", gone);
  target.once("connect", () => resolve(true)).once("close", gone);
  const done = await promise;
  timer.cancel();
  client.off("close", gone);
  target.off("close", gone);
  if (!done) target.destroy();
  return done;
}
