/**
 * Endpoints of Services.
 *
 * 1. When a Service is deleted, so are its Endpoints. Leftovers of Services that were deleted while no controller ran
 *    are found once, at the start. Other Endpoints without a Service stay: a user may create them first.
 */
import { type core, kinds, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { podsByLabels } from "../pods/index.ts";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { mattersToServices, servicesByPods } from "../services/index.ts";
import { planEndpoints } from "./plan.ts";

export { offersOf, type Port, subsetsOf } from "./subsets.ts";

/** On Endpoints that serve as a leader election lock. */
export const LEADER = "control-plane.alpha.kubernetes.io/leader";

export const endpointsController = defineController({
  name: "endpoints-controller",
  account: "endpoint-controller",
  reportsAs: "endpoint-controller",
  bind({ cache }) {
    const services = cache(kinds.Service);
    const endpoints = cache(kinds.Endpoints);
    const servicesOf = servicesByPods(services);
    const select = podsByLabels(cache(kinds.Pod));
    return {
      sources: [
        changesOf(kinds.Service),
        keysFrom(kinds.Pod, (change) => {
          if (!mattersToServices(change)) return [];
          const { object, old = object } = change;
          return [...servicesOf(object), ...servicesOf(old)].map(objectKey);
        }),
        changesOf(
          kinds.Endpoints,
          ({ object, old }) => old !== undefined && services.get(objectKey(object)) !== undefined,
        ),
      ],
      reconcile(key) {
        const service = services.get(key);
        const current = endpoints.get(key);
        if (service === undefined)
          return current && { steps: [[{ verb: "delete", resource: kinds.Endpoints, object: current }]] };
        const { type, selector = {} } = service.spec ?? {};
        if (type === "ExternalName" || Object.keys(selector).length === 0) return undefined;
        const pods = select(service.metadata.namespace ?? "", matcherOfSelector({ matchLabels: selector }));
        return planEndpoints(service, pods, current);
      },
      async run(_signal, enqueue) {
        for (const each of endpoints.list().filter(isLeftOver)) enqueue(objectKey(each));
      },
    };

    function isLeftOver(each: core.Endpoints): boolean {
      return services.get(objectKey(each)) === undefined && each.metadata.annotations?.[LEADER] === undefined;
    }
  },
});
