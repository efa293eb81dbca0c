/**
 * The API server as a process part: routes on one TLS port.
 *
 *     client ──► listener ──► route ──► answer
 *
 * 1. A request never takes the server down: what a route throws is logged once and answered with 500.
 * 2. While it stops, /readyz says so first, so that load balancers turn away before connections close.
 */
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { pipeline } from "node:stream/promises";
import { type Clock, type Logger, type MetricsRegistry, metricsContentType } from "#base";
import { type Store, writeSnapshot } from "#store";
import { answerHealth, type HealthCheck } from "./health.ts";
import { isClusterAdmin } from "./identity.ts";
import { type Listener, listen, type ServingCertificate } from "./listener.ts";
import { sendJson, sendStatus, sendText } from "./respond.ts";
import { versionInfo } from "./version.ts";

const SHUTDOWN_GRACE_MS = 5_000;
const HEALTH_TIMEOUT_MS = 2_000;

export interface ApiServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: ServingCertificate;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface ApiServer {
  readonly port: number;
  renewCertificate(certificate: ServingCertificate): void;
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock, log, metrics } = options;
  let stopping = false;

  const ping: HealthCheck = { name: "ping", check: async () => {} };
  const etcd: HealthCheck = {
    name: "etcd",
    check: async () => void (await store.revision({ timeoutMs: HEALTH_TIMEOUT_MS })),
  };
  const shutdown: HealthCheck = {
    name: "shutdown",
    check: async () => {
      if (stopping) throw new Error("the server is stopping");
    },
  };
  const health: Record<string, readonly HealthCheck[]> = {
    healthz: [ping, etcd],
    livez: [ping, etcd],
    readyz: [ping, etcd, shutdown],
  };

  const requests = metrics.counter({
    name: "apiserver_request_total",
    help: "Requests answered, by verb and HTTP status.",
    labels: ["verb", "code"],
  });

  async function route(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const url = new URL(request.url, "https://k8ts");
    const [, endpoint = "", ...rest] = url.pathname.split("/");
    if (request.method !== "GET" && request.method !== "HEAD") {
      return sendStatus(
        response,
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
      );
    }
    const checks = health[endpoint];
    if (checks !== undefined) {
      const answer = await answerHealth(
        {
          endpoint,
          ...(rest.length > 0 && { only: rest.join("/") }),
          verbose: url.searchParams.has("verbose"),
          exclude: url.searchParams.getAll("exclude"),
        },
        checks,
        log,
      );
      return sendText(response, answer.status, answer.body);
    }
    switch (url.pathname) {
      case "/version":
        return sendJson(response, 200, versionInfo());
      case "/metrics":
        return sendText(response, 200, metrics.text(), metricsContentType);
      case "/k8ts/snapshot":
        if (!isClusterAdmin(request))
          return sendStatus(response, 403, "Forbidden", "only system:masters may take a snapshot");
        response.setHeader("content-type", "application/octet-stream");
        await pipeline(writeSnapshot(store, clock), response);
        return;
      default:
        return sendStatus(response, 404, "NotFound", "the server could not find the requested resource");
    }
  }

  const listener: Listener = await listen({
    ...options,
    handler: (request, response) => {
      response.once("finish", () => requests.labels(request.method, String(response.statusCode)).inc());
      route(request, response).catch((error: unknown) => {
        if (request.aborted || response.destroyed) return; // the caller has gone
        log.error("request failed", { method: request.method, path: request.url, error });
        if (response.headersSent) response.stream.destroy();
        else
          sendStatus(
            response,
            500,
            "InternalError",
            "an error on the server has prevented the request from succeeding",
          );
      });
    },
  });

  return {
    port: listener.port,
    renewCertificate: listener.renew,
    async stop() {
      stopping = true;
      await listener.close(SHUTDOWN_GRACE_MS);
    },
  };
}
