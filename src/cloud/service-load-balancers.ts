/**
 * Load balancers for Services of type LoadBalancer.
 *
 *     Services, Nodes --► finalizer ══► ──► cloud: ensure ──► address ══► status
 *     no longer wanted            ──► cloud: remove ──► status, finalizer ══►
 *
 * 1. A Service has the finalizer before it gets a load balancer, and until that is removed.
 * 2. Services with another loadBalancerClass are ignored.
 * 3. A Service that got no address is reconciled again when another one releases its address.
 */
import { type core, kinds } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import type { Controller, Plan, Source, Write } from "#controllers";
import type { LoadBalancers } from "./cloud.ts";

export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
const RETRY_MS = 60_000;

export interface LoadBalancerOptions {
  /** The loadBalancerClass that is served besides Services without a class. */
  readonly loadBalancerClass?: string;
}

export function serviceLoadBalancers(balancers: LoadBalancers, options: LoadBalancerOptions = {}): Controller {
  return {
    name: "service-lb-controller",
    account: "service-controller",
    reportsAs: "service-controller",
    bind({ cache }) {
      const services = cache(kinds.Service);
      const nodes = cache(kinds.Node);
      const waiting = () => services.list().filter((each) => isWanted(each, options) && !hasAddress(each));
      let hasAdopted = false;
      const sources: Source[] = [
        {
          resource: kinds.Service as Source["resource"],
          keys: ({ type, object }) => {
            const freed = type === "deleted" || !isWanted(object as core.Service, options);
            return [objectKey(object), ...(freed ? waiting().map(objectKey) : [])];
          },
        },
      ];
      return {
        sources,
        async reconcile(key, _, signal): Promise<Plan | undefined> {
          if (!hasAdopted) for (const service of services.list()) if (isHeld(service)) balancers.adopt?.(service);
          hasAdopted = true;
          const service = services.get(key);
          if (service === undefined) return undefined;
          if (!isWanted(service, options)) {
            if (!isHeld(service)) return undefined;
            await balancers.remove(service, signal);
            return planRemoval(service);
          }
          if (!isHeld(service)) return { steps: [[finalizerWrite(service, "finalizers")]] };
          try {
            const status = await balancers.ensure(service, nodes.list().filter(isTarget), signal);
            return planStatus(service, status);
          } catch (error) {
            if (signal.aborted) throw error;
            return { events: [failed(service, error)], againAfterMs: RETRY_MS };
          }
        },
      };
    },
  };
}

export function planStatus(service: core.Service, status: core.LoadBalancerStatus): Plan {
  const told = ({ ingress = [] }: core.LoadBalancerStatus) =>
    ingress.map(({ ip = "", hostname = "", ipMode = "" }) => `${ip} ${hostname} ${ipMode}`).join();
  if (told(service.status?.loadBalancer ?? {}) === told(status)) return {};
  const note = "Ensured load balancer";
  return {
    steps: [[statusWrite(service, status)]],
    eventFor: (_, { ok }) => (ok ? { about: service, type: "Normal", reason: "EnsuredLoadBalancer", note } : undefined),
  };
}

export function planRemoval(service: core.Service): Plan {
  const isEnding = service.metadata.deletionTimestamp !== undefined;
  const status = hasAddress(service) && !isEnding ? [statusWrite(service, {})] : [];
  const note = "Deleted load balancer";
  return {
    steps: [status, [finalizerWrite(service, "$deleteFromPrimitiveList/finalizers")]],
    events: [{ about: service, type: "Normal", reason: "DeletedLoadBalancer", note }],
  };
}

function isWanted({ metadata, spec }: core.Service, { loadBalancerClass }: LoadBalancerOptions): boolean {
  if (spec?.type !== "LoadBalancer" || metadata.deletionTimestamp !== undefined) return false;
  return spec.loadBalancerClass === undefined || spec.loadBalancerClass === loadBalancerClass;
}

function isHeld({ metadata }: core.Service): boolean {
  return metadata.finalizers?.includes(FINALIZER) === true;
}

function hasAddress({ status }: core.Service): boolean {
  return (status?.loadBalancer?.ingress ?? []).length > 0;
}

/** The Nodes that receive external traffic. */
function isTarget({ metadata }: core.Node): boolean {
  return metadata.deletionTimestamp === undefined && metadata.labels?.[EXCLUDED] === undefined;
}

/** Patches the status only: the controller may write nothing else. */
function finalizerWrite(object: core.Service, field: string): Write {
  const patch = { metadata: { [field]: [FINALIZER] } };
  return { verb: "patch", resource: kinds.Service, object, subresource: "status", patch };
}

function statusWrite(object: core.Service, loadBalancer: core.LoadBalancerStatus): Write {
  const { ingress = [] } = loadBalancer;
  const told = ingress.map(({ ip, hostname, ipMode }) => ({
    ...(ip !== undefined && { ip }),
    ...(hostname !== undefined && { hostname }),
    ...(ipMode !== undefined && { ipMode }),
  }));
  const patch = { status: { loadBalancer: { ingress: told.length === 0 ? null : told } } };
  return { verb: "patch", resource: kinds.Service, object, subresource: "status", type: "merge", patch };
}

function failed(about: core.Service, error: unknown): RecordedEvent {
  const why = error instanceof Error ? error.message : String(error);
  return { about, type: "Warning", reason: "SyncLoadBalancerFailed", note: `Error syncing load balancer: ${why}` };
}
