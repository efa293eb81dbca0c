/**
 * Allocates the IP families, addresses, node ports and health check port of a Service.
 *
 * 1. What was taken for a write that is not stored is given back; what a Service no longer has is freed once the change
 *    is stored.
 * 2. A dry run takes nothing, and fails for the same reasons.
 */
import {
  allocatesNodePorts,
  at,
  type core,
  type Draft,
  type FieldPath,
  field,
  type IpFamily,
  initIPFamilies,
  internalError,
  invalidStatus,
  isHeadless,
  type KubeObject,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
  type StatusError,
} from "#api";
import type { Logger } from "#base";
import type { Allocating, Allocation, Allocator } from "../rest/server-context.ts";
import type { ClusterIPs } from "./cluster-ips.ts";
import { NodePorts } from "./node-ports.ts";
import { type Owner, ownerFrom } from "./owner.ts";

const SERVICE = { group: "", kind: "Service" };

export interface ServiceStock {
  readonly clusterIPs: ClusterIPs;
  readonly nodePorts: NodePorts;
  /** The families of the cluster's own service ranges, the default one first. */
  readonly families: readonly IpFamily[];
  readonly log: Logger;
}

/** The addresses and ports of a Service. */
export interface Holdings {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

export class ServiceAllocator implements Allocator {
  readonly #stock: ServiceStock;

  constructor(stock: ServiceStock) {
    this.#stock = stock;
  }

  async allocate({ draft, old, dryRun }: Allocating): Promise<Allocation> {
    const service = draft as Draft<core.Service>;
    const before = old as core.Service | undefined;
    const asked = structuredClone(service.spec ?? {});
    const errors = initIPFamilies(service, before, this.#stock.families);
    if (errors.length > 0) throw invalidStatus(SERVICE, service.metadata.name ?? "", errors);
    const owner = ownerFrom(service);
    const take = new Taking(this.#stock, owner, dryRun, holdingsOf(before));
    try {
      await take.addresses(service);
      await take.nodePorts(service);
      await take.healthCheckPort(service);
    } catch (error) {
      await this.#free(take.taken, owner);
      throw error;
    }
    return {
      keep: () => this.#free(less(holdingsOf(before), holdingsOf(service as core.Service)), owner),
      giveBack: () => {
        // A further try, with another name, allocates anew. A dry run keeps what it shows.
        if (!dryRun) service.spec = asked;
        return this.#free(take.taken, owner);
      },
    };
  }

  release(object: KubeObject): Promise<void> {
    return this.#free(holdingsOf(object as core.Service), ownerFrom(object));
  }

  async #free({ addresses, ports }: Holdings, owner: Owner): Promise<void> {
    const { clusterIPs, nodePorts, log } = this.#stock;
    const all = [...addresses.map((it) => clusterIPs.free(it, owner)), ...ports.map((it) => nodePorts.free(it, owner))];
    for (const result of await Promise.allSettled(all)) {
      if (result.status === "rejected") {
        log.warn("an address or port of a service could not be released; the repair loop will find it", {
          service: `${owner.namespace}/${owner.name}`,
          error: result.reason,
        });
      }
    }
  }
}

export function holdingsOf(service: core.Service | undefined): Holdings {
  if (service === undefined) return { addresses: [], ports: [] };
  const { clusterIPs = [], ports = [], healthCheckNodePort } = service.spec ?? {};
  const all = [...(needsNodePort(service) ? ports.map(({ nodePort }) => nodePort) : []), healthCheckNodePort];
  return {
    addresses: clusterIPs.filter((ip) => ip !== "None" && ip !== ""),
    ports: [...new Set(all.flatMap((port) => port || []))],
  };
}

function less(from: Holdings, kept: Holdings): Holdings {
  return {
    addresses: from.addresses.filter((it) => !kept.addresses.includes(it)),
    ports: from.ports.filter((it) => !kept.ports.includes(it)),
  };
}

/** What one write takes. */
class Taking {
  readonly taken: { readonly addresses: string[]; readonly ports: number[] } = { addresses: [], ports: [] };
  readonly #stock: ServiceStock;
  readonly #owner: Owner;
  readonly #dryRun: boolean;
  readonly #held: Holdings;
  /** In a dry run: the ports that it has shown. */
  readonly #imagined = new Set<number>();

