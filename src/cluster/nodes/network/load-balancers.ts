/**
 * Load balancers of Services on this machine: addresses from the cluster's own range, and routes from the machine to
 * them.
 *
 *     Services --► cloud controllers ──► address ══► status
 *     Services, EndpointSlices, Nodes --► balancerRoutes ──► routes of the machine
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { kinds } from "#api";
import { type Clock, type Logger, MetricsRegistry, processQueue, type Random, TaskGroup, WorkQueue } from "#base";
import { Client, Informers, type InProcessHandle, inProcess, leadElected, objectKey } from "#client";
import { ClusterError } from "../../config/errors.ts";
import { balancerRoutes } from "./balancer-routes.ts";
import { applyRoutes, BALANCER_PROTOCOL } from "./routes.ts";

const MANAGER = { name: "system:cloud-controller-manager", groups: ["system:masters", "system:authenticated"] };
const ACCOUNT_GROUPS = ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"];
const { Service, Node, EndpointSlice } = kinds;
const SERVICE_NAME = "kubernetes.io/service-name";
const ROUTES = "routes";
/** Not that of upstream's cloud controller manager, which may run as well. */
const LEASE = "k8ts-load-balancers";

export interface LoadBalancersOptions {
  readonly handle: InProcessHandle;
  /** Such as `10.88.0.0/24`. `nodes`: Services get the addresses of the nodes. */
  readonly addresses: readonly string[] | "nodes";
  /** Other processes may do the same for this cluster. */
  readonly elects?: boolean | undefined;
  /** The address of this machine's loopback that stands for one of a load balancer. */
  readonly alsoAt?: ((address: string) => string | undefined) | undefined;
  /** The machine's end of the link to the nodes. Undefined: it needs no routes. */
  readonly machineLink: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Throws ClusterError for invalid ranges. */
export async function checkAddresses(addresses: readonly string[]): Promise<void> {
  const { AddressPoolError, localCloud } = await import("#cloud");
  try {
    localCloud({ addresses });
  } catch (error) {
    if (!(error instanceof AddressPoolError)) throw error;
    throw new ClusterError(`--load-balancer-addresses: ${error.message}.`, { cause: error });
  }
}

/** Runs until the signal aborts. */
export async function runLoadBalancers(options: LoadBalancersOptions, signal: AbortSignal): Promise<void> {
  const { handle, addresses, elects = false, clock, random, log } = options;
  const { cloudControllers, localCloud, nodeBalancers } = await import("#cloud");
  const { controllerMetrics, runControllers } = await import("#controllers");
  const clients: Client[] = [];
  const clientOf = (user: typeof MANAGER) => {
    const made = new Client({ transport: inProcess(handle, user), clock, userAgent: "cloud-controller-manager" });
    clients.push(made);
    return made;
  };
  const client = clientOf(MANAGER);
  const tasks = new TaskGroup({ parent: signal });
  const controllers = {
    controllers: cloudControllers(
      addresses === "nodes" ? nodeBalancers() : localCloud({ addresses, alsoAt: options.alsoAt }),
    ),
    clientOf: (account: string) =>
      clientOf({ name: `system:serviceaccount:kube-system:${account}`, groups: ACCOUNT_GROUPS }),
    instance: hostname(),
    metrics: controllerMetrics(new MetricsRegistry(), { manager: "cloud-controller-manager" }),
    ...{ client, clock, random, log },
  };
  const leases = client.of(kinds.Lease).in("kube-system");
  const identity = `${hostname()}_${randomUUID()}`;
  const election = { leases, name: LEASE, identity, clock, random, log };
  tasks.run("load balancers", (running) =>
    elects
      ? leadElected(election, running, (leading) => runControllers(controllers, leading))
      : runControllers(controllers, running),
  );
  const { machineLink } = options;
  if (machineLink !== undefined)
    tasks.run("load balancer routes", (running) => keepRoutes(client, { ...options, machineLink }, running));
  try {
    await tasks.done();
  } finally {
    for (const each of clients) await each.close();
  }
}

async function keepRoutes(
  client: Client,
  options: LoadBalancersOptions & { readonly machineLink: string },
  signal: AbortSignal,
): Promise<void> {
  const { machineLink, clock, random, log } = options;
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const [services, nodes, slices] = [informers.of(Service), informers.of(Node), informers.of(EndpointSlice)];
  const slicesOf = slices.cache.index("service", ({ metadata }) => [
    `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME]}`,
  ]);
  const queue = new WorkQueue<string>({ clock, random, backoff: { initialMs: 200, maxMs: 30_000 } });
  try {
    await informers.synced();
    for (const informer of [services, nodes, slices]) informer.onChange(() => queue.add(ROUTES));
    queue.add(ROUTES);
    let lastReported = "";
    const onFailure = (error: unknown) => {
      log.warn("routes to load balancers could not be set; trying again", { error });
      return "retry" as const;
    };
    await processQueue(queue, { concurrency: 1, signal, onFailure }, async () => {
      const sources = { services: services.cache.list(), nodes: nodes.cache.list() };
      const want = balancerRoutes({ ...sources, slicesOf: (service) => slicesOf(objectKey(service)) });
      const now = JSON.stringify(want);
      if (now === lastReported) return;
      const taken = await applyRoutes(want, machineLink, undefined, BALANCER_PROTOCOL);
      if (taken.length > 0)
        log.warn("the machine has other routes to these load balancer addresses", { addresses: taken });
      lastReported = now;
    });
  } finally {
    await tasks.stop();
  }
}
