/**
 * Answers load balancers at spec.healthCheckNodePort: whether this node has endpoints of a Service with
 * externalTrafficPolicy Local.
 *
 * 1. 200 while at least one endpoint here is ready and the rules are applied; 503 otherwise. Terminating endpoints do
 *    not count: the load balancer should move on while they still serve.
 * 2. A port that is in use is tried again when the Service changes.
 */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { core, discovery } from "#api";
import type { Logger } from "#base";
import type { NodeFacts } from "./endpoints.ts";

export interface HealthChecksOptions {
  readonly node: Pick<NodeFacts, "name" | "addresses">;
  readonly log: Logger;
}

interface Check {
  readonly port: number;
  readonly servers: readonly Server[];
  localEndpoints: number;
}

export class HealthChecks implements AsyncDisposable {
  readonly #options: HealthChecksOptions;
  readonly #checks = new Map<string, Check>();
  readonly #closing = new Set<Promise<unknown>>();
  #isHealthy = true;

  constructor(options: HealthChecksOptions) {
    this.#options = options;
  }

  /** Whether the last rules could be applied. */
  setHealthy(isHealthy: boolean): void {
    this.#isHealthy = isHealthy;
  }

  update(key: string, service: core.Service | undefined, slices: readonly discovery.EndpointSlice[]): void {
    const port = checkedPort(service);
    const known = this.#checks.get(key);
    if (known !== undefined && known.port !== port) this.#close(key, known);
    if (port === undefined) return;
    const localEndpoints = localAddresses(slices, this.#options.node.name).size;
    const check = this.#checks.get(key);
    if (check !== undefined) check.localEndpoints = localEndpoints;
    else this.#open(key, port, localEndpoints);
  }

  #open(key: string, port: number, localEndpoints: number): void {
    const { node, log } = this.#options;
    const servers = node.addresses.map((address) => {
      const server = createServer((request, response) => {
        request.resume();
        this.#answer(key, response);
      });
      server.on("error", (error) => {
        log.error("a health check's port could not be opened", { service: key, address, port, error });
        const check = this.#checks.get(key);
        if (check?.servers.includes(server)) this.#close(key, check);
      });
      return server.listen(port, address);
    });
    this.#checks.set(key, { port, servers, localEndpoints });
  }

  #answer(key: string, response: ServerResponse): void {
    const [namespace = "", name = ""] = key.split("/");
    const localEndpoints = this.#checks.get(key)?.localEndpoints ?? 0;
    const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: this.#isHealthy };
    const headers = {
      "content-type": "application/json",
      "x-content-type-options": "nosniff",
      "x-load-balancing-endpoint-weight": String(localEndpoints),
    };
    response
      .writeHead(localEndpoints > 0 && this.#isHealthy ? 200 : 503, headers)
      .end(JSON.stringify(body, null, "\t"));
  }

  #close(key: string, { servers }: Check): void {
    this.#checks.delete(key);
    for (const server of servers.filter(({ listening }) => listening)) {
      const closed = once(server, "close").finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
      server.close();
      server.closeAllConnections();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, check] of this.#checks) {
      for (const server of check.servers) if (!server.listening) server.close();
      this.#close(key, check);
    }
    await Promise.all(this.#closing);
  }
}

function checkedPort(service: core.Service | undefined): number | undefined {
  const { type, externalTrafficPolicy, healthCheckNodePort } = service?.spec ?? {};
  if (type !== "LoadBalancer" || externalTrafficPolicy !== "Local") return undefined;
  return healthCheckNodePort === 0 ? undefined : healthCheckNodePort;
}

/** A Pod with several ports counts once. */
function localAddresses(slices: readonly discovery.EndpointSlice[], nodeName: string): Set<string> {
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter((each) => each.nodeName === nodeName && each.conditions?.ready !== false);
  return new Set(ready.flatMap(({ addresses }) => addresses.slice(0, 1)));
}
