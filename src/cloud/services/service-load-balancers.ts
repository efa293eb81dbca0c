/**
 * Load balancers for Services of type LoadBalancer.
 *
 *     Services --► finalizer ══► ──► cloud: ensure ──► address ══► status
 *     Nodes    --► cloud: update
 *     no longer wanted            ──► cloud: remove ──► status, finalizer ══►
 *
 * 1. A Service has the finalizer before it gets a load balancer, and until that is removed.
 * 2. Services with another loadBalancerClass are ignored.
 * 3. A Service that got no address is reconciled again when another one releases its address.
 * 4. The cloud is asked again only if the Service or the Nodes have changed, or after a failure, later and later. What
 *    was ensured is kept in memory: a new process asks for every Service once.
 */
import { type core, kinds } from "#api";
import { isAbort } from "#base";
import { objectKey, type RecordedEvent } from "#client";
import { type Controller, changesOf, defineController, keysFrom, type Plan } from "#controllers";
import type { LoadBalancers } from "../cloud.ts";
import { Retries, wordsOf } from "../retries.ts";
import {
  changeEvents,
  hasAddress,
  isHeld,
  isWanted,
  normal,
  planFinalizer,
  planRemoval,
  planStatus,
  warning,
} from "./plan-service.ts";
import { signatureOf, targetsIn } from "./targets.ts";

export interface LoadBalancerOptions {
  /** The loadBalancerClass that is served besides Services without a class. */
  readonly loadBalancerClass?: string | undefined;
  readonly concurrency?: number | undefined;
}

/** What the cloud was last asked for, with success. */
interface Ensured {
  readonly service: core.Service;
  readonly spec: string;
  readonly targets: string;
  readonly status: core.LoadBalancerStatus;
}

export function serviceLoadBalancers(balancers: LoadBalancers, options: LoadBalancerOptions = {}): Controller {
  const { loadBalancerClass, concurrency = 1 } = options;
  return defineController({
    name: "service-lb-controller",
    account: "service-controller",
    reportsAs: "service-controller",
    concurrency,
    bind({ cache, random, log }) {
      const services = cache(kinds.Service);
      const nodes = cache(kinds.Node);
      const retries = new Retries(random);
      const ensured = new Map<string, Ensured>();
      const wanted = () => services.list().filter((each) => isWanted(each, loadBalancerClass));
      let hasAdopted = false;

      /** The load balancer of a Service that is gone, or is no longer wanted. */
      const removed = async (service: core.Service, key: string, signal: AbortSignal): Promise<Plan> => {
        await balancers.remove(service, signal);
        ensured.delete(key);
        retries.succeeded(key);
        return services.get(key)?.metadata.uid === service.metadata.uid ? planRemoval(service) : {};
      };

      const ensure = async (service: core.Service, key: string, signal: AbortSignal): Promise<Plan | undefined> => {
        const [targets, before] = [targetsIn(nodes.list()), ensured.get(key)];
        const now = { service, spec: specOf(service), targets: signatureOf(targets) };
        const noTargets = targets.length === 0 ? [noNodes(service)] : [];
        const isMoved = balancers.followsNodes === true && before?.targets !== now.targets;
        if (before?.spec === now.spec && !isMoved) {
          if (balancers.update === undefined || before.targets === now.targets)
            return planStatus(service, before.status, false);
          await balancers.update(service, targets, signal);
          ensured.set(key, { ...before, ...now });
          retries.succeeded(key);
          const events = [...noTargets, normal(service, "UpdatedLoadBalancer", "Updated load balancer with new hosts")];
          return { ...planStatus(service, before.status, false), events };
        }
        const status = await balancers.ensure(service, targets, signal);
        ensured.set(key, { ...now, status });
        retries.succeeded(key);
        const plan = planStatus(service, status, true);
        const changes = before === undefined ? [] : changeEvents(before.service, service);
        const first = [...changes, normal(service, "EnsuringLoadBalancer", "Ensuring load balancer")];
        return { ...plan, events: [...first, ...noTargets, ...(plan.events ?? [])] };
      };

      return {
        sources: [
          changesOf(kinds.Service),
          keysFrom(kinds.Service, ({ type, object }) => {
            const isFreed = type === "deleted" || !isWanted(object, loadBalancerClass);
            return isFreed ? wanted().flatMap((each) => (hasAddress(each) ? [] : [objectKey(each)])) : [];
          }),
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const isSame = type === "updated" && old !== undefined && targetText(object) === targetText(old);
            const follows = balancers.update !== undefined || balancers.followsNodes === true;
            return isSame || !follows ? [] : wanted().map(objectKey);
          }),
        ],
        async reconcile(key, _, signal): Promise<Plan | undefined> {
          if (!hasAdopted) for (const service of services.list()) if (isHeld(service)) balancers.adopt?.(service);
          hasAdopted = true;
          const service = services.get(key);
          const before = ensured.get(key)?.service;
          const isUpdate = before !== undefined && service !== undefined && specOf(before) === specOf(service);
          try {
            // Somebody took the finalizer away, and the Service is gone or another one.
            if (before !== undefined && before.metadata.uid !== service?.metadata.uid) {
              await removed(before, key, signal);
              return service === undefined ? undefined : { againAfterMs: 0 };
            }
            if (service === undefined) return retries.succeeded(key) as undefined;
            if (isWanted(service, loadBalancerClass))
              return isHeld(service) ? await ensure(service, key, signal) : planFinalizer(service);
            return isHeld(service) ? await removed(service, key, signal) : undefined;
          } catch (error) {
            if (isAbort(error, signal)) throw error;
            const againAfterMs = retries.afterMs(key, error);
            // The cloud may have done a part of it.
            const known = ensured.get(key);
            if (known !== undefined && !isUpdate) ensured.set(key, { ...known, spec: "" });
            log.warn("the cloud failed; trying again", { service: key, againAfterMs, error });
            const about = service ?? before;
            if (about === undefined) return { againAfterMs };
            return { events: [failure(about, isWanted(about, loadBalancerClass), isUpdate, error)], againAfterMs };
          }
        },
      };
    },
  });
}

/** What matters to the cloud. */
function specOf({ metadata, spec }: core.Service): string {
  return JSON.stringify([metadata.uid, metadata.annotations ?? {}, spec ?? {}]);
}

function targetText(node: core.Node): string {
  return signatureOf(targetsIn([node]));
}

function noNodes(service: core.Service): RecordedEvent {
  return warning(service, "UnAvailableLoadBalancer", "There are no available nodes for LoadBalancer");
}

function failure(service: core.Service, isWantedStill: boolean, isUpdate: boolean, error: unknown): RecordedEvent {
  const why = wordsOf(error);
  if (!isWantedStill)
    return warning(
      service,
      "SyncLoadBalancerFailed",
      `Error syncing load balancer: failed to delete load balancer: ${why}`,
    );
  if (isUpdate)
    return warning(service, "UpdateLoadBalancerFailed", `Error updating load balancer with new hosts: ${why}`);
  return warning(
    service,
    "SyncLoadBalancerFailed",
    `Error syncing load balancer: failed to ensure load balancer: ${why}`,
  );
}
