/**
 * The requests and limits of a whole pod: the sum of its containers or its pod-level resources, and the overhead of its
 * runtime class.
 *
 * 1. Pod-level cpu, memory and huge pages replace the sum of the containers.
 * 2. With `useStatus`, while a resize is in progress, the larger of the desired and the allocated amounts counts.
 * 3. Overhead is added to a limit only where there is one.
 */
import { addQuantities, compareQuantities, parseQuantity, zeroQuantity } from "../../../machinery/scalars/quantity.ts";
import type { Container, ContainerStatus, Pod, PodSpec, ResourceRequirements } from "../../../types/core-v1.ts";
import { addTotals, containerTotals, isSidecar, type Totals } from "./container-totals.ts";

export interface PodTotalsOptions {
  /** Default: true. */
  readonly overhead?: boolean;
  readonly useStatus?: boolean;
  /** Counted for a container that has neither a request nor an allocated amount of the resource. */
  readonly nonMissingContainerRequests?: Amounts;
}

type Amounts = Readonly<Record<string, string>>;

export function podRequests(
  pod: Pod,
  { overhead = true, useStatus = false, nonMissingContainerRequests }: PodTotalsOptions = {},
): Totals {
  const { spec, status } = pod;
  if (spec === undefined) return {};
  const asking = useStatus ? effectiveSpec(pod, spec, "requests") : spec;
  const total = containerTotals(
    nonMissingContainerRequests === undefined ? asking : filledSpec(asking, nonMissingContainerRequests),
    "requests",
  );
  const own = podLevel(spec.resources?.requests);
  const given = useStatus && status?.resources !== undefined;
  Object.assign(
    total,
    given
      ? picked(effective(pod, own, status.resources?.requests, status.allocatedResources), Object.keys(own))
      : parsed(own),
  );
  if (overhead) addTotals(total, parsed(spec.overhead));
  return total;
}

export function podLimits(pod: Pod, { overhead = true, useStatus = false }: PodTotalsOptions = {}): Totals {
  const { spec, status } = pod;
  if (spec === undefined) return {};
  const total = containerTotals(useStatus ? effectiveSpec(pod, spec, "limits") : spec, "limits");
  const own = podLevel(spec.resources?.limits);
  const given = useStatus && status?.resources !== undefined;
  Object.assign(
    total,
    given ? picked(effective(pod, own, status.resources?.limits, undefined), Object.keys(own)) : parsed(own),
  );
  if (!overhead) return total;
  for (const [name, amount] of Object.entries(parsed(spec.overhead))) {
    const limit = total[name];
    if (limit !== undefined && compareQuantities(limit, zeroQuantity) !== 0) total[name] = addQuantities(limit, amount);
  }
  return total;
}

/** Whether pod-level resources are set. */
export function hasPodLevelResources({ spec }: Pod): boolean {
  const { requests, limits } = spec?.resources ?? {};
  return Object.keys(podLevel({ ...requests, ...limits })).length > 0;
}

function podLevel(amounts: Amounts | undefined): Amounts {
  const known = Object.entries(amounts ?? {}).filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name));
  return Object.fromEntries(known);
}

/**
 * Containers with a reported status, each with the amounts that count. Init containers are done before a resize can
 * happen.
 */
function effectiveSpec(
  pod: Pod,
  spec: PodSpec,
  side: "requests" | "limits",
): Pick<PodSpec, "containers" | "initContainers"> {
  const statuses = new Map<string, ContainerStatus>();
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  for (const each of [...containerStatuses, ...initContainerStatuses]) statuses.set(each.name, each);
  const seen = (container: Container): Container => {
    const status = statuses.get(container.name);
    if (status?.resources === undefined) return container;
    const allocated = side === "requests" ? status.allocatedResources : undefined;
    const amounts = effective(pod, container.resources?.[side], status.resources[side], allocated);
    const resources = { ...container.resources, [side]: amounts } as ResourceRequirements;
    return { ...container, resources };
  };
  return {
    containers: (spec.containers ?? []).map(seen),
    initContainers: (spec.initContainers ?? []).map((each) => (isSidecar(each) ? seen(each) : each)),
  };
}

function filledSpec(
  { containers = [], initContainers = [] }: Pick<PodSpec, "containers" | "initContainers">,
  nonMissingContainerRequests: Amounts,
): Pick<PodSpec, "containers" | "initContainers"> {
  const filled = (container: Container): Container => ({
    ...container,
    resources: {
      ...container.resources,
      requests: { ...nonMissingContainerRequests, ...container.resources?.requests },
    },
  });
  return { containers: containers.map(filled), initContainers: initContainers.map(filled) };
}

/** The larger of the desired and the actual amounts; an infeasible resize does not count as desired. */
function effective(
  { status }: Pod,
  wanted: Amounts | undefined,
  actuated: Amounts | undefined,
  allocated: Amounts | undefined,
): Amounts {
  const pending = status?.conditions?.find(({ type }) => type === "PodResizePending");
  const sources = pending?.reason === "Infeasible" ? [actuated, allocated] : [wanted, actuated, allocated];
  const texts: Record<string, string> = {};
  const largest: Totals = {};
  for (const source of sources) {
    for (const [name, text] of Object.entries(source ?? {})) {
      const amount = parseQuantity(text);
      const before = largest[name];
      if (before !== undefined && compareQuantities(amount, before) <= 0) continue;
      largest[name] = amount;
      texts[name] = text;
    }
  }
  return texts;
}

function picked(amounts: Amounts, names: readonly string[]): Totals {
  return parsed(Object.fromEntries(names.map((name) => [name, amounts[name] ?? "0"])));
}

function parsed(amounts: Amounts | undefined): Totals {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}
