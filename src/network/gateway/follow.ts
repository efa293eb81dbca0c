/**
 * Follows the Gateway API's objects once its CustomResourceDefinitions are established.
 *
 *     CustomResourceDefinition --► (established) ──► informers
 *     GatewayClasses, Gateways, routes of all kinds,
 *     ReferenceGrants, Namespaces                    --► (coalesced) ──► attach ──► GatewayRoutes, StreamRoutes
 *     BackendTLSPolicies and the ConfigMaps          --►        └──► judgePolicies
 *     added or deleted Services, Secrets             --►
 *
 * HTTPRoute's definition has to be there; those of other kinds are followed once they are.
 */
import { isDeepStrictEqual } from "node:util";
import { type KubeObject, kinds } from "#api";
import type { Clock, Logger, Random, TaskGroup } from "#base";
import { type Client, Informers, type ResourceOf } from "#client";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Attachments, attach } from "./attach.ts";
import { followAuthorities, isCertificate } from "./authorities.ts";
import { definitionEstablished } from "./established.ts";
import { asHttpRoute } from "./grpc-routes.ts";
import {
  BACKEND_TLS_POLICIES,
  BackendTlsPolicyResource,
  GatewayClassResource,
  GatewayResource,
  GRPC_ROUTES,
  GrpcRouteResource,
  HTTP_ROUTES,
  HttpRouteResource,
  REFERENCE_GRANTS,
  ReferenceGrantResource,
  TCP_ROUTES,
  TcpRouteResource,
  TLS_ROUTES,
  TlsRouteResource,
} from "./kinds.ts";
import { type BackendPolicies, gatewaysByService, judgePolicies } from "./policies.ts";
import type { ReferenceSources } from "./references.ts";
import { asTcpRoute, asTlsRoute } from "./route-kinds.ts";

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
  /** Opens the ports that listeners ask for. Returns those that cannot be opened, and why. */
  readonly openPorts: (ports: ReadonlySet<number>) => Promise<ReadonlyMap<number, string>>;
  readonly onReload: (attachments: Attachments, policies: BackendPolicies) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function followGateways(options: FollowGatewaysOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, tasks, ports, controller, onReload, openPorts, known } = options;
  await definitionEstablished(options, HTTP_ROUTES, signal);
  log.info("the Gateway API is installed");
  const informers = new Informers({ client, clock, random, log, tasks });
  const [classes, gateways] = [informers.of(GatewayClassResource), informers.of(GatewayResource)];
  const [routes, namespaces] = [informers.of(HttpRouteResource), informers.of(kinds.Namespace)];
  await informers.synced();
  const changed = new ChangeSignal();
  for (const informer of [classes, gateways, routes, namespaces]) informer.onChange(() => changed.mark());
  known.onChange(() => changed.mark());
  /** The objects of a kind whose definition may come later, or never. */
  const later = <T extends KubeObject>(definition: string, resource: ResourceOf<T>): (() => readonly T[]) => {
    let list: () => readonly T[] = () => [];
    tasks.run(`followers of ${definition}`, async (running) => {
      await definitionEstablished(options, definition, running);
      const informer = informers.of(resource);
      await informer.synced;
      list = () => informer.cache.list();
      informer.onChange(() => changed.mark());
      changed.mark();
    });
    return () => list();
  };
  const grants = later(REFERENCE_GRANTS, ReferenceGrantResource);
  const grpcRoutes = later(GRPC_ROUTES, GrpcRouteResource);
  const tlsRoutes = later(TLS_ROUTES, TlsRouteResource);
  const tcpRoutes = later(TCP_ROUTES, TcpRouteResource);
  const policies = later(BACKEND_TLS_POLICIES, BackendTlsPolicyResource);
  const authorities = followAuthorities(informers, () => changed.mark());
  let closedPorts: ReadonlyMap<number, string> = new Map();
  for (;;) {
    await changed.wait(clock, LONG_MS, signal);
    await clock.sleep(GATHER_MS, signal);
    const labels = namespaces.cache.list().map(({ metadata: { name = "", labels: own = {} } }) => [name, own] as const);
    const sources = {
      ...{ classes: classes.cache.list(), gateways: gateways.cache.list(), grants: grants(), has: known.has },
      routes: [
        ...routes.cache.list(),
        ...grpcRoutes().map(asHttpRoute),
        ...tlsRoutes().map(asTlsRoute),
        ...tcpRoutes().map(asTcpRoute),
      ],
      ...{ namespaces: new Map(labels), ports, controller },
    };
    let attachments = attach({ ...sources, closedPorts });
    const closed = await openPorts(attachments.streamPorts);
    if (!isDeepStrictEqual(closed, closedPorts)) {
      closedPorts = closed;
      attachments = attach({ ...sources, closedPorts });
    }
    const found = policies();
    if (found.length > 0) await authorities.started();
    const { authorityOf } = authorities;
    const gatewaysOf = gatewaysByService(attachments.routes);
    onReload(attachments, judgePolicies({ policies: found, authorityOf, isCertificate }, gatewaysOf));
  }
}
