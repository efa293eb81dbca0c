/**
 * Leads gRPC channels through a Dial. grpc-js opens its own sockets, so each member gets a Unix socket in a directory
 * that only this user can enter; what connects there is joined with a dialed connection to the member.
 *
 * 1. Bytes pass unchanged: TLS is between the channel and the member.
 * 2. A dial that fails closes the channel's socket: the channel tries again after its backoff.
 * 3. `close` removes the sockets and cuts what is joined.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { abortable, type Dial, joined, type NetworkAddress } from "#base";

export class Relays {
  readonly #dir: string;
  readonly #dial: Dial;
  readonly #failed: (error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #servers: Server[] = [];
  readonly #open = new Set<Promise<void>>();

  private constructor(dir: string, dial: Dial, failed: (error: unknown) => void) {
    this.#dir = dir;
    this.#dial = dial;
    this.#failed = failed;
  }

  static async open(dial: Dial, failed: (error: unknown) => void): Promise<Relays> {
    return new Relays(await mkdtemp(join(tmpdir(), "k8ts-etcd-relay-")), dial, failed);
  }

  /** The path of a socket that leads to the address. */
  async to(address: NetworkAddress): Promise<string> {
    const path = join(this.#dir, `${this.#servers.length}.sock`);
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const done = this.#pass(socket, address).finally(() => this.#open.delete(done));
      this.#open.add(done);
    });
    this.#servers.push(server);
    server.listen(path);
    await once(server, "listening");
    return path;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = this.#servers.map((server) => once(server.close(), "close"));
    await Promise.all([...this.#open, ...closed]);
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #pass(socket: Socket, address: NetworkAddress): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const dialing = this.#dial(address);
      const stream = await abortable(dialing, this.#closing.signal).catch((error: unknown) => {
        // It may still succeed when nobody needs it any more.
        dialing.then(
          (late) => late.destroy(),
          () => {},
        );
        throw error;
      });
      await joined(socket, stream, this.#closing.signal);
    } catch (error) {
      socket.destroy();
      if (!this.#closing.signal.aborted) this.#failed(error);
    }
  }
}