  constructor(stock: ServiceStock, owner: Owner, dryRun: boolean, held: Holdings) {
    this.#stock = stock;
    this.#owner = owner;
    this.#dryRun = dryRun;
    this.#held = held;
  }

  /** One for each family, in their order. */
  async addresses(service: Draft<core.Service>): Promise<void> {
    const { spec } = service;
    if (spec === undefined || !needsClusterIP(service as core.Service) || isHeadless(service as core.Service)) return;
    const found: string[] = [];
    for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
      if (family !== "") found.push(await this.#address(spec.clusterIPs?.[i] ?? "", family, service));
    }
    spec.clusterIPs = found;
    spec.clusterIP = found[0] ?? "";
  }

  async #address(asked: string, family: IpFamily, service: Draft<core.Service>): Promise<string> {
    if (asked !== "" && this.#held.addresses.includes(asked)) return asked;
    const { clusterIPs } = this.#stock;
    if (asked !== "") {
      const refused = await clusterIPs.take(asked, family, this.#owner, this.#dryRun);
      if (refused !== undefined) {
        const why = `failed to allocate IP ${asked}: ${refused.why}`;
        throw invalidField(service, at("spec", "clusterIPs"), service.spec?.clusterIPs ?? [], why);
      }
      this.#took("addresses", asked);
      return asked;
    }
    const next = this.#dryRun ? clusterIPs.imagined(family) : await clusterIPs.takeNext(family, this.#owner);
    if (typeof next !== "string") throw internalError(`failed to allocate a serviceIP: ${next.why}`);
    this.#took("addresses", next);
    return next;
  }

  /** Ports of one number share a node port, whatever their protocols. */
  async nodePorts(service: Draft<core.Service>): Promise<void> {
    if (!needsNodePort(service as core.Service)) return;
    const ports = service.spec?.ports ?? [];
    const byPort = new Map<number, number>();
    for (const [i, port] of ports.entries()) {
      const where = at("spec", "ports").index(i).child("nodePort");
      if (!port.nodePort) {
        if (!allocatesNodePorts(service as core.Service)) continue;
        const shared =
          byPort.get(port.port) ?? ports.find((other) => other.port === port.port && other.nodePort)?.nodePort;
        if (shared !== undefined) await this.#port(shared, service, where);
        port.nodePort = shared ?? (await this.#nextPort("nodePort"));
      } else await this.#port(port.nodePort, service, where);
      byPort.set(port.port, port.nodePort);
    }
  }

  async #port(port: number, service: Draft<core.Service>, where: FieldPath): Promise<void> {
    if (this.#has(port)) return;
    const refused = await this.#stock.nodePorts.take(port, this.#owner, this.#dryRun);
    if (refused !== undefined) throw invalidField(service, where, port, refused.why);
    this.#took("ports", port);
  }

  async healthCheckPort(service: Draft<core.Service>): Promise<void> {
    const { spec } = service;
    if (spec === undefined || !needsHealthCheckNodePort(service as core.Service)) return;
    const asked = spec.healthCheckNodePort ?? 0;
    if (asked === 0) {
      spec.healthCheckNodePort = await this.#nextPort("HealthCheck NodePort 0");
    } else if (!this.#held.ports.includes(asked)) {
      const refused = await this.#stock.nodePorts.take(asked, this.#owner, this.#dryRun);
      if (refused !== undefined)
        throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${refused.why}`);
      this.#took("ports", asked);
    }
  }

  async #nextPort(what: string): Promise<number> {
    const next = this.#dryRun ? NodePorts.imagined(this.#imagined) : await this.#stock.nodePorts.takeNext(this.#owner);
    if (typeof next !== "number") throw internalError(`failed to allocate a ${what}: ${next.why}`);
    this.#took("ports", next);
    return next;
  }

  #has(port: number): boolean {
    return this.#held.ports.includes(port) || this.taken.ports.includes(port) || this.#imagined.has(port);
  }

  #took(kind: "addresses", what: string): void;
  #took(kind: "ports", what: number): void;
  #took(kind: "addresses" | "ports", what: string | number): void {
    if (!this.#dryRun) (this.taken[kind] as (string | number)[]).push(what);
    else if (typeof what === "number") this.#imagined.add(what);
  }
}

function invalidField(
  service: Draft<core.Service>,
  where: FieldPath,
  value: string | number | readonly string[],
  why: string,
): StatusError {
  return invalidStatus(SERVICE, service.metadata.name ?? "", [field.invalid(where, value, why)]);
}
