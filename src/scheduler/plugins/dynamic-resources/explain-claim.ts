/**
 * Why no device is left for a claim, for `k8ts why`: what each device of the cluster lacks, counted, with an example.
 * Read from API objects alone, so that it works from outside of the scheduler.
 */
import type { core, resource, resourceV1alpha3 } from "#api";
import { classesByResource, implicitClass } from "../backed-resources.ts";
import { fitsCapacity } from "./capacity.ts";
import { DevicePools, deviceIdOf, type PoolDevice, poolIdOf } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { repelsRequest, TaintRules } from "./device-taints.ts";
import { DeviceUse } from "./device-use.ts";
import { extendedClaim, extendedRequests } from "./extended-resources.ts";
import { claimText } from "./pod-claims.ts";
import { type Wanted, wantedBy } from "./requests.ts";

export interface DeviceObjects {
  readonly slices: readonly resource.ResourceSlice[];
  readonly classes: readonly resource.DeviceClass[];
  /** Where the server has such rules. */
  readonly taintRules?: readonly resourceV1alpha3.DeviceTaintRule[] | undefined;
  /** All claims of the cluster. */
  readonly claims: readonly resource.ResourceClaim[];
}

export interface ExplainedClaim {
  /** In one sentence; undefined if there are devices for each request by itself. */
  readonly cause: string | undefined;
  readonly because: readonly string[];
  readonly help: readonly string[];
}

/** The claim that the scheduler would make for the Pod's extended resources; undefined: devices provide none. */
export function claimForExtended(
  pod: core.Pod,
  classes: readonly resource.DeviceClass[],
): resource.ResourceClaim | undefined {
  const named = classesByResource(classes);
  const known = new Set(classes.map(({ metadata }) => metadata.name));
  const { requests } = extendedRequests(pod, (name) => {
    const found = named.get(name)?.metadata.name ?? implicitClass(name);
    return found !== undefined && known.has(found) ? found : undefined;
  });
  return requests.length === 0 ? undefined : extendedClaim(pod, "", requests);
}

export function explainClaim(claim: resource.ResourceClaim, objects: DeviceObjects): ExplainedClaim {
  const wanted = wantedBy(claim, (name) => objects.classes.find(({ metadata }) => metadata.name === name));
  if ("fault" in wanted) return { cause: wanted.fault, because: [], help: ["create the DeviceClass"] };
  const pools = new DevicePools();
  const use = new DeviceUse();
  for (const slice of objects.slices) pools.set(slice);
  const holders = new Map<string, string>();
  for (const other of objects.claims) {
    use.set(other.metadata.uid ?? "", other.status?.allocation);
    for (const result of other.status?.allocation?.devices?.results ?? [])
      if (result.adminAccess !== true) holders.set(deviceIdOf(result), holderText(other));
  }
  const ids = new Set(objects.slices.map(({ spec }) => poolIdOf(spec.driver, spec.pool.name)));
  const devices = [...ids].flatMap((id) => pools.get(id)?.sections.flatMap((section) => section.devices) ?? []);
  const selectors = new DeviceSelectors();
  const taintRules = new TaintRules();
  for (const rule of objects.taintRules ?? []) taintRules.set(rule);
  const because: string[] = [];
  const help = new Set<string>();
  let cause: string | undefined;
  for (const { options } of wanted.requests) {
    for (const option of options) {
      const found = Map.groupBy(devices, (device) => lack(option, device, { use, selectors, taintRules }));
      const free = found.get("") ?? [];
      for (const [what, list] of found) {
        const [example] = list;
        if (what === "" || example === undefined) continue;
        const holder = what === HELD ? ` by ${holders.get(example.id) ?? "another claim"}` : "";
        because.push(
          `request ${option.name}: ${list.length} of ${devices.length} devices ${what}, such as ${where(example)}${holder}`,
        );
        if (what === HELD)
          help.add(`what would free a device: the end of ${holders.get(example.id) ?? "another claim"}`);
      }
      const needed = option.takesAll ? 1 : option.count;
      const most = mostOnOneNode(free);
      if (most.count >= needed) continue;
      if (devices.length === 0) help.add("no ResourceSlice has devices: is the driver running?");
      const onOne = free.length < needed ? "" : `; no node has so many: ${most.node} has ${most.count}`;
      cause ??= `request ${option.name} needs ${needed} device(s), ${free.length} of ${devices.length} would do${onOne}`;
    }
  }
  return { cause, because, help: [...help] };
}

const HELD = "are held";

interface Means {
  readonly use: DeviceUse;
  readonly selectors: DeviceSelectors;
  readonly taintRules: TaintRules;
}

/** Empty: the device would do. */
function lack(wanted: Wanted, { id, device, pool }: PoolDevice, { use, selectors, taintRules }: Means): string {
  if (pool.isIncomplete) return "are in pools that are being updated";
  if (pool.isInvalid) return "are in invalid pools";
  for (const { expression, class: className, index } of wanted.selectors) {
    const match = selectors.matches(expression, pool.driver, device);
    const of = className === undefined ? "the claim" : `class ${className}`;
    if (match === false) return `fail selector #${index} of ${of} (${expression})`;
    if (match !== true) return `break selector #${index} of ${of} (${match.fault})`;
  }
  if (!wanted.adminAccess && use.isTaken(id)) return HELD;
  const name = { driver: pool.driver, pool: pool.name, device: device.name };
  if (repelsRequest(taintRules.taintsOf(name, device.taints), wanted.tolerations))
    return "have taints that are not tolerated";
  if (!fitsCapacity(wanted.capacity, device.capacity ?? {}, [use.consumed(id)])) return "lack the capacity";
  return "";
}

/** Devices of no certain node count for each. */
function mostOnOneNode(free: readonly PoolDevice[]): { readonly node: string; readonly count: number } {
  const byNode = Map.groupBy(free, nodeOf);
  const shared = byNode.get(undefined)?.length ?? 0;
  let most = { node: "each", count: shared };
  for (const [node, own] of byNode)
    if (node !== undefined && own.length + shared > most.count) most = { node, count: own.length + shared };
  return most;
}

function nodeOf({ slice, device }: Pick<PoolDevice, "slice" | "device">): string | undefined {
  return device.nodeName ?? slice.spec.nodeName;
}

function where({ slice, device, pool }: PoolDevice): string {
  const node = nodeOf({ slice, device });
  return node === undefined ? `${pool.name}/${device.name}` : `${device.name} of ${node}`;
}

function holderText(claim: resource.ResourceClaim): string {
  const pods = (claim.status?.reservedFor ?? []).map(({ name }) => name);
  return `claim ${claimText(claim)}${pods.length === 0 ? "" : ` of pod ${pods.join(", ")}`}`;
}
