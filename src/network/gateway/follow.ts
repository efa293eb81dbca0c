/**
 * Follows the Gateway API's objects once its CustomResourceDefinitions are established.
 *
 *     CustomResourceDefinition --► (established) ──► informers
 *     GatewayClasses, Gateways, HTTPRoutes,
 *     ReferenceGrants, Namespaces           --► (coalesced) ──► attach ──► GatewayRoutes
 *     added or deleted Services, Secrets    --►
 */
import { kinds } from "#api";
import type { Clock, Logger, Random, TaskGroup } from "#base";
import { type Client, Informer, Informers } from "#client";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Attachments, attach } from "./attach.ts";
import { asHttpRoute } from "./grpc-routes.ts";
import {
  GatewayClassResource,
  GatewayResource,
  GRPC_ROUTES,
  type GrpcRoute,
  GrpcRouteResource,
  HTTP_ROUTES,
  HttpRouteResource,
  REFERENCE_GRANTS,
  type ReferenceGrant,
  ReferenceGrantResource,
} from "./kinds.ts";
import type { ReferenceSources } from "./references.ts";

const GATHER_MS = 20;
const LONG_MS = 3_600_000;

export interface FollowGatewaysOptions {
  readonly client: Client;
  readonly tasks: TaskGroup;
  /** The ports that are served, with their protocols. */
  readonly ports: ReadonlyMap<number, "HTTP" | "HTTPS">;
  readonly controller: string;
  /** The Services and Secrets that routes and listeners may refer to. */
  readonly known: Pick<ReferenceSources, "has"> & { onChange(listener: () => void): void };
  readonly onReload: (attachments: Attachments) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function followGateways(options: FollowGatewaysOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, tasks, ports, controller, onReload, known } = options;
  await definitionEstablished(options, HTTP_ROUTES, signal);
  log.info("the Gateway API is installed");
  const informers = new Informers({ client, clock, random, log, tasks });
  const [classes, gateways] = [informers.of(GatewayClassResource), informers.of(GatewayResource)];
  const [routes, namespaces] = [informers.of(HttpRouteResource), informers.of(kinds.Namespace)];
  await informers.synced();
  const changed = new ChangeSignal();
  for (const informer of [classes, gateways, routes, namespaces]) informer.onChange(() => changed.mark());
  known.onChange(() => changed.mark());
  let grants: () => readonly ReferenceGrant[] = () => [];
  let grpcRoutes: () => readonly GrpcRoute[] = () => [];
  tasks.run("GRPCRoutes", async (running) => {
    await definitionEstablished(options, GRPC_ROUTES, running);
    const known = informers.of(GrpcRouteResource);
    await known.synced;
    grpcRoutes = () => known.cache.list();
    known.onChange(() => changed.mark());
    changed.mark();
  });
  tasks.run("ReferenceGrants", async (running) => {
    await definitionEstablished(options, REFERENCE_GRANTS, running);
    const granted = informers.of(ReferenceGrantResource);
    await granted.synced;
    grants = () => granted.cache.list();
    granted.onChange(() => changed.mark());
  });
  for (;;) {
    await changed.wait(clock, LONG_MS, signal);
    await clock.sleep(GATHER_MS, signal);
    const labels = namespaces.cache.list().map(({ metadata: { name = "", labels: own = {} } }) => [name, own] as const);
    onReload(
      attach({
        ...{
          classes: classes.cache.list(),
          gateways: gateways.cache.list(),
          routes: [...routes.cache.list(), ...grpcRoutes().map(asHttpRoute)],
        },
        ...{ namespaces: new Map(labels), ports, controller, grants: grants(), has: known.has },
      }),
    );
  }
}

async function definitionEstablished(options: FollowGatewaysOptions, name: string, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, tasks } = options;
  const selectors = { fieldSelector: `metadata.name=${name}` };
  const informer = new Informer({ client: client.of(kinds.CustomResourceDefinition), clock, random, log, selectors });
  tasks.run("informer of definitions", (running) => informer.run(running));
  const changed = new ChangeSignal();
  informer.onChange(() => changed.mark());
  await informer.synced;
  for (;;) {
    const isThere = informer.cache
      .list()
      .some(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True"),
      );
    if (isThere) return;
    await changed.wait(clock, LONG_MS, signal);
  }
}
