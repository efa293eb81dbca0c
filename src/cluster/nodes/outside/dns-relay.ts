/**
 * Passes DNS questions of nodes on to the resolvers of this machine, from the machine's own network: they may be
 * reachable from nowhere else, as a stub at 127.0.0.53 is.
 *
 *     node's DNS ──► relay (UDP, TCP) ──► servers of resolv.conf, in their order
 *
 * 1. Questions and responses are passed on as they are, each by the protocol by which it came.
 * 2. A server that does not answer in time is asked after the others for a while. Without any response there is none:
 *    the node's DNS reports the failure.
 * 3. Questions under way are bounded.
 */
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type Clock, childController, type Logger } from "#base";
import { askDns, type UpstreamAddress } from "#network";

/** Nothing else listens on the machine's address in the nodes' network. */
export const DNS_RELAY_PORT = 3153;
const TIMEOUT_MS = 900;
const AVOIDED_MS = 10_000;
const MAX_PENDING = 500;
const MAX_CONNECTIONS = 100;
const IDLE_MS = 10_000;

export interface DnsRelayOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly servers: () => Promise<readonly UpstreamAddress[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DnsRelay {
  readonly port: number;
  close(): Promise<void>;
}

export async function openDnsRelay(options: DnsRelayOptions): Promise<DnsRelay> {
  const { host, port, log } = options;
  const closing = new AbortController();
  const asking = new Asking(options, closing.signal);
  const udp = createSocket("udp4");
  udp.bind(port, host);
  await once(udp, "listening");
  udp.on("error", (error) => log.warn("the DNS relay's socket failed", { error }));
  udp.on("message", (question: Buffer, from: RemoteInfo) => {
    void asking.ask(question, "udp").then((answer) => {
      if (answer !== undefined && !closing.signal.aborted) udp.send(answer, from.port, from.address, () => {});
    });
  });
  const bound = udp.address().port;
  const connections = new Set<Socket>();
  const tcp = createServer((socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    serve(socket, asking);
  });
  tcp.maxConnections = MAX_CONNECTIONS;
  tcp.listen(bound, host);
  await once(tcp, "listening");
  return {
    port: bound,
    async close() {
      closing.abort(new Error("the DNS relay stops"));
      for (const socket of connections) socket.destroy();
      const closed = once(tcp, "close");
      tcp.close();
      udp.close();
      await closed;
    },
  };
}

class Asking {
  readonly #options: DnsRelayOptions;
  readonly #signal: AbortSignal;
  readonly #avoided = new Map<string, number>();
  #pending = 0;

  constructor(options: DnsRelayOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Undefined if nobody answers. */
  async ask(question: Buffer, over: "udp" | "tcp"): Promise<Buffer | undefined> {
    if (this.#pending >= MAX_PENDING) return undefined;
    this.#pending++;
    try {
      for (const server of await this.#inOrder()) {
        const answer = await this.#askOne(server, question, over);
        if (answer !== undefined || this.#signal.aborted) return answer;
      }
      return undefined;
    } catch (error) {
      this.#options.log.warn("the machine's resolvers are not known", { error });
      return undefined;
    } finally {
      this.#pending--;
    }
  }

  async #askOne(server: UpstreamAddress, question: Buffer, over: "udp" | "tcp"): Promise<Buffer | undefined> {
    const { clock, log } = this.#options;
    using deadline = childController(this.#signal);
    const timer = clock.timer(TIMEOUT_MS, () => deadline.abort(new Error("no response in time")));
    try {
      const answer = await askDns(server, question, over, deadline.signal);
      this.#avoided.delete(server.host);
      return answer;
    } catch (error) {
      this.#avoided.set(server.host, clock.monotonic() + AVOIDED_MS);
      log.debug("a resolver of the machine did not answer", { server: server.host, error });
      return undefined;
    } finally {
      timer.cancel();
    }
  }

  async #inOrder(): Promise<UpstreamAddress[]> {
    const servers = await this.#options.servers();
    const now = this.#options.clock.monotonic();
    const isAvoided = ({ host }: UpstreamAddress) => (this.#avoided.get(host) ?? 0) > now;
    return [...servers.filter((each) => !isAvoided(each)), ...servers.filter(isAvoided)];
  }
}

/** One question after the other. */
function serve(socket: Socket, asking: Asking): void {
  let received: Buffer = Buffer.alloc(0);
  let isBusy = false;
  const next = async () => {
    if (isBusy || received.length < 2) return;
    const end = 2 + received.readUInt16BE(0);
    if (received.length < end) return;
    isBusy = true;
    const question = received.subarray(2, end);
    received = received.subarray(end);
    socket.pause();
    const answer = await asking.ask(question, "tcp");
    isBusy = false;
    if (answer === undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    const length = Buffer.alloc(2);
    length.writeUInt16BE(answer.length);
    socket.write(Buffer.concat([length, answer]));
    socket.resume();
    void next();
  };
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    void next();
  });
}
