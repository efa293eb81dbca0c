/**
 * Whether claims can be allocated on a node: every assignment of devices is made, then checked as a whole. Slow and
 * obvious. Selectors are given as functions, so that CEL plays no part here.
 */
import { addQuantities, compareQuantities, type core, parseQuantity, type Quantity, type resource } from "#api";
import { fitsSelector } from "./node-selector.ts";

export interface PlainDevices {
  readonly slices: readonly resource.ResourceSlice[];
  readonly classes: readonly resource.DeviceClass[];
  /** Claims with an allocation. */
  readonly claims: readonly resource.ResourceClaim[];
  /** What an expression says about a device. */
  readonly selects: (expression: string, device: resource.Device, driver: string) => boolean;
}

interface Offer {
  readonly device: resource.Device;
  readonly slice: resource.ResourceSlice;
}

type Asked = (resource.ExactDeviceRequest | resource.DeviceSubRequest) & { readonly adminAccess?: boolean };

interface Part {
  readonly claim: number;
  readonly request: string;
  readonly name: string;
  readonly asked: Asked;
}

interface Taken extends Offer {
  readonly part: Part;
}

/**
 * Every choice of alternatives that a node has devices for, as the names of the requests: the preferred ones first.
 * None: the node does not fit.
 */
export function* plainAllocations(
  wanted: readonly resource.ResourceClaim[],
  node: core.Node,
  world: PlainDevices,
): Generator<readonly string[]> {
  const offers = offersTo(node, world.slices);
  for (const parts of alternatives(wanted)) {
    const sets = parts.map((part) => setsFor(part, offers, world));
    const isPossible = products(sets).some((picks) => isValid(picks.flat(), wanted, world));
    if (isPossible) yield parts.map(({ name }) => name);
  }
}

function offersTo(node: core.Node, slices: readonly resource.ResourceSlice[]): readonly Offer[] {
  const pools = Map.groupBy(slices, ({ spec }) => `${spec.driver}/${spec.pool.name}`);
  return [...pools.values()].flatMap((all) => {
    const newest = Math.max(...all.map(({ spec }) => Number(spec.pool.generation)));
    const current = all.filter(({ spec }) => Number(spec.pool.generation) === newest);
    const names = current.flatMap(({ spec }) => spec.devices ?? []).map(({ name }) => name);
    const isWhole = current.every(({ spec }) => Number(spec.pool.resourceSliceCount) === current.length);
    if (!isWhole || new Set(names).size < names.length) return [];
    return current.flatMap((slice) =>
      (slice.spec.devices ?? [])
        .filter((device) => isReachable(slice.spec.perDeviceNodeSelection === true ? device : slice.spec, node))
        .map((device) => ({ device, slice })),
    );
  });
}

function isReachable(
  { nodeName, allNodes, nodeSelector }: Pick<resource.Device, "nodeName" | "allNodes" | "nodeSelector">,
  node: core.Node,
): boolean {
  if (nodeName !== undefined) return nodeName === node.metadata.name;
  return allNodes === true || (nodeSelector !== undefined && fitsSelector(nodeSelector, node));
}

/** Every choice of alternatives, the preferred ones first. */
function alternatives(wanted: readonly resource.ResourceClaim[]): readonly (readonly Part[])[] {
  const requests = wanted.flatMap(({ spec }, claim) =>
    (spec.devices?.requests ?? []).map(({ name, exactly, firstAvailable = [] }) =>
      exactly !== undefined
        ? [{ claim, request: name, name, asked: exactly as Asked }]
        : firstAvailable.map((asked) => ({
            claim,
            request: name,
            name: `${name}/${asked.name}`,
            asked: asked as Asked,
          })),
    ),
  );
  return [...products(requests)];
}

function setsFor(part: Part, offers: readonly Offer[], world: PlainDevices): readonly (readonly Taken[])[] {
  const { asked } = part;
  const deviceClass = world.classes.find(({ metadata }) => metadata.name === asked.deviceClassName);
  const expressions = [...(deviceClass?.spec.selectors ?? []), ...(asked.selectors ?? [])].map(
    ({ cel }) => cel?.expression ?? "",
  );
  const fitting = offers
    .filter(({ device, slice }) => expressions.every((each) => world.selects(each, device, slice.spec.driver)))
    .map((offer) => ({ ...offer, part }));
  if (asked.allocationMode !== "All") return combinations(fitting, Number(asked.count ?? 1));
  // All devices that have the capacity, not all of which some may lack it.
  const used = usesOf(world);
  const able = fitting.filter((pick) => {
    const others = used.filter((result) => isOf(result, pick));
    return hasCapacity(pick.device, [pick], others);
  });
  return able.length === 0 ? [] : [able];
}

function usesOf({ claims }: PlainDevices): readonly resource.DeviceRequestAllocationResult[] {
  return claims
    .flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
    .filter(({ adminAccess }) => adminAccess !== true);
}

function isOf(result: resource.DeviceRequestAllocationResult, { device, slice }: Offer): boolean {
  const { driver, pool } = slice.spec;
  return result.driver === driver && result.pool === pool.name && result.device === device.name;
}

