/** The HTTP proxy on loopback with endpoints behind it, without an API server: tests set its routes and Services. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { core, discovery, networking } from "#api";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import type { GatewayRoutes } from "../../gateway/index.ts";
import { Certificates } from "../../ingress/certificates.ts";
import { Routes } from "../../ingress/routes.ts";
import { Backends } from "../backends.ts";
import { Connections } from "../connections.ts";
import { ingressMetrics } from "../metrics.ts";
import { type CertificatePem, type HttpProxyServer, startHttpServer } from "../server.ts";

export interface SiteOptions {
  readonly certificate?: CertificatePem;
  readonly maxBodyBytes?: number;
  readonly answerMs?: number;
  readonly bodyIdleMs?: number;
}

export class Site implements AsyncDisposable {
  readonly metrics = new MetricsRegistry();
  readonly certificates: Certificates;
  readonly #options: SiteOptions;
  readonly #clock = realClock();
  readonly #protocols = new Map<string, string>();
  readonly #slices = new Map<string, discovery.EndpointSlice[]>();
  readonly #backends: Backends;
  readonly #connections: Connections;
  readonly #endpoints: Server[] = [];
  #routes = Routes.of([]);
  #gatewayRoutes: GatewayRoutes | undefined;
  #server: HttpProxyServer | undefined;

  constructor(options: SiteOptions = {}) {
    this.#options = options;
    this.certificates = new Certificates(options.certificate);
    const service = (key: string) => (this.#slices.has(key) ? serviceOf(this.#protocols.get(key)) : undefined);
    const slices = (key: string) => this.#slices.get(key) ?? [];
    this.#backends = new Backends({ service, slices }, this.#clock, seededRandom(1));
    this.#connections = new Connections({ connectMs: 2000, answerMs: options.answerMs ?? 10_000 }, this.#clock);
  }

  async start(): Promise<{ readonly http: number; readonly https: number }> {
    this.#server = await startHttpServer({
      findRoute: (request) => this.#gatewayRoutes?.find(request) ?? this.#routes.find(request.host, request.path),
      backends: this.#backends,
      connections: this.#connections,
      metrics: ingressMetrics(this.metrics),
      trustsForwarded: false,
      maxBodyBytes: this.#options.maxBodyBytes,
      bodyIdleMs: this.#options.bodyIdleMs ?? 10_000,
      clock: this.#clock,
      log: silentLogger,
      address: "127.0.0.1",
      httpPort: 0,
      httpsPort: 0,
      certificateOf: (name) => this.certificates.find(name),
      defaultCertificate: this.#options.certificate,
      connectMs: 2000,
      maxConnections: 1000,
    });
    return { http: this.#server.httpPort ?? 0, https: this.#server.httpsPort ?? 0 };
  }

  route(...ingresses: networking.Ingress[]): void {
    this.#routes = Routes.of(ingresses);
  }

  /** The routes of the Gateway API. */
  routeGateways(routes: GatewayRoutes): void {
    this.#gatewayRoutes = routes;
  }

  /** The endpoints of a Service, by their ports on loopback. */
  put(service: string, ...ports: number[]): void {
    this.#slices.set(`default/${service}`, ports.map(sliceOf));
    this.#backends.forget(`default/${service}`);
  }

  /** The Service's port says that its endpoints speak this. */
  speak(service: string, appProtocol: string): void {
    this.#protocols.set(`default/${service}`, appProtocol);
  }

  /** Starts an endpoint with this handler, and returns its port. */
  async endpoint(answer: RequestListener, prepare: (server: Server) => void = () => {}): Promise<number> {
    const server = createServer(answer);
    prepare(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#endpoints.push(server);
    return (server.address() as AddressInfo).port;
  }

  /** Stops an endpoint like a terminating Pod: requests under way are answered, new connections are refused. */
  async end(port: number): Promise<void> {
    const server = this.#endpoints.find((each) => (each.address() as AddressInfo | null)?.port === port);
    if (server === undefined) throw new Error(`there is no endpoint at ${port}`);
    const closed = once(server, "close");
    server.close();
    await closed;
  }

  stop(drainMs: number): Promise<void> {
    return this.#server?.stop(drainMs) ?? Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(0);
    this.#connections.close();
    for (const server of this.#endpoints.filter(({ listening }) => listening)) {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
  }
}

const serviceOf = (appProtocol: string | undefined): core.Service => ({
  metadata: {},
  spec: { ports: [{ port: 80, ...(appProtocol !== undefined && { appProtocol }) }] },
});

function sliceOf(port: number): discovery.EndpointSlice {
  return { metadata: {}, addressType: "IPv4", ports: [{ port }], endpoints: [{ addresses: ["127.0.0.1"] }] };
}

/** `host/path → service`, all as prefixes. */
export function ingressOf(
  name: string,
  ...routes: [host: string, path: string, service: string][]
): networking.Ingress {
  const rules = routes.map(([host, path, service]) => ({
    host,
    http: {
      paths: [{ path, pathType: "Prefix" as const, backend: { service: { name: service, port: { number: 80 } } } }],
    },
  }));
  return { metadata: { name, namespace: "default" }, spec: { rules } };
}
