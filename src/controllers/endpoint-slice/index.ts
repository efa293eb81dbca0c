/**
 * EndpointSlices: the addresses and ports of Services.
 *
 *     Services, Pods, Nodes, EndpointSlices --► key of a Service ──► planSlices ══► EndpointSlices
 */
import { kinds, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { podsByLabels, podsByNode } from "../pods/index.ts";
import { type Controller, changesOf, defineController, keysFrom, observed } from "../runtime/index.ts";
import { type IpFamily, mattersToServices, servicesByPods } from "../services/index.ts";
import { figuresOf, type ServiceFigures, sliceMetrics } from "./metrics.ts";
import type { Slice } from "./placement.ts";
import { MAX_ENDPOINTS, planSlices } from "./plan.ts";
import { MANAGED_BY, MANAGER, SERVICE_NAME } from "./slice-metadata.ts";
import { asksForHints } from "./topology-hints.ts";
import { sharesMayChange, ZONE, zoneShares } from "./zone-shares.ts";

export { type Endpoint, type EndpointPort, portsKey, sameEndpoint } from "./endpoint.ts";
export type { Slice } from "./placement.ts";
export { MANAGED_BY, SERVICE_NAME, slicePrefix } from "./slice-metadata.ts";

export interface EndpointSliceSettings {
  /** `--max-endpoints-per-slice`. Default: 100. */
  readonly maxEndpoints?: number | undefined;
}

export const endpointSliceController = endpointSlices({});

export function endpointSlices({ maxEndpoints = MAX_ENDPOINTS }: EndpointSliceSettings): Controller {
  return defineController({
    name: "endpointslice-controller",
    reportsAs: "endpoint-slice-controller",
    bind({ cache, families }) {
      const metrics = families(sliceMetrics);
      const services = cache(kinds.Service);
      const pods = cache(kinds.Pod);
      const nodes = cache(kinds.Node);
      const servicesOf = servicesByPods(services);
      const select = podsByLabels(pods);
      const podsOn = podsByNode(pods);
      const askingForHints = services.index("hints", (service) => (asksForHints(service) ? ["asked"] : []));
      /** Services with zone hints, whose users have been informed by an Event. */
      const hinted = new Map<string, readonly IpFamily[]>();
      const figures = new Map<string, ServiceFigures>();
      metrics.follow(figures);
      const slicesOf = cache(kinds.EndpointSlice).index("service", (slice) => serviceKeys(slice));
      return {
        sources: [
          changesOf(kinds.Service, ({ type, object }) => {
            if (type === "deleted") figures.delete(objectKey(object));
            return type !== "deleted";
          }),
          keysFrom(kinds.Pod, (change) => {
            if (!mattersToServices(change)) return [];
            const { object, old = object } = change;
            return [...servicesOf(object), ...servicesOf(old)].map(objectKey);
          }),
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const weighed = type !== "updated" || sharesMayChange(old, object) ? askingForHints("asked") : [];
            const hasMoved = type !== "updated" || object.metadata.labels?.[ZONE] !== old.metadata.labels?.[ZONE];
            const placed = hasMoved ? podsOn(object.metadata.name ?? "").flatMap(servicesOf) : [];
            return [...placed, ...weighed].map(objectKey);
          }),
          keysFrom(kinds.EndpointSlice, ({ object, old = object }) => [...serviceKeys(object), ...serviceKeys(old)]),
        ],
        reconcile(key) {
          const service = services.get(key);
          const { type, selector = {} } = service?.spec ?? {};
          // Without a selector, users write the endpoints.
          if (service === undefined || type === "ExternalName" || Object.keys(selector).length === 0) {
            hinted.delete(key);
            figures.delete(key);
            return undefined;
          }
          const plan = planSlices({
            service,
            pods: select(service.metadata.namespace ?? "", matcherOfSelector({ matchLabels: selector })),
            slices: slicesOf(key),
            node: (name) => nodes.get(name),
            shares: () => zoneShares(nodes.list()),
            hinted: hinted.get(key) ?? [],
            maxEndpoints,
          });
          if (plan.hinted.length > 0) hinted.set(key, plan.hinted);
          else hinted.delete(key);
          const after = figuresOf(service, slicesOf(key), (plan.steps ?? []).flat(), maxEndpoints);
          figures.set(key, after);
          const counted = observed(plan, ({ verb }, { ok }) => {
            if (ok) metrics.wrote(verb);
          });
          return { ...counted, done: (failures) => metrics.synced(after, failures.length > 0) };
        },
      };
    },
  });
}

/** The key of a slice's Service, if this controller manages the slice. */
function serviceKeys({ metadata: { namespace = "", labels = {} } }: Slice): readonly string[] {
  const { [SERVICE_NAME]: service = "", [MANAGED_BY]: manager } = labels;
  return manager === MANAGER && service !== "" ? [`${namespace}/${service}`] : [];
}
