/**
 * Writes the status of GatewayClasses, Gateways, routes and BackendTLSPolicies. `wantedStatuses` is pure; an unchanged
 * status is not written.
 */
import { isDeepStrictEqual } from "node:util";
import { isStatusError, type KubeObject } from "#api";
import type { Logger } from "#base";
import { type Client, objectKey, type ResourceOf } from "#client";
import type { Attachments } from "./attach.ts";
import { yes } from "./conditions.ts";
import {
  type BackendTlsPolicy,
  BackendTlsPolicyResource,
  type Condition,
  type Gateway,
  type GatewayClass,
  GatewayClassResource,
  GatewayResource,
  GrpcRouteResource,
  HttpRouteResource,
  type ParentStatus,
  TcpRouteResource,
  TlsRouteResource,
} from "./kinds.ts";
import { supportedKinds } from "./listeners.ts";
import type { JudgedPolicy } from "./policies.ts";
import { kindOf, type RouteKind, sourceOf } from "./route-kinds.ts";

export interface WantedStatus<T extends KubeObject> {
  readonly object: T;
  readonly status: object;
}

export interface WantedStatuses {
  readonly classes: readonly WantedStatus<GatewayClass>[];
  readonly gateways: readonly WantedStatus<Gateway>[];
  readonly routes: readonly (WantedStatus<KubeObject> & { readonly kind: RouteKind })[];
  readonly policies: readonly WantedStatus<BackendTlsPolicy>[];
}

/** `now`: the lastTransitionTime of conditions that change. */
export function wantedStatuses(
  attachments: Attachments,
  {
    addresses,
    controller,
    now,
    policies = [],
  }: {
    readonly addresses: readonly string[];
    readonly controller: string;
    readonly now: string;
    readonly policies?: readonly JudgedPolicy[];
  },
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
        listeners: listeners.map(({ listener, accepted: own, resolved, attached }) => ({
          name: listener.name,
          attachedRoutes: attached,
          supportedKinds: supportedKinds(listener),
          conditions: dated(object, known.get(listener.name), [own, programmedBy([own, resolved]), resolved], now),
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
    const others = known.filter(({ controllerName }) => controllerName !== controller);
    return { kind: kindOf(object), object: sourceOf(object), status: { parents: [...others, ...own] } };
  });
  return {
    ...{ classes: changed(classes), gateways: changed(gateways), routes: changed(routes) },
    policies: changed(policies.map((policy) => policyStatus(policy, controller, now))),
  };
}

function policyStatus({ policy, accepted, resolved, gateways }: JudgedPolicy, controller: string, now: string) {
  const known = policy.status?.ancestors ?? [];
  const others = known.filter(({ controllerName }) => controllerName !== controller);
  const own = gateways.map((key) => {
    const [namespace = "", name = ""] = key.split("/");
    const ancestorRef = { group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name };
    const before = known.find(
      (each) => each.controllerName === controller && isDeepStrictEqual(each.ancestorRef, ancestorRef),
    );
    const conditions = dated(policy, before?.conditions, [accepted, resolved], now);
    return { ancestorRef, controllerName: controller, conditions };
  });
  // At most 16 ancestors are shown.
  return { object: policy, status: { ancestors: [...others, ...own].slice(0, 16) } };
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

function changed<W extends WantedStatus<KubeObject & { readonly status?: object }>>(all: readonly W[]): W[] {
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
    ...(await writeRoutes(client, wanted.routes, log, signal)),
    await writeAll(client, BackendTlsPolicyResource, wanted.policies, log, signal),
  ];
  return done.every(Boolean);
}

const ROUTES = [
  ["HTTPRoute", HttpRouteResource],
  ["GRPCRoute", GrpcRouteResource],
  ["TLSRoute", TlsRouteResource],
  ["TCPRoute", TcpRouteResource],
] as const satisfies readonly (readonly [RouteKind, ResourceOf<KubeObject>])[];

async function writeRoutes(
  client: Client,
  wanted: WantedStatuses["routes"],
  log: Logger,
  signal: AbortSignal,
): Promise<boolean[]> {
  const done: boolean[] = [];
  for (const [kind, resource] of ROUTES) {
    const own = wanted.filter((each) => each.kind === kind);
    done.push(await writeAll<KubeObject>(client, resource, own, log, signal));
  }
  return done;
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
