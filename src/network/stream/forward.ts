/**
 * One connection from a client to an endpoint, byte by byte.
 *
 * 1. If an endpoint cannot be reached, the next one is tried; nothing is read from the client before.
 * 2. Each direction ends by itself: a client that has sent everything still gets the rest of the answer. If one side
 *    breaks, so does the other.
 */
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { Clock, Logger } from "#base";
import { type BackendTls, tlsOptions } from "../http/backend-tls.ts";
import type { Backends } from "../http/backends.ts";
import type { IngressMetrics } from "../http/metrics.ts";
import type { Endpoint } from "../proxy/endpoints.ts";
import type { StreamTarget } from "./target.ts";

export interface ForwardOptions {
  readonly backends: Backends;
  readonly connectMs: number;
  readonly metrics: Pick<IngressMetrics, "retried">;
  readonly clock: Clock;
  readonly log: Logger;
}

const ALIVE_MS = 60_000;

export async function forward(options: ForwardOptions, client: Duplex, target: StreamTarget): Promise<void> {
  const { backends, metrics, log } = options;
  client.on("error", () => client.destroy());
  // What is passed through is encrypted already.
  const tls = target.backend === undefined || !target.endsTls ? undefined : backends.tlsOf(target.backend);
  const endpoints = target.backend === undefined || tls === "closed" ? [] : backends.choose(target.backend);
  for (const endpoint of endpoints) {
    const reached = await reach(options, endpoint, tls === "closed" ? undefined : tls);
    if (client.destroyed) {
      if (!(reached instanceof Error)) reached.destroy();
      return;
    }
    if (!(reached instanceof Error)) {
      join(client, reached);
      return;
    }
    log.debug("an endpoint could not be reached", { route: target.owner, error: reached });
    backends.avoid(endpoint);
    metrics.retried();
  }
  client.destroy();
}

function reach(
  { clock, connectMs }: ForwardOptions,
  { address: host, port }: Endpoint,
  tls: BackendTls | undefined,
): Promise<Socket | Error> {
  const socket =
    tls === undefined
      ? connect({ host, port, allowHalfOpen: true, noDelay: true })
      : connectTls({ host, port, ...tlsOptions(tls) });
  const { promise, resolve } = Promise.withResolvers<Socket | Error>();
  const timer = clock.timer(connectMs, () => socket.destroy(new Error("no connection in time")));
  socket.once(tls === undefined ? "connect" : "secureConnect", () => resolve(socket));
  socket.on("error", resolve);
  return promise.finally(() => timer.cancel());
}

function join(client: Duplex, endpoint: Socket): void {
  endpoint.setKeepAlive(true, ALIVE_MS);
  endpoint.on("error", () => endpoint.destroy());
  breakWith(client, endpoint);
  breakWith(endpoint, client);
  client.pipe(endpoint).pipe(client);
}

/** A side that breaks before its end takes the other one with it. One that has ended may leave bytes on their way. */
function breakWith(side: Duplex, other: Duplex): void {
  side.once("close", () => {
    if (!side.readableEnded) other.destroy();
  });
}
