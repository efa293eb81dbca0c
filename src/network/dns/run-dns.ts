/** The DNS server of a cluster or of a node: follows the API, and serves once its zone is complete. */
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { type Client, Informers, WorkReporter } from "#client";
import { followServices } from "./follow.ts";
import { Forwarder } from "./forward.ts";
import { dnsMetrics } from "./metrics.ts";
import { hostRecords } from "./records.ts";
import { Resolver } from "./resolver.ts";
import { startDnsServer } from "./server.ts";
import type { UpstreamAddress } from "./upstream.ts";
import { Zone } from "./zone.ts";
import { zoneReporter } from "./zone-reporter.ts";

export interface DnsOptions {
  readonly client: Client;
  /** Addresses to listen on. If the port is 0, all use the free port of the first. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** For example `cluster.local`. */
  readonly zone: string;
  readonly upstreams: readonly UpstreamAddress[];
  readonly stubDomains?: Readonly<Record<string, readonly UpstreamAddress[]>>;
  /** Names besides those of Services, with their addresses. */
  readonly hosts?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Called once it serves. */
  readonly onReady?: (port: number) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** No Service has this key: they have a slash. */
const HOSTS = "hosts";

/** Until the signal aborts. */
export async function runDns(options: DnsOptions, signal: AbortSignal): Promise<void> {
  const {
    client,
    addresses,
    port,
    upstreams,
    stubDomains = {},
    hosts = {},
    clock,
    random,
    log,
    metrics,
    onReady,
  } = options;
  const zone = new Zone({ zone: options.zone, serverAddresses: addresses });
  zone.set(HOSTS, hostRecords(hosts));
  const tasks = new TaskGroup({ parent: signal });
  const forwarder = new Forwarder({ upstreams, stubDomains, clock, random, log });
  try {
    const reporter = new WorkReporter({ client, actor: `dns/${addresses[0]}`, log, signal });
    const onChange = zoneReporter({ zone: zone.name, reporter, clock });
    await followServices(zone, new Informers({ client, clock, random, log, tasks }), onChange);
    const resolver = new Resolver({ zone, forwarder, random });
    const shared = { resolver, zone, metrics: dnsMetrics(metrics), clock, log };
    await using servers = new AsyncDisposableStack();
    let bound = port;
    for (const address of addresses) {
      const server = await startDnsServer({ ...shared, address, port: bound });
      servers.defer(() => server.stop());
      bound = server.port;
    }
    onReady?.(bound);
    await tasks.done();
  } finally {
    forwarder.close();
    await tasks.stop();
  }
}
