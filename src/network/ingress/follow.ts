/**
 * Keeps routes, certificates and endpoints as the API shows them.
 *
 *     Ingresses, IngressClasses, Secrets --► (all at once, shortly after) ──► Routes, Certificates
 *     Services, EndpointSlices           --► (at once)                    ──► Backends
 *
 * When the API server goes away, all stays as it was last seen.
 */
import type { core, networking } from "#api";
import type { Clock, Logger, Random, TaskGroup } from "#base";
import { type Client, Informer, Informers, objectKey } from "#client";
import { Backends } from "../http/backends.ts";
import { Changed } from "../kernel/apply-to-kernel.ts";
import { EndpointSlice, Ingress, IngressClass, Secret, Service, serviceKeyOf } from "../kernel/kinds.ts";
import type { Certificates } from "./certificates.ts";
import { type ClassOptions, servedHere } from "./classes.ts";
import { type RouteProblem, Routes } from "./routes.ts";

export interface FollowOptions extends ClassOptions {
  readonly client: Client;
  readonly tasks: TaskGroup;
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Routes have been made anew from these. */
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
  /** Services and certificates, for those who refer to them. */
  readonly known: {
    has(kind: "Service" | "Secret", key: string): boolean;
    /** One has come or gone. */
    onChange(listener: () => void): void;
  };
  /** Everything is to be made anew, shortly. */
  readonly reload: () => void;
}

/** A change of ten Ingresses is one. */
const GATHER_MS = 20;
const LONG_MS = 3_600_000;

/** Returns once everything that is there has its routes. */
export async function followIngresses(options: FollowOptions): Promise<Followed> {
  const { client, clock, random, log, tasks, certificates, onReload } = options;
  const informers = new Informers({ client, clock, random, log, tasks });
  const [ingresses, classes] = [informers.of(Ingress), informers.of(IngressClass)];
  const [services, slices] = [informers.of(Service), informers.of(EndpointSlice)];
  // Other Secrets are nobody's business here.
  const selectors = { fieldSelector: "type=kubernetes.io/tls" };
  const secrets = new Informer({ client: client.of(Secret), clock, random, log, selectors });
  tasks.run("informer of certificates", (signal) => secrets.run(signal));

  const slicesOf = slices.cache.index("service", (slice) => [serviceKeyOf(slice) ?? ""]);
  const backends = new Backends({ service: (key) => services.cache.get(key), slices: slicesOf }, clock, random);
  await Promise.all([informers.synced(), secrets.synced]);

  let routes = Routes.of([]);
  const reload = () => {
    const served = ingresses.cache.list().filter(servedHere(classes.cache.list(), options));
    const wrong = certificates.update(served, (key) => secrets.cache.get(key));
    routes = Routes.of(served);
    onReload(routes, served, [...routes.problems, ...wrong]);
  };
  reload();
  const changed = new Changed();
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
