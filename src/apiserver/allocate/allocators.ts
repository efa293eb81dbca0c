/** Puts the allocators of Services together. */
import type { MetricsRegistry } from "#base";
import type { Loopback } from "../loopback/loopback.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { Allocator, StorageContext } from "../rest/server-context.ts";
import { addressRange } from "./address-range.ts";
import { ClusterIPs } from "./cluster-ips.ts";
import { defaultNodePorts, NodePorts, type PortRange } from "./node-ports.ts";
import { repairServices } from "./repair.ts";
import { ServiceAllocator, type ServiceStock } from "./service-allocator.ts";

export const DEFAULT_SERVICE_CIDR = "10.96.0.0/12";

export interface AllocatorOptions {
  readonly storage: StorageContext;
  /** The addresses of Services are objects, written through the server. */
  readonly loopback: Loopback;
  readonly resources: Resources;
  /** One of each family at most; the first is the default. */
  readonly serviceCidrs?: readonly string[] | undefined;
  readonly nodePorts?: PortRange | undefined;
  readonly metrics: MetricsRegistry;
}

export interface Allocators {
  readonly byResource: ReadonlyMap<string, Allocator>;
  /** Runs until its signal aborts. */
  repair(signal: AbortSignal): Promise<void>;
}

/** To be called before the feed loads, which reports the ports that are taken. */
export function allocators(options: AllocatorOptions): Allocators {
  const { storage, loopback, resources, metrics } = options;
  const { clock, log } = storage;
  const families = (options.serviceCidrs ?? [DEFAULT_SERVICE_CIDR]).flatMap((cidr) => addressRange(cidr)?.family ?? []);
  const services = served(resources, "", "services");
  const stock: ServiceStock = {
    clusterIPs: new ClusterIPs({
      storage,
      loopback,
      addresses: served(resources, "networking.k8s.io", "ipaddresses"),
      cidrs: served(resources, "networking.k8s.io", "servicecidrs"),
      metrics,
      exists: ({ namespace, name }) => services.cache.get(services.suffix(namespace, name)) !== undefined,
    }),
    nodePorts: new NodePorts({ storage, metrics, range: options.nodePorts ?? defaultNodePorts }),
    families,
    log,
  };
  return {
    byResource: new Map([["/services", new ServiceAllocator(stock)]]),
    repair: (signal) => repairServices({ stock, services, clock, log }, signal),
  };
}

function served(resources: Resources, group: string, plural: string): Resource {
  const found = resources.find(group, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}
