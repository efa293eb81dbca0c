/**
 * What kube-proxy serves: metrics and reports for its own machine, and its health for load balancers. Both in clear
 * text and for everybody who can reach them, as kube-proxy does: hence metrics are on loopback by default.
 *
 *     --metrics-bind-address   /metrics /metrics/slis /configz /statusz /flagz /proxyMode /healthz
 *     --healthz-bind-address   /healthz /livez
 *
 * 1. An address that is taken is tried again: the proxy works without it.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, type Logger, requestTarget } from "#base";
import { type Answer, type ComponentPages, NOT_FOUND, sendAnswer } from "./component-server.ts";

const RETRY_MS = 5_000;

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ProxyServing {
  /** Absent: not served. */
  readonly metrics?: ListenAddress | undefined;
  readonly health?: ListenAddress | undefined;
}

export interface ProxyServed {
  readonly pages: ComponentPages;
  readonly mode: string;
  readonly health: () => { readonly isHealthy: boolean; readonly lastUpdatedMs: number | undefined };
  readonly clock: Clock;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function serveProxy(serving: ProxyServing, served: ProxyServed, signal: AbortSignal): Promise<void> {
  const healthOf = (path: string) => (path === "/healthz" || path === "/livez" ? healthAnswer(served) : undefined);
  const metricsOf = async (path: string, query: URLSearchParams, accept: string | undefined): Promise<Answer> => {
    if (path === "/proxyMode") return { status: 200, body: served.mode };
    return (await served.pages.health(path, query)) ?? served.pages.page(path, query, accept) ?? NOT_FOUND;
  };
  await Promise.all([
    serve("metrics", serving.metrics, metricsOf, served, signal),
    serve("health", serving.health, async (path) => healthOf(path) ?? NOT_FOUND, served, signal),
  ]);
}

function healthAnswer({ health, clock }: ProxyServed): Answer {
  const { isHealthy, lastUpdatedMs } = health();
  const time = (ms: number) => new Date(ms).toISOString();
  const currentTime = time(clock.now());
  const lastUpdated = isHealthy || lastUpdatedMs === undefined ? currentTime : time(lastUpdatedMs);
  return {
    status: isHealthy ? 200 : 503,
    body: JSON.stringify({ lastUpdated, currentTime, nodeEligible: true }),
    headers: { "content-type": "application/json" },
  };
}

type Respond = (path: string, query: URLSearchParams, accept: string | undefined) => Promise<Answer>;

async function serve(
  what: string,
  at: ListenAddress | undefined,
  respond: Respond,
  { clock, log }: ProxyServed,
  signal: AbortSignal,
): Promise<void> {
  if (at === undefined) return;
  const server = createServer((request, response) => {
    const { path, query } = requestTarget(request.url);
    respond(path, query, request.headers.accept).then(
      (answer) => sendAnswer(response, answer),
      (error: unknown) => {
        log.warn("a request could not be served", { path, error });
        sendAnswer(response, { status: 500, body: "Internal Server Error\n" });
      },
    );
  });
  while (!signal.aborted) {
    const failure = await listening(server, at);
    if (failure === undefined) break;
    log.error("an address cannot be served; trying again", { what, ...at, error: failure });
    await clock.sleep(RETRY_MS, signal).catch(() => {});
  }
  if (!server.listening) return;
  log.info(`serving ${what}`, { address: at.host, port: (server.address() as AddressInfo).port });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

/** The error if it cannot listen. */
function listening(server: Server, { host, port }: ListenAddress): Promise<unknown> {
  return new Promise((resolve) => {
    const done = (error?: unknown) => {
      server.off("error", done);
      resolve(error);
    };
    server.once("error", done);
    server.listen(port, host, () => done());
  });
}
