/**
 * Passes datagrams on to a target, and its answers back.
 *
 * 1. Each client has a socket of its own towards the target, until both were silent for a while.
 * 2. Clients are bounded: beyond that, datagrams get lost, as datagrams may.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { Clock, Timer } from "#base";
import type { Listener, ListenOptions } from "./listen-tcp.ts";
import type { Target } from "./plan.ts";

const IDLE_MS = 60_000;
const MAX_CLIENTS = 1000;

/** Rejects if the port is not to be had. */
export async function listenUdp({ address, port, targets, clock }: ListenOptions): Promise<Listener> {
  const server = createSocket({ type: isIPv6(address) ? "udp6" : "udp4", ipv6Only: isIPv6(address) });
  const clients = new Map<string, UdpClient>();
  let turn = 0;
  server.on("message", (datagram, from) => {
    const key = `${from.address} ${from.port}`;
    let client = clients.get(key);
    if (client === undefined) {
      const all = targets();
      const target = all[turn++ % Math.max(1, all.length)];
      if (target === undefined || clients.size >= MAX_CLIENTS) return;
      client = new UdpClient({ server, from, target, clock, onClose: () => clients.delete(key) });
      clients.set(key, client);
    }
    client.send(datagram);
  });
  server.bind({ address, port, exclusive: true });
  await once(server, "listening");
  server.on("error", () => {}); // answers to clients that are gone
  return {
    async close() {
      for (const client of [...clients.values()]) client.close();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

interface UdpClientOptions {
  readonly server: Socket;
  readonly from: RemoteInfo;
  readonly target: Target;
  readonly clock: Clock;
  readonly onClose: () => void;
}

class UdpClient {
  readonly #options: UdpClientOptions;
  readonly #socket: Socket;
  #idle: Timer | undefined;
  #isClosed = false;

  constructor(options: UdpClientOptions) {
    const { server, from, target } = options;
    this.#options = options;
    this.#socket = createSocket(isIPv6(target.host) ? "udp6" : "udp4");
    this.#socket.on("error", () => this.close());
    this.#socket.on("message", (answer, { address, port }) => {
      if (address !== target.host || port !== target.port || this.#isClosed) return;
      this.#wait();
      server.send(answer, from.port, from.address, () => {});
    });
  }

  send(datagram: Buffer): void {
    const { host, port } = this.#options.target;
    this.#wait();
    this.#socket.send(datagram, port, host, () => {});
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#idle?.cancel();
    this.#socket.close();
    this.#options.onClose();
  }

  #wait(): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.timer(IDLE_MS, () => this.close());
  }
}
