/**
 * Connections through a konnectivity server: its gRPC protocol, over a Unix socket. One call of its service is one
 * connection, as with upstream's client.
 *
 *     DIAL_REQ ──► DIAL_RSP with a connection's id ──► DATA in both directions ──► CLOSE_REQ ──► CLOSE_RSP
 *
 * 1. It reads only as fast as the connection's user does.
 * 2. When the connection ends, its channel is closed.
 */
import { Duplex } from "node:stream";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import { addressText, type NetworkAddress, type Random } from "#base";
import { methodsOf, type Received, type Sent, socketTarget } from "#grpc";

/** The values of the field `type`. */
export const PACKET = {
  dialRequest: 0,
  dialResponse: 1,
  closeRequest: 2,
  closeResponse: 3,
  data: 4,
  dialClosed: 5,
} as const;

const MESSAGES = {
  Packet: {
    type: [1, "enum PacketType"],
    dialRequest: [2, "DialRequest"],
    dialResponse: [3, "DialResponse"],
    data: [4, "Data"],
    closeRequest: [5, "CloseRequest"],
    closeResponse: [6, "CloseResponse"],
    closeDial: [7, "CloseDial"],
  },
  DialRequest: { protocol: [1, "string"], address: [2, "string"], random: [3, "int64"] },
  DialResponse: { error: [1, "string"], connectID: [2, "int64"], random: [3, "int64"] },
  CloseRequest: { connectID: [1, "int64"] },
  CloseResponse: { error: [1, "string"], connectID: [2, "int64"] },
  CloseDial: { random: [1, "int64"] },
  Data: { connectID: [1, "int64"], error: [2, "string"], data: [3, "bytes"] },
} as const;

export type ReceivedPacket = Received<typeof MESSAGES, "Packet">;
export type SentPacket = Sent<typeof MESSAGES, "Packet">;

export const { Proxy: PROXY } = methodsOf("ProxyService", MESSAGES, { Proxy: ["Packet", "Packet", "stream"] });

type Packets = ClientDuplexStream<SentPacket, ReceivedPacket>;

/** Far below what a gRPC server accepts in one message. */
const MAX_DATA_BYTES = 256 * 1024;
const SETTINGS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  // The path of a Unix socket is not a valid host name.
  "grpc.default_authority": "localhost",
};

/** A channel to the server, which is reached. */
export async function reachKonnectivity(path: string, signal: AbortSignal): Promise<Client> {
  signal.throwIfAborted();
  const client = new Client(socketTarget(path), credentials.createInsecure(), SETTINGS);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cut = () => reject(signal.reason);
  signal.addEventListener("abort", cut, { once: true });
  // It gives up as soon as the first attempt has failed: the caller tries again.
  const watch = (state: number) =>
    client.getChannel().watchConnectivityState(state, Number.POSITIVE_INFINITY, (error) => {
      const now = client.getChannel().getConnectivityState(true);
      if (error !== undefined && error !== null) reject(error);
      else if (now === READY) resolve();
      else if (now === FAILED || now === CLOSED) reject(new Error("connection error"));
      else watch(now);
    });
  watch(client.getChannel().getConnectivityState(true));
  try {
    await promise;
    return client;
  } catch (error) {
    client.close();
    throw new Error(`failed to create connection to uds name ${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    signal.removeEventListener("abort", cut);
  }
}

/** States of a channel. */
const READY = 2;
const FAILED = 3;
const CLOSED = 4;

/** Asks the server for a connection to the address. The channel is closed with it, also if there is none. */
export async function dialThrough(
  client: Client,
  to: NetworkAddress,
  random: Random,
  signal: AbortSignal,
): Promise<Duplex> {
  const packets: Packets = client.makeBidiStreamRequest(PROXY.path, PROXY.encode, PROXY.decode);
  const id = String(1 + random.integer(2 ** 48));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const cut = () => reject(signal.reason);
  signal.addEventListener("abort", cut, { once: true });
  const answered = ({ type, dialResponse, closeDial }: ReceivedPacket) => {
    if (type === PACKET.dialClosed && closeDial?.random === id) reject(new Error("tunnel dial closed"));
    if (type !== PACKET.dialResponse || dialResponse?.random !== id) return;
    packets.pause();
    if (dialResponse.error !== "") reject(new Error(dialResponse.error));
    else resolve(dialResponse.connectID);
  };
  const ended = () => reject(new Error("tunnel is closed"));
  packets.on("data", answered).on("error", reject).once("end", ended);
  packets.write({ type: PACKET.dialRequest, dialRequest: { protocol: "tcp", address: addressText(to), random: id } });
  try {
    const connection = await promise;
    return new Tunnel(client, packets, connection);
  } catch (error) {
    packets.cancel();
    client.close();
    throw error;
  } finally {
    packets.off("data", answered).off("end", ended);
    signal.removeEventListener("abort", cut);
  }
}

class Tunnel extends Duplex {
  readonly #client: Client;
  readonly #packets: Packets;
  readonly #id: string;
  #isClosed = false;

  constructor(client: Client, packets: Packets, id: string) {
    super({ allowHalfOpen: false });
    this.#client = client;
    this.#packets = packets;
    this.#id = id;
    packets.on("data", (packet: ReceivedPacket) => this.#take(packet));
    packets.on("error", (error) => this.destroy(error));
    packets.once("end", () => this.#ended());
    packets.pause();
  }

  override _read(): void {
    this.#packets.resume();
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    for (let from = 0; from < chunk.length; from += MAX_DATA_BYTES) {
      const data = chunk.subarray(from, from + MAX_DATA_BYTES);
      const isLast = from + MAX_DATA_BYTES >= chunk.length;
      const packet = { type: PACKET.data, data: { connectID: this.#id, data } };
      if (isLast) this.#packets.write(packet, done);
      else this.#packets.write(packet);
    }
    if (chunk.length === 0) done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isClosed) this.#packets.write({ type: PACKET.closeRequest, closeRequest: { connectID: this.#id } });
    this.#packets.end();
    // Calls under way are finished: the request to close is still sent.
    this.#client.close();
    done(error);
  }

  #take({ type, data, closeResponse }: ReceivedPacket): void {
    if (type === PACKET.data && data?.connectID === this.#id) {
      if (!this.push(data.data)) this.#packets.pause();
    } else if (type === PACKET.closeResponse && closeResponse?.connectID === this.#id) this.#ended();
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.push(null);
  }
}
