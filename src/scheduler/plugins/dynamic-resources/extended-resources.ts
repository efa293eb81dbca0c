/**
 * The claim for extended resources that classes of devices stand for: made for a Pod by the scheduler, once it has a
 * node. Pure.
 *
 *     containers' requests ──► requests of one claim, and which container uses which request
 *
 * 1. Init containers that end use the devices of those after them, before they want more; of what they want more only
 *    the largest is asked for.
 */
import { type core, parseQuantity, type resource, scaledValue } from "#api";
import type { Claim } from "./pod-claims.ts";

export const EXTENDED_CLAIM = "resource.kubernetes.io/extended-resource-claim";
/** No name of a claim: it exists only here until the Pod has its node. */
const NAME_IN_MEMORY = "<extended-resources>";

export interface ExtendedRequests {
  readonly requests: readonly resource.DeviceRequest[];
  readonly mappings: readonly core.ContainerExtendedResourceRequest[];
}

type Named = { readonly name: string; readonly className: string; readonly count: number };

export function extendedClaim(
  { metadata: { name = "", namespace = "", uid = "" } }: core.Pod,
  temporaryUid: string,
  requests: readonly resource.DeviceRequest[],
): Claim {
  return {
    metadata: {
      namespace,
      name: NAME_IN_MEMORY,
      uid: temporaryUid,
      generateName: `${name}-extended-resources-`,
      annotations: { [EXTENDED_CLAIM]: "true" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec: { devices: { requests } },
  };
}

/** As it is created. */
export function newExtendedClaim({ metadata: { name: _, uid: __, ...metadata }, spec }: Claim): Claim {
  return { metadata, spec };
}

export function isExtendedClaim({ metadata }: Claim): boolean {
  return metadata.name === NAME_IN_MEMORY;
}

/** `classOf`: the class of a resource that devices provide on the node; undefined for other resources. */
export function extendedRequests(pod: core.Pod, classOf: (resource: string) => string | undefined): ExtendedRequests {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const all = [...initContainers, ...containers];
  const names = new Set(all.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})));
  const requests: Named[] = [];
  const mappings: core.ContainerExtendedResourceRequest[] = [];
  for (const resourceName of [...names].sort()) {
    const className = classOf(resourceName);
    if (className === undefined) continue;
    const own = all.map((container, index) => {
      const count = countOf(container, resourceName);
      return {
        container,
        count,
        name: requestName(container, index, resourceName),
        ends: ends(initContainers, container),
      };
    });
    const lasting = own.filter(({ count, ends }) => count > 0 && !ends);
    const map = (container: core.Container, name: string) =>
      mappings.push({ containerName: container.name, resourceName, requestName: name });
    for (const { container, name } of lasting) map(container, name);
    const brief: { container: core.Container; uses: string[]; more: number; name: string }[] = [];
    for (const [index, { container, count, name, ends }] of own.entries()) {
      if (!ends || count === 0) continue;
      let covered = 0;
      const uses: string[] = [];
      for (const later of own.slice(index)) {
        if (covered >= count || later.ends || later.count === 0) continue;
        covered += later.count;
        uses.push(later.name);
      }
      brief.push({ container, uses, more: Math.max(0, count - covered), name });
    }
    const largest = brief.reduce((most, each) => (each.more > (most?.more ?? 0) ? each : most), brief[0]);
    for (const { container, uses, more } of brief) {
      for (const name of uses) map(container, name);
      if (more > 0 && largest !== undefined) map(container, largest.name);
    }
    if (largest !== undefined && largest.more > 0)
      requests.push({ name: largest.name, className, count: largest.more });
    for (const { name, count } of lasting) requests.push({ name, className, count });
  }
  const sorted = requests.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    requests: sorted.map(({ name, className, count }) => ({
      name,
      exactly: { deviceClassName: className, allocationMode: "ExactCount", count },
    })),
    mappings,
  };
}

function ends(initContainers: readonly core.Container[], container: core.Container): boolean {
  return initContainers.includes(container) && container.restartPolicy !== "Always";
}

function countOf({ resources }: core.Container, name: string): number {
  const amount = resources?.requests?.[name];
  return amount === undefined ? 0 : Number(scaledValue(parseQuantity(amount), 0));
}

/** From the positions of the container, and of the resource among its requests. */
function requestName({ resources }: core.Container, index: number, resourceName: string): string {
  const at = Object.keys(resources?.requests ?? {})
    .sort()
    .indexOf(resourceName);
  return `container-${index}-request-${Math.max(0, at)}`;
}
