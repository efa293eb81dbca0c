/**
 * The connections to one extension server: HTTP/2 where it speaks that, else HTTP/1.1.
 *
 *     request ──► address ──► open session with room ──────────────► stream
 *                        └──► TLS ──► h2:        a session, kept ──► stream
 *                                └──► http/1.1:  the agent's own ──► request
 *
 * 1. The server's certificate is verified by the APIService's `caBundle` for `<name>.<namespace>.svc`; this server
 *    presents the front-proxy certificate.
 * 2. A request without a body that fails on a kept connection is sent once more: the server may have closed that
 *    connection while it was idle.
 * 3. A failure before the response is an `Unreachable`, in the words of Go.
 * 4. After `close` no connection is left; requests under way are cut.
 */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import type { Duplex, Readable } from "node:stream";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { addressText, type Clock, type Dial, type NetworkAddress, networkErrorText } from "#base";
import { Unreachable } from "../connect/forward.ts";
import { IdleSessions } from "./idle-sessions.ts";

const CONNECT_WITHIN_MS = 10_000;
const FREE_CONNECTIONS = 64;

/** A certificate and its key, in PEM. */
export interface Identity {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface BackendOptions {
  readonly serverName: string;
  /** PEM; undefined: the system's authorities. */
  readonly ca: string | undefined;
  readonly insecure: boolean;
  /** The current client certificate of this server. */
  readonly identity: () => Identity | undefined;
  readonly clock: Clock;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

export interface Outgoing {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Readable | Buffer | undefined;
}

export interface Incoming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** Valid once the body has ended: whether it was cut short. */
  isBroken(): boolean;
}

export type Upgraded = { readonly incoming: Incoming; readonly connection?: Duplex };

export class Backend {
  readonly #options: BackendOptions;
  readonly #sessions: IdleSessions;
  readonly #agent: Agent;
  /** A new connection that negotiated HTTP/1.1, for the request that it was made for. */
  readonly #spare = new Map<string, TLSSocket>();
  /** Addresses that negotiated HTTP/1.1. */
  readonly #http1 = new Set<string>();
  readonly #connecting = new Set<TLSSocket>();

