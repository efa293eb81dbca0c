/**
 * Writes the status of GatewayClasses, Gateways and HTTPRoutes. `wantedStatuses` is pure; an unchanged status is not
 * written.
 */
import { isDeepStrictEqual } from "node:util";
import { isStatusError, type KubeObject } from "#api";
import type { Logger } from "#base";
import { type Client, objectKey, type ResourceOf } from "#client";
import { type Attachments, isServedKind, SERVED_KINDS, yes } from "./attach.ts";
import { isGrpcRoute } from "./grpc-routes.ts";
import {
  type Condition,
  type Gateway,
  type GatewayClass,
  GatewayClassResource,
  GatewayResource,
  type GrpcRoute,
  GrpcRouteResource,
  type HttpRoute,
  HttpRouteResource,
  type ParentStatus,
} from "./kinds.ts";

export interface WantedStatus<T extends KubeObject> {
  readonly object: T;
  readonly status: object;
}

export interface WantedStatuses {
  readonly classes: readonly WantedStatus<GatewayClass>[];
  readonly gateways: readonly WantedStatus<Gateway>[];
  readonly routes: readonly WantedStatus<HttpRoute>[];
  readonly grpcRoutes: readonly WantedStatus<GrpcRoute>[];
}

/** `now`: the lastTransitionTime of conditions that change. */
export function wantedStatuses(
  attachments: Attachments,
  {
    addresses,
    controller,
    now,
  }: { readonly addresses: readonly string[]; readonly controller: string; readonly now: string },
): WantedStatuses {
  const classes = attachments.classes.map((object) => ({
    object,
    status: {
      ...object.status,
      conditions: dated(object, object.status?.conditions, [yes("Accepted", "the class is served")], now),
    },
  }));
  const gateways = [...attachments.gateways].map(([object, listeners]) => {
    const isServed = listeners.some(({ accepted }) => accepted.status === "True");
    const accepted: Condition = isServed
      ? yes("Accepted", "the Gateway is served")
      : { type: "Accepted", status: "False", reason: "ListenersNotValid", message: "no listener is valid" };
    const programmed = programmedBy([accepted]);
    const known = new Map((object.status?.listeners ?? []).map((each) => [each.name, each.conditions]));
    return {
      object,
      status: {
        addresses: addresses.map((value) => ({ type: "IPAddress", value })),
        conditions: dated(object, object.status?.conditions, [accepted, programmed], now),
        listeners: listeners.map(({ listener: { name, allowedRoutes }, accepted: own, resolved, attached }) => ({
          name,
          attachedRoutes: attached,
          supportedKinds: supportedKinds(allowedRoutes?.kinds),
          conditions: dated(object, known.get(name), [own, programmedBy([own, resolved]), resolved], now),
        })),
      },
    };
  });
  const routes = [...attachments.parents].map(([object, parents]) => {
    const known = object.status?.parents ?? [];
    const own = parents.map(({ parent, accepted, resolved }): ParentStatus => {
      const before = known.find(
        (each) => each.controllerName === controller && isDeepStrictEqual(each.parentRef, parent),
      );
      return {
        parentRef: parent,
        controllerName: controller,
        conditions: dated(object, before?.conditions, [accepted, resolved], now),
      };
    });
    return {
      object,
      status: { parents: [...known.filter(({ controllerName }) => controllerName !== controller), ...own] },
    };
  });
  const [grpc, http] = [
    routes.filter(({ object }) => isGrpcRoute(object)),
    routes.filter(({ object }) => !isGrpcRoute(object)),
  ];
  const grpcRoutes = grpc.flatMap(({ object, status }) =>
    isGrpcRoute(object) ? [{ object: object.source, status }] : [],
  );
  return {
    ...{ classes: changed(classes), gateways: changed(gateways) },
    ...{ routes: changed(http), grpcRoutes: changed(grpcRoutes) },
  };
}

function supportedKinds(allowed: readonly { readonly group?: string; readonly kind: string }[] = SERVED_KINDS) {
  const served = allowed.filter(isServedKind);
  return SERVED_KINDS.filter(({ kind }) => served.some((each) => each.kind === kind));
}

/** Programmed, unless one of these conditions is not True. */
function programmedBy(conditions: readonly Condition[]): Condition {
  const problem = conditions.find(({ status }) => status !== "True");
  return problem === undefined
    ? { type: "Programmed", status: "True", reason: "Programmed", message: "traffic is served" }
    : { ...problem, type: "Programmed", reason: "Invalid" };
}

/** A condition keeps its lastTransitionTime while its status stays the same. */
function dated(
  { metadata }: KubeObject,
  known: readonly Condition[] = [],
  wanted: readonly Condition[],
  now: string,
): Condition[] {
  return wanted.map((condition) => {
    const before = known.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return { ...condition, observedGeneration: metadata.generation ?? 0, lastTransitionTime: since ?? now };
  });
}

function changed<T extends KubeObject & { readonly status?: object }>(
  all: readonly WantedStatus<T>[],
): WantedStatus<T>[] {
  return all.filter(({ object, status }) => !isDeepStrictEqual(object.status, status));
}

/** False if a write failed and has to be retried. */
export async function writeStatuses(
  client: Client,
  wanted: WantedStatuses,
  log: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  const done = [
    await writeAll(client, GatewayClassResource, wanted.classes, log, signal),
    await writeAll(client, GatewayResource, wanted.gateways, log, signal),
    await writeAll(client, HttpRouteResource, wanted.routes, log, signal),
    await writeAll(client, GrpcRouteResource, wanted.grpcRoutes, log, signal),
  ];
  return done.every(Boolean);
}

async function writeAll<T extends KubeObject>(
  client: Client,
  resource: ResourceOf<T>,
  wanted: readonly WantedStatus<T>[],
  log: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  let isDone = true;
  for (const { object, status } of wanted) {
    const { namespace } = object.metadata;
    const all = client.of(resource);
    try {
      await (namespace === undefined ? all : all.in(namespace)).updateStatus({ ...object, status }, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      // The watch delivers its next version, or its deletion.
      if (isStatusError(error) && (error.reason === "Conflict" || error.reason === "NotFound")) continue;
      isDone = false;
      log.warn("a Gateway API status could not be written", { object: objectKey(object), error });
    }
  }
  return isDone;
}
