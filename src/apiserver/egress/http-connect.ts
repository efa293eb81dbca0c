/**
 * Connections through a proxy that speaks HTTP CONNECT, over TCP (plain or mutual TLS) or a Unix socket.
 *
 *     connect ──► socket of the proxy ──► CONNECT host:port ──► 200: the socket leads there
 *
 * 1. Failures have upstream's words.
 */
import { request } from "node:http";
import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { addressText, type NetworkAddress, networkErrorText } from "#base";

/** How the proxy is reached; PEM where it is reached by TLS. */
export type HttpProxy =
  | { readonly kind: "uds"; readonly path: string }
  | {
      readonly kind: "tcp";
      readonly address: NetworkAddress;
      readonly tls?: { readonly ca?: string | undefined; readonly cert: string; readonly key: string } | undefined;
    };

/** Resolves when the proxy can be written to. The signal destroys the socket. */
export async function reachProxy(proxy: HttpProxy, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted();
  const socket = open(proxy);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cut = () => reject(signal.reason);
  signal.addEventListener("abort", cut, { once: true });
  socket.once("tls" in proxy && proxy.tls !== undefined ? "secureConnect" : "connect", resolve);
  socket.once("error", reject);
  try {
    await promise;
    return socket;
  } catch (error) {
    socket.destroy();
    const address = proxy.kind === "tcp" ? proxy.address : { host: proxy.path, port: 0 };
    const why = proxy.kind === "tcp" ? networkErrorText(error, address) : (error as Error).message;
    throw new Error(`dialing proxy ${JSON.stringify(nameOf(proxy))} failed: ${why}`, { cause: error });
  } finally {
    signal.removeEventListener("abort", cut);
    socket.off("error", reject);
  }
}

/** Asks the proxy for a connection to the address. The socket is destroyed if it has none. */
export async function tunnel(
  socket: Duplex,
  proxy: HttpProxy,
  to: NetworkAddress,
  signal: AbortSignal,
): Promise<Duplex> {
  const path = addressText(to);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const asked = request({
    method: "CONNECT",
    path,
    headers: { host: "127.0.0.1" },
    createConnection: () => socket,
    signal,
  });
  const refused = (status = 0, reason = "") =>
    reject(new Error(`proxy error from ${nameOf(proxy)} while dialing ${path}, code ${status}: ${status} ${reason}`));
  asked.once("connect", ({ statusCode, statusMessage }, _, head) => {
    if (statusCode !== 200) refused(statusCode, statusMessage);
    else if (head.length === 0) resolve();
    // TLS, which is spoken next, begins with its client.
    else reject(new Error(`unexpected ${head.length} bytes of buffered data from CONNECT proxy "${nameOf(proxy)}"`));
  });
  asked.once("response", ({ statusCode, statusMessage }) => refused(statusCode, statusMessage));
  asked.on("error", (cause) => {
    const why = signal.aborted ? signal.reason : cause;
    const text = why instanceof Error ? why.message : String(why);
    reject(
      new Error(`reading HTTP response from CONNECT to ${path} via proxy ${nameOf(proxy)} failed: ${text}`, { cause }),
    );
  });
  asked.end();
  try {
    await promise;
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function open(proxy: HttpProxy) {
  if (proxy.kind === "uds") return connectTcp(proxy.path);
  const { address, tls } = proxy;
  if (tls === undefined) return connectTcp(address);
  return connectTls({ ...address, ...tls, ...(isIP(address.host) === 0 && { servername: address.host }) });
}

function nameOf(proxy: HttpProxy): string {
  return proxy.kind === "uds" ? proxy.path : addressText(proxy.address);
}