  constructor(options: BackendOptions) {
    this.#options = options;
    this.#sessions = new IdleSessions(options.clock);
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_CONNECTIONS });
    this.#agent.createConnection = ({ host, port }, made) =>
      this.#http1Connection({ host: host ?? "", port: Number(port) }, made);
  }

  async send(address: NetworkAddress, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
    const once = () => this.#send(address, outgoing, signal);
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof Unreachable) || !error.wasKept || outgoing.body !== undefined || signal.aborted)
        throw error;
      return await once();
    }
  }

  /** Requests an upgrade, over HTTP/1.1. Without a connection in the result the server has declined. */
  async upgrade(address: NetworkAddress, outgoing: Outgoing, signal: AbortSignal): Promise<Upgraded> {
    const socket = await this.#connect(address, ["http/1.1"], signal);
    const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
    const request = this.#http1Request(address, outgoing, signal, { createConnection: () => socket });
    request.once("upgrade", (response, connection, head) => {
      if (head.length > 0) connection.unshift(head);
      resolve({ incoming: incomingOf(response), connection });
    });
    request.once("response", (response) => resolve({ incoming: incomingOf(response) }));
    request.once("error", (error) => reject(this.#unreachable(error, address, false)));
    request.end();
    return promise;
  }

  close(): void {
    this.#sessions.close();
    this.#agent.destroy();
    for (const socket of this.#connecting) socket.destroy();
  }

  async #send(address: NetworkAddress, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
    const at = addressText(address);
    if (this.#http1.has(at)) return this.#overHttp1(address, outgoing, signal);
    const open = this.#sessions.find(at);
    if (open !== undefined) return this.#overHttp2(open, address, outgoing, signal, true);
    const socket = await this.#connect(address, ["h2", "http/1.1"], signal);
    if (socket.alpnProtocol === "h2") {
      const session = connectHttp2(`https://${at}`, { createConnection: () => socket });
      this.#sessions.add(at, session);
      return this.#overHttp2(session, address, outgoing, signal, false);
    }
    this.#http1.add(at);
    this.#spare.set(at, socket);
    const answer = this.#overHttp1(address, outgoing, signal);
    // The agent takes it synchronously, unless it has another free connection.
    if (this.#spare.delete(at)) socket.destroy();
    return answer;
  }

  #overHttp2(
    session: ClientHttp2Session,
    address: NetworkAddress,
    { method, path, headers, body }: Outgoing,
    signal: AbortSignal,
    wasKept: boolean,
  ): Promise<Incoming> {
    const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
    const fail = (error: Error) => reject(this.#unreachable(error, address, wasKept));
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(
        { ":method": method, ":path": path, ":authority": addressText(address), ...headers },
        { endStream: body === undefined, signal },
      );
    } catch (error) {
      return Promise.reject(this.#unreachable(error as Error, address, wasKept));
    }
    this.#sessions.use(session, stream);
    stream.once("response", ({ ":status": status = 502, ...rest }) =>
      resolve({
        status,
        headers: rest as Incoming["headers"],
        body: stream,
        isBroken: () => stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR,
      }),
    );
    // After the response has begun, its reader sees that it breaks off.
    stream.on("error", fail);
    stream.once("close", () => fail(Object.assign(new Error("EOF"), { code: "ECONNRESET" })));
    giveBody(body, stream);
    return promise;
  }

  #overHttp1(address: NetworkAddress, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> {
    const { promise, resolve, reject } = Promise.withResolvers<Incoming>();
    const request = this.#http1Request(address, outgoing, signal, { agent: this.#agent });
    request.once("response", (response) => resolve(incomingOf(response)));
    request.on("error", (error) => {
      // It may negotiate another protocol when it comes back.
      if (!request.reusedSocket) this.#http1.delete(addressText(address));
      reject(this.#unreachable(error, address, request.reusedSocket));
    });
    giveBody(outgoing.body, request);
    return promise;
  }

  #http1Request(
    { host, port }: NetworkAddress,
    { method, path, headers }: Outgoing,
    signal: AbortSignal,
    by: { readonly agent: Agent } | { readonly createConnection: () => TLSSocket },
  ): ClientRequest {
    return httpRequest({
      host,
      port,
      method,
      path,
      headers: { host: addressText({ host, port }), ...headers },
      signal,
      ...by,
    });
  }

  #http1Connection(
    address: NetworkAddress,
    made: ((error: Error | null, stream: Duplex) => void) | undefined,
  ): TLSSocket | undefined {
    const at = addressText(address);
    const spare = this.#spare.get(at);
    this.#spare.delete(at);
    if (spare !== undefined) return spare;
    const { dial } = this.#options;
    if (dial === undefined) return this.#open(address, ["http/1.1"]);
    const opened = made as ((error: Error | null, stream?: Duplex) => void) | undefined;
    dial(address).then(
      (stream) => opened?.(null, this.#open(address, ["http/1.1"], stream)),
      (error: Error) => opened?.(error),
    );
    return undefined;
  }

  /** `stream`: a connection that leads there. */
  #open({ host, port }: NetworkAddress, protocols: string[], stream?: Duplex): TLSSocket {
    const { serverName, ca, insecure, identity } = this.#options;
    const own = identity();
    return connectTls({
      ...(stream === undefined ? { host, port } : { socket: stream }),
      servername: serverName,
      ALPNProtocols: protocols,
      rejectUnauthorized: !insecure,
      ca,
      cert: own?.certPem,
      key: own?.keyPem,
    });
  }

  async #connect(address: NetworkAddress, protocols: string[], signal: AbortSignal): Promise<TLSSocket> {
    const stream = await this.#options.dial?.(address).catch((error: Error) => {
      throw this.#unreachable(error, address, false);
    });
    const socket = this.#open(address, protocols, stream);
    this.#connecting.add(socket);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => reject(signal.reason);
    const late = Object.assign(new Error("TLS handshake timeout"), { code: "ETIMEDOUT" });
    const timer = this.#options.clock.timer(CONNECT_WITHIN_MS, () => reject(late));
    signal.addEventListener("abort", stop, { once: true });
    socket.once("secureConnect", resolve);
    socket.on("error", reject);
    socket.once("close", () => reject(Object.assign(new Error("EOF"), { code: "ECONNRESET" })));
    try {
      signal.throwIfAborted();
      await promise;
      return socket;
    } catch (error) {
      socket.destroy();
      throw signal.aborted ? error : this.#unreachable(error as Error, address, false);
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", stop);
      this.#connecting.delete(socket);
    }
  }

  #unreachable(error: Error, address: NetworkAddress, wasKept: boolean): Unreachable {
    const { code } = error as NodeJS.ErrnoException;
    // An extension server that stops answering has ended the connection, not refused it.
    return new Unreachable(code === "ECONNRESET" ? "EOF" : networkErrorText(error, address), { cause: error, wasKept });
  }
}

function incomingOf(response: IncomingMessage): Incoming {
  // Its reader sees that it breaks off; without a listener it would be an uncaught error before anybody reads.
  response.on("error", () => {});
  const { statusCode: status = 502, headers } = response;
  return { status, headers, body: response, isBroken: () => !response.complete };
}

/** If the body breaks off, the caller has gone and the signal ends the request. */
function giveBody(body: Readable | Buffer | undefined, to: ClientRequest | ClientHttp2Stream): void {
  if (body === undefined) to.end();
  else if (Buffer.isBuffer(body)) to.end(body);
  else body.pipe(to);
}
