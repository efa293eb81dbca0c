/**
 * The requests of a Pod.
 *
 * 1. Containers and sidecars run concurrently and are added up. Each init container runs alone with the sidecars
 *    started before it, so it counts only if that is more.
 * 2. Pod-level requests (cpu, memory, huge pages) replace the sum of the containers. Overhead is added.
 * 3. During a resize, the maximum of requested, actual and allocated resources counts. An infeasible request does not
 *    count.
 * 4. For scores, a container without cpu or memory requests counts as 100m or 200Mi; a request of 0 counts as 0.
 */
import { compareQuantities, type core, parseQuantity, scaledValue } from "#api";

/** cpu in thousandths, everything else in units, rounded up. */
export type Amounts = ReadonlyMap<string, bigint>;

const DEFAULTS: Amounts = new Map([
  ["cpu", 100n],
  ["memory", 200n * 1024n * 1024n],
]);

export function requestsOf(pod: core.Pod): Amounts {
  return requested(resized(pod), new Map());
}

/** For the Pod to be placed. */
export function scoringRequestsOf(pod: core.Pod): Amounts {
  return requested(resized(pod), DEFAULTS);
}

/** For a placed Pod: with pod-level cpu and memory requests it needs no defaults. */
export function scoringRequestsOfPlaced(pod: core.Pod): Amounts {
  const spec = resized(pod);
  if (podLevel(spec).size === 0) return requested(spec, DEFAULTS);
  const asked = requestsOf(pod);
  return requested(spec, new Map([...DEFAULTS].filter(([name]) => !asked.has(name))));
}

function resized({ spec, status }: core.Pod): core.PodSpec | undefined {
  if (spec === undefined) return undefined;
  const infeasible = (status?.conditions ?? []).some(
    ({ type, reason }) => type === "PodResizePending" && reason === "Infeasible",
  );
  const told = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const now = (container: core.Container): core.Container => {
    const own = told.find(({ name }) => name === container.name);
    if (own?.resources === undefined) return container;
    const asked = infeasible ? undefined : container.resources?.requests;
    return { ...container, resources: { requests: most([asked, own.resources.requests, own.allocatedResources]) } };
  };
  return {
    ...spec,
    containers: spec.containers.map(now),
    initContainers: (spec.initContainers ?? []).map((each) => (each.restartPolicy === "Always" ? now(each) : each)),
  };
}

/** The maximum by resource. */
function most(lists: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, text] of lists.flatMap((list) => Object.entries(list ?? {}))) {
    const before = found[name];
    if (before === undefined || compareQuantities(parseQuantity(before), parseQuantity(text)) < 0) found[name] = text;
  }
  return found;
}

function requested(spec: core.PodSpec | undefined, defaults: Amounts): Amounts {
  const total = new Map<string, bigint>();
  for (const container of spec?.containers ?? []) add(total, amountsOf(container, defaults));
  const sidecars = new Map<string, bigint>();
  const atStart = new Map<string, bigint>();
  for (const container of spec?.initContainers ?? []) {
    const own = amountsOf(container, defaults);
    if (container.restartPolicy === "Always") {
      add(total, own);
      add(sidecars, own);
      raise(atStart, sidecars);
    } else {
      const together = new Map(sidecars);
      add(together, own);
      raise(atStart, together);
    }
  }
  raise(total, atStart);
  for (const [name, amount] of podLevel(spec)) total.set(name, amount);
  add(total, amountsIn(spec?.overhead));
  return total;
}

function podLevel(spec: core.PodSpec | undefined): Amounts {
  const asked = amountsIn(spec?.resources?.requests);
  return new Map([...asked].filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name)));
}

function amountsOf({ resources }: core.Container, defaults: Amounts): Amounts {
  return new Map([...defaults, ...amountsIn(resources?.requests)]);
}

export function amountsIn(list: Readonly<Record<string, string>> | undefined): Amounts {
  return new Map(
    Object.entries(list ?? {}).map(([name, text]) => [name, scaledValue(parseQuantity(text), name === "cpu" ? -3 : 0)]),
  );
}

export function add(total: Map<string, bigint>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? 0n) + amount);
}

function raise(total: Map<string, bigint>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = total.get(name);
    if (before === undefined || amount > before) total.set(name, amount);
  }
}

/** Scalar resources: huge pages, attachable volumes and extended resources. */
export function isScalar(name: string): boolean {
  return name.includes("/") || name.startsWith("hugepages-") || name.startsWith("attachable-volumes-");
}
