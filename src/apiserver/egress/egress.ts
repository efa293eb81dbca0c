/**
 * How this server opens connections to webhooks, nodes, Pods, Services and etcd, from an EgressSelectorConfiguration.
 *
 * 1. Every dial ends within its time, and its outcome is measured. What it has opened is closed if it fails.
 */
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock, Dial, NetworkAddress, Random } from "#base";
import type { EgressConnection, EgressName, EgressSelections } from "./configuration.ts";
import { type HttpProxy, reachProxy, tunnel } from "./http-connect.ts";
import type { DialMetrics, DialStage } from "./metrics.ts";

/** Absent: connections are made directly. */
export type Egress = { readonly [K in EgressName]?: Dial | undefined };

export interface EgressOptions {
  readonly selections: EgressSelections;
  /** Reads a PEM file. */
  readonly read: (file: string) => Promise<string>;
  readonly metrics: DialMetrics;
  readonly clock: Clock;
  readonly random: Random;
}

const DIAL_TIMEOUT_MS = 30_000;

/** One way to ask a proxy: reach it, then ask it for an address. */
interface Proxied<P> {
  readonly protocol: string;
  readonly transport: string;
  reach(signal: AbortSignal): Promise<P>;
  ask(proxy: P, to: NetworkAddress, signal: AbortSignal): Promise<Duplex>;
}

/** Reads the files of the configuration. */
export async function egress(options: EgressOptions): Promise<Egress> {
  const dials = await Promise.all(
    [...options.selections].map(async ([name, connection]) => [name, await dialOf(connection, options)] as const),
  );
  return Object.fromEntries(dials.filter(([, dial]) => dial !== undefined));
}

async function dialOf(connection: EgressConnection, options: EgressOptions): Promise<Dial | undefined> {
  switch (connection.protocol) {
    case "Direct":
      return undefined;
    case "HTTPConnect": {
      const proxy = await httpProxy(connection.transport, options.read);
      return dialer(options, {
        protocol: "http_connect",
        transport: proxy.kind,
        reach: (signal) => reachProxy(proxy, signal),
        ask: (socket: Duplex, to, signal) => tunnel(socket, proxy, to, signal),
      });
    }
    case "GRPC": {
      const { path } = connection.transport;
      // Loaded on demand: gRPC and its tables are a tenth of what a server without it needs to start.
      const { dialThrough, reachKonnectivity } = await import("./konnectivity.ts");
      return dialer(options, {
        protocol: "grpc",
        transport: "uds",
        reach: (signal) => reachKonnectivity(path, signal),
        ask: (client, to, signal) => dialThrough(client, to, options.random, signal),
      });
    }
  }
}

function dialer<P>({ clock, metrics }: EgressOptions, { protocol, transport, reach, ask }: Proxied<P>): Dial {
  return async (to) => {
    const ending = new AbortController();
    const timer = clock.timer(DIAL_TIMEOUT_MS, () => ending.abort(new Error("i/o timeout")));
    const measured = metrics(protocol, transport);
    let stage: DialStage = "connect";
    try {
      const proxy = await reach(ending.signal);
      stage = "proxy";
      const stream = await ask(proxy, to, ending.signal);
      measured.succeeded();
      return stream;
    } catch (error) {
      measured.failed(stage);
      throw error;
    } finally {
      timer.cancel();
    }
  };
}

async function httpProxy(
  transport: (EgressConnection & { readonly protocol: "HTTPConnect" })["transport"],
  read: EgressOptions["read"],
): Promise<HttpProxy> {
  if (transport.kind === "uds") return transport;
  const { hostname, port, protocol } = new URL(transport.url);
  const bare = hostname.replace(/^\[|\]$/g, "");
  const host = isIP(bare) === 0 ? hostname : bare;
  const address = { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
  if (transport.tls === undefined) return { kind: "tcp", address };
  const { caBundle, clientCert, clientKey } = transport.tls;
  const [ca, cert, key] = await Promise.all([
    caBundle === undefined ? undefined : read(caBundle),
    read(clientCert),
    read(clientKey),
  ]);
  return { kind: "tcp", address, tls: { ca, cert, key } };
}
