/**
 * Follows the API's objects and updates routes, certificates and endpoints.
 *
 *     Ingresses, IngressClasses, Secrets --► (coalesced) ──► Routes, Certificates
 *     Services, EndpointSlices           --► (at once)   ──► Backends
 *
 * While the API server is away, the last state stays in use.
 */
import { type core, kinds, type networking } from "#api";
import type { Clock, Logger, Random, TaskGroup } from "#base";
import { type Client, Informer, Informers, objectKey } from "#client";
import { type BackendSources, Backends } from "../http/backends.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { serviceKeyOf } from "../proxy/endpoints.ts";
import type { Certificates } from "./certificates.ts";
import { type ClassOptions, servedHere } from "./classes.ts";
import { type RouteProblem, Routes } from "./routes.ts";

export interface FollowOptions extends ClassOptions {
  readonly localHosts?: boolean | undefined;
  /** By policies of the Gateway API. */
  readonly tlsOf?: BackendSources["tlsOf"];
  readonly client: Client;
  readonly tasks: TaskGroup;
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called after the routes were rebuilt. */
  readonly onReload: (
    routes: Routes,
    ingresses: readonly networking.Ingress[],
    problems: readonly RouteProblem[],
  ) => void;
}

export interface Followed {
  readonly routes: () => Routes;
  readonly backends: Backends;
  readonly services: (key: string) => core.Service | undefined;
  /** Services and certificates, for references of Gateways. */
  readonly known: {
    has(kind: "Service" | "Secret", key: string): boolean;
    /** Called when one is added or deleted. */
    onChange(listener: () => void): void;
  };
  /** Schedules a rebuild. */
  readonly reload: () => void;
}

/** Changes within this time are handled together. */
const GATHER_MS = 20;
const LONG_MS = 3_600_000;

/** Returns once all existing Ingresses have their routes. */
export async function followIngresses(options: FollowOptions): Promise<Followed> {
  const { client, clock, random, log, tasks, certificates, onReload, localHosts = false } = options;
  const informers = new Informers({ client, clock, random, log, tasks });
  const [ingresses, classes] = [informers.of(kinds.Ingress), informers.of(kinds.IngressClass)];
  const [services, slices] = [informers.of(kinds.Service), informers.of(kinds.EndpointSlice)];
  // No other Secrets are read.
  const selectors = { fieldSelector: "type=kubernetes.io/tls" };
  const secrets = new Informer({ client: client.of(kinds.Secret), clock, random, log, selectors });
  tasks.run("informer of certificates", (signal) => secrets.run(signal));

  const slicesOf = slices.cache.index("service", (slice) => [serviceKeyOf(slice) ?? ""]);
  const sources = { service: (key: string) => services.cache.get(key), slices: slicesOf, tlsOf: options.tlsOf };
  const backends = new Backends(sources, clock, random);
  await Promise.all([informers.synced(), secrets.synced]);

  let routes = Routes.of([]);
  const reload = () => {
    const served = ingresses.cache.list().filter(servedHere(classes.cache.list(), options));
    const wrong = certificates.update(served, (key) => secrets.cache.get(key));
    routes = Routes.of(served, { localHosts });
    onReload(routes, served, [...routes.problems, ...wrong]);
  };
  reload();
  const changed = new ChangeSignal();
  for (const informer of [ingresses, classes, secrets]) informer.onChange(() => changed.mark());
  services.onChange(({ object }) => backends.forget(objectKey(object)));
  slices.onChange(({ object, old }) => {
    for (const slice of [object, old]) {
      const key = slice && serviceKeyOf(slice);
      if (key !== undefined) backends.forget(key);
    }
  });
  tasks.run("routes", async (signal) => {
    for (;;) {
      await changed.wait(clock, LONG_MS, signal);
      await clock.sleep(GATHER_MS, signal);
      reload();
    }
  });
  const known: Followed["known"] = {
    has: (kind, key) => (kind === "Service" ? services : secrets).cache.get(key) !== undefined,
    onChange: (listener) => {
      for (const informer of [services, secrets])
        informer.onChange(({ type }) => {
          if (type !== "updated") listener();
        });
    },
  };
  return {
    ...{ routes: () => routes, backends, services: (key) => services.cache.get(key), known },
    reload: () => changed.mark(),
  };
}