function isValid(picks: readonly Taken[], wanted: readonly resource.ResourceClaim[], world: PlainDevices): boolean {
  const used = usesOf(world);
  return (
    picks.every((pick, i) => {
      const { part, device } = pick;
      const isAdmin = part.asked.adminAccess === true;
      const earlier = picks.slice(0, i).filter((other) => other.device === device);
      const isShared = device.allowMultipleAllocations === true;
      if (!isAdmin && used.some((result) => result.shareID === undefined && isOf(result, pick))) return false;
      if (!isShared && earlier.some((other) => !isAdmin || other.part.claim === part.claim)) return false;
      return (device.taints ?? []).every(
        (taint) => taint.effect === "None" || (part.asked.tolerations ?? []).some((each) => tolerates(each, taint)),
      );
    }) &&
    new Set(picks.map(({ device }) => device)).values().every((device) => {
      const own = picks.filter((pick) => pick.device === device);
      const others = used.filter((result) => own.some((pick) => isOf(result, pick)));
      return hasCapacity(device, own, others);
    }) &&
    hasCounters(picks, used, world) &&
    wanted.every(({ spec }, claim) =>
      (spec.devices?.constraints ?? []).every((constraint) => {
        const { requests = [], matchAttribute, distinctAttribute = "" } = constraint;
        const values = picks
          .filter(({ part }) => part.claim === claim)
          .filter(
            ({ part }) => requests.length === 0 || requests.includes(part.request) || requests.includes(part.name),
          )
          .map(({ device }) => JSON.stringify(device.attributes?.[matchAttribute ?? distinctAttribute]));
        if (values.includes(undefined as unknown as string)) return false;
        return matchAttribute !== undefined ? new Set(values).size <= 1 : new Set(values).size === values.length;
      }),
    )
  );
}

function tolerates(toleration: resource.DeviceToleration, taint: resource.DeviceTaint): boolean {
  return (
    (toleration.key === undefined || toleration.key === taint.key) &&
    (toleration.effect === undefined || toleration.effect === taint.effect) &&
    (toleration.operator === "Exists" || toleration.value === taint.value)
  );
}

/** Only capacities without a policy. */
function hasCapacity(
  device: resource.Device,
  picks: readonly Taken[],
  others: readonly resource.DeviceRequestAllocationResult[],
): boolean {
  const capacities = Object.entries(device.capacity ?? {});
  for (const { part } of picks)
    for (const name of Object.keys(part.asked.capacity?.requests ?? {}))
      if (device.capacity?.[name] === undefined) return false;
  return capacities.every(([name, { value }]) => {
    const amounts = [
      ...picks.map(({ part }) => part.asked.capacity?.requests?.[name] ?? value),
      ...others.flatMap(({ consumedCapacity }) => consumedCapacity?.[name] ?? []),
    ];
    const isShared = device.allowMultipleAllocations === true;
    const most = (texts: readonly string[]) => compareQuantities(sum(texts), parseQuantity(value)) <= 0;
    return isShared ? most(amounts) : amounts.every((amount) => most([amount]));
  });
}

function hasCounters(
  picks: readonly Taken[],
  used: readonly resource.DeviceRequestAllocationResult[],
  { slices }: PlainDevices,
): boolean {
  const all = slices.flatMap((slice) => (slice.spec.devices ?? []).map((device) => ({ device, slice })));
  const inUse = all.filter((offer) => used.some((result) => isOf(result, offer)));
  const taking = picks.filter(({ part }) => part.asked.adminAccess !== true);
  const consumers = [...new Map([...inUse, ...taking].map((each) => [each.device, each])).values()];
  return taking.every(({ slice, device }) =>
    (device.consumesCounters ?? []).every(({ counterSet, counters }) =>
      Object.keys(counters).every((name) => {
        const pool = (other: resource.ResourceSlice) =>
          other.spec.driver === slice.spec.driver && other.spec.pool.name === slice.spec.pool.name;
        const total = slices
          .filter(pool)
          .flatMap(({ spec }) => spec.sharedCounters ?? [])
          .find((set) => set.name === counterSet)?.counters[name];
        const taken = consumers
          .filter((each) => pool(each.slice))
          .flatMap((each) => each.device.consumesCounters ?? [])
          .filter((each) => each.counterSet === counterSet)
          .flatMap((each) => each.counters[name]?.value ?? []);
        return total !== undefined && compareQuantities(sum(taken), parseQuantity(total.value)) <= 0;
      }),
    ),
  );
}

function sum(texts: readonly string[]): Quantity {
  return texts.map(parseQuantity).reduce(addQuantities, parseQuantity("0"));
}

function combinations<T>(list: readonly T[], count: number): readonly (readonly T[])[] {
  if (count === 0) return [[]];
  return list.flatMap((first, i) => combinations(list.slice(i + 1), count - 1).map((rest) => [first, ...rest]));
}

function* products<T>(lists: readonly (readonly T[])[]): Generator<readonly T[]> {
  const [first, ...rest] = lists;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const head of first) for (const tail of products(rest)) yield [head, ...tail];
}
