/**
 * A TCP balancer on loopback before the API servers of a cluster. TLS passes through: clients verify the server itself.
 *
 *     client ──► preferred ──► connect (the next one if that fails) ──► bytes in both directions
 *     check of each member ···► reported ──► dead: its connections are cut, and their clients come again
 *
 * 1. A connection is passed on to one member only: no byte of a client is sent before a member has taken it.
 * 2. Closing it ends all connections.
 */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Clock, Logger, Random } from "#base";
import type { Check } from "./check.ts";
import { healthOf, type Members, preferred, type Report, reported, withAddresses } from "./members.ts";

const CONNECT_MS = 2_000;

export interface BalancerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** API servers to begin with: `host:port`. */
  readonly members: readonly string[];
  /** Asks a member whether it is ready. */
  readonly check: Check;
  /** Called when the set of members that can be used changes. */
  readonly onChange?: ((usable: (address: string) => boolean) => void) | undefined;
  readonly intervalMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const INTERVAL_MS = 1_000;

export class Balancer {
  readonly #options: BalancerOptions;
  readonly #server: Server;
  readonly #open = new Map<string, Set<Socket>>();
  readonly #clients = new Set<Socket>();
  #members: Members = [];

  private constructor(options: BalancerOptions) {
    this.#options = options;
    this.#members = withAddresses([], options.members);
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => void this.#serve(client));
  }

  static async open(options: BalancerOptions): Promise<Balancer> {
    const balancer = new Balancer(options);
    balancer.#server.listen(options.port, options.host);
    await once(balancer.#server, "listening");
    return balancer;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get members(): Members {
    return this.#members;
  }

  /** What the cluster says. No addresses: it does not know, and all stay. */
  setAddresses(addresses: readonly string[]): void {
    if (addresses.length > 0) this.#change(withAddresses(this.#members, addresses));
  }

  /** Checks all members again and again, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs = INTERVAL_MS } = this.#options;
    while (!signal.aborted) {
      await Promise.all(this.#members.map(({ address }) => this.#checkOne(address, signal)));
      await clock.sleep(intervalMs, signal);
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of [...this.#clients, ...[...this.#open.values()].flatMap((all) => [...all])]) socket.destroy();
    await closed;
  }

  async #checkOne(address: string, signal: AbortSignal): Promise<void> {
    const report = await this.#options.check(address, signal);
    if (!signal.aborted) this.#report(address, report);
  }

  #report(address: string, report: Report): void {
    this.#change(reported(this.#members, address, report));
  }

  #change(next: Members): void {
    const { log, onChange } = this.#options;
    const before = this.#members;
    this.#members = next;
    let isOther = before.length !== next.length;
    for (const { address, health } of next) {
      const was = healthOf(before, address);
      if (was === health && before.some((member) => member.address === address)) continue;
      isOther = true;
      log.info("an API server's health has changed", { address, health });
    }
    for (const [address, sockets] of this.#open) {
      if (healthOf(next, address) === "dead") for (const socket of sockets) socket.destroy();
    }
    if (isOther) onChange?.(usableOf(next));
  }

  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client);
    client.on("error", () => client.destroy());
    client.once("close", () => this.#clients.delete(client));
    const { random } = this.#options;
    for (const address of preferred(
      this.#members,
      (each) => this.#open.get(each)?.size ?? 0,
      () => random.next(),
    )) {
      if (client.destroyed) return;
      const server = await this.#connect(address);
      if (server !== undefined) return this.#join(client, server, address);
    }
    client.destroy();
  }

  /** Undefined if it does not take the connection. */
  async #connect(address: string): Promise<Socket | undefined> {
    const { clock } = this.#options;
    const socket = connect({ ...endOf(address), noDelay: true });
    const timer = clock.timer(CONNECT_MS, () => socket.destroy(new Error("it does not answer")));
    try {
      await once(socket, "connect");
      return socket;
    } catch (error) {
      socket.destroy();
      this.#report(address, (error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "refused" : "no answer");
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  #join(client: Socket, server: Socket, address: string): void {
    const open = this.#open.get(address) ?? new Set();
    this.#open.set(address, open.add(server));
    server.on("error", () => server.destroy());
    // Destroyed, not ended: a client that waits for an answer must not wait for one of a dead server.
    server.once("close", () => {
      open.delete(server);
      client.destroy();
    });
    client.once("close", () => server.destroy());
    if (client.destroyed) server.destroy();
    client.pipe(server);
    server.pipe(client);
  }
}

function usableOf(members: Members): (address: string) => boolean {
  const usable = new Set(members.filter(({ health }) => health === "ready").map(({ address }) => address));
  // Nobody is ready, as far as this node knows: then all are as good as each other.
  return (address) => usable.size === 0 || usable.has(address);
}

/** `host:port` or `[host]:port`. */
export function endOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) };
}

export function addressText(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
