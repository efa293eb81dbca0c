/** When a Pod has to go because of taints of its devices. Pure. */
import type { resource, resourceV1alpha3 } from "#api";

type Claim = resource.ResourceClaim;
type Result = resource.DeviceRequestAllocationResult;

/** The NoExecute taints of an allocated device. */
export type TaintsOf = (result: Result) => readonly resource.DeviceTaint[];

/** Undefined: never. A taint without a time counts as added `now`. */
export function evictionTime(claims: readonly Claim[], taintsOf: TaintsOf, now: number): number | undefined {
  let earliest: number | undefined;
  for (const { status } of claims) {
    for (const result of status?.allocation?.devices?.results ?? []) {
      for (const taint of taintsOf(result)) {
        const at = timeFor(taint, result.tolerations ?? [], now);
        if (at !== undefined) earliest = Math.min(earliest ?? at, at);
      }
    }
  }
  return earliest;
}

/** Of several tolerations the one with the shortest time counts. */
function timeFor(
  taint: resource.DeviceTaint,
  tolerations: readonly resource.DeviceToleration[],
  now: number,
): number | undefined {
  const added = taint.timeAdded === undefined ? now : Date.parse(taint.timeAdded);
  const used = tolerations.filter((each) => tolerates(each, taint));
  if (used.length === 0) return added;
  const times = used.flatMap(({ tolerationSeconds }) =>
    tolerationSeconds === undefined ? [] : [Number(tolerationSeconds)],
  );
  return times.length === 0 ? undefined : added + Math.max(0, Math.min(...times)) * 1_000;
}

function tolerates(toleration: resource.DeviceToleration, taint: resource.DeviceTaint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || value === (taint.value ?? "");
}

export type Rule = resourceV1alpha3.DeviceTaintRule;

/** Every field of the rule's selector has to match; an empty one matches all devices. */
export function selects({ spec: { deviceSelector = {} } }: Rule, result: Pick<Result, "driver" | "pool" | "device">) {
  const { driver = result.driver, pool = result.pool, device = result.device } = deviceSelector;
  return driver === result.driver && pool === result.pool && device === result.device;
}

/** The NoExecute taints that rules add to the device. */
export function taintsBy(rules: readonly Rule[], result: Result): readonly resource.DeviceTaint[] {
  return rules
    .filter((rule) => rule.spec.taint.effect === "NoExecute" && selects(rule, result))
    .map(({ spec }) => spec.taint);
}

export function poolKey({ driver, pool }: { readonly driver: string; readonly pool: string }): string {
  return `${driver}/${pool}`;
}

/** From the newest generation of the pool: older slices are about to go. */
export function taintsIn(
  slices: readonly resource.ResourceSlice[],
  { device }: Result,
): readonly resource.DeviceTaint[] {
  const newest = Math.max(...slices.map(({ spec }) => Number(spec.pool.generation)));
  return slices
    .filter(({ spec }) => Number(spec.pool.generation) === newest)
    .flatMap(({ spec }) => spec.devices ?? [])
    .filter(({ name }) => name === device)
    .flatMap(({ taints = [] }) => taints.filter(({ effect }) => effect === "NoExecute"));
}
