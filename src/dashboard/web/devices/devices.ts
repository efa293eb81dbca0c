/** The devices of ResourceSlices, who holds them and how they are; claims; extended resources of nodes. */
import type { core, resource } from "#api";
import type { KubeObject } from "../api/watched.ts";
import type { Tone } from "../model/pod.ts";
import { quantity } from "../model/quantity.ts";

export type Slice = resource.ResourceSlice & KubeObject;
export type Claim = resource.ResourceClaim & KubeObject;
type Pod = core.Pod & KubeObject;
type Node = core.Node & KubeObject;

export interface Holder {
  readonly namespace: string;
  readonly name: string;
}

export interface DeviceRow {
  readonly id: string;
  readonly slice: string;
  /** Empty: of no single node. */
  readonly node: string;
  readonly driver: string;
  readonly pool: string;
  readonly name: string;
  readonly attributes: string;
  readonly capacity: string;
  readonly taints: string;
  readonly tone: Tone;
  /** Its health, or what keeps it from being allocated. */
  readonly state: string;
  readonly holders: readonly Holder[];
}

const keyOf = (driver: string, pool: string, device: string) => `${driver}/${pool}/${device}`;

/** 1. Of each pool only the newest generation counts, as for the scheduler. */
export function devicesOf(slices: Iterable<Slice>, claims: Iterable<Claim>, pods: Iterable<Pod>): DeviceRow[] {
  const all = [...slices];
  const newest = new Map<string, number>();
  for (const { spec } of all) {
    const pool = `${spec.driver}/${spec.pool.name}`;
    newest.set(pool, Math.max(newest.get(pool) ?? 0, Number(spec.pool.generation)));
  }
  const holders = holdersOf(claims);
  const health = healthOf(pods);
  return all
    .filter(({ spec }) => Number(spec.pool.generation) === newest.get(`${spec.driver}/${spec.pool.name}`))
    .flatMap(({ metadata, spec }) =>
      (spec.devices ?? []).map((device): DeviceRow => {
        const id = keyOf(spec.driver, spec.pool.name, device.name);
        const held = holders.get(id) ?? [];
        return {
          id,
          slice: metadata.name,
          node: device.nodeName ?? spec.nodeName ?? "",
          driver: spec.driver,
          pool: spec.pool.name,
          name: device.name,
          attributes: attributesText(device),
          capacity: capacityText(device),
          taints: (device.taints ?? []).map(taintText).join(", "),
          ...stateOf(device, health.get(id), held.length > 0),
          holders: held,
        };
      }),
    );
}

function stateOf(
  { taints = [] }: resource.Device,
  health: string | undefined,
  isHeld: boolean,
): Pick<DeviceRow, "tone" | "state"> {
  if (health === "Unhealthy") return { tone: "bad", state: "unhealthy" };
  const strongest = ["NoExecute", "NoSchedule"].find((effect) => taints.some((taint) => taint.effect === effect));
  if (strongest !== undefined) return { tone: "bad", state: "tainted" };
  if (health === "Unknown") return { tone: "busy", state: "health unknown" };
  return isHeld ? { tone: "good", state: "in use" } : { tone: "quiet", state: "free" };
}

/** As DRA's kubelet reports it for the containers that use a device. */
function healthOf(pods: Iterable<Pod>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { status } of pods)
    for (const { allocatedResourcesStatus = [] } of status?.containerStatuses ?? [])
      for (const { resources = [] } of allocatedResourcesStatus)
        for (const { resourceID, health } of resources) if (health !== undefined) found.set(resourceID, health);
  return found;
}

function holdersOf(claims: Iterable<Claim>): ReadonlyMap<string, Holder[]> {
  const found = new Map<string, Holder[]>();
  for (const { metadata, status } of claims)
    for (const { driver, pool, device } of status?.allocation?.devices?.results ?? []) {
      const id = keyOf(driver, pool, device);
      const holder = { namespace: metadata.namespace ?? "", name: metadata.name };
      const known = found.get(id) ?? [];
      if (!known.some((each) => each.namespace === holder.namespace && each.name === holder.name)) known.push(holder);
      found.set(id, known);
    }
  return found;
}

function attributesText({ attributes = {} }: resource.Device): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${Object.values(value).flat().join(" ")}`)
    .join(", ");
}

function capacityText({ capacity = {} }: resource.Device): string {
  return Object.entries(capacity)
    .map(([name, { value }]) => `${name} ${value}`)
    .join(", ");
}

function taintText({ key, value, effect }: resource.DeviceTaint): string {
  return `${key}${value === undefined ? "" : `=${value}`}:${effect}`;
}

export interface ClaimRow {
  readonly claim: Claim;
  readonly tone: Tone;
  readonly state: string;
  readonly wants: string;
  readonly devices: string;
  readonly pods: readonly string[];
  /** What is not well, of its devices. */
  readonly conditions: string;
}

export function claimRow(claim: Claim): ClaimRow {
  const { spec, status, metadata } = claim;
  const { allocation, reservedFor = [], devices = [] } = status ?? {};
  const conditions = devices.flatMap(({ device, conditions: all = [] }) =>
    all.map(({ type, status: is, reason }) => `${device} ${type}=${is}${reason ? ` (${reason})` : ""}`),
  );
  const isGoing = (metadata as { deletionTimestamp?: string }).deletionTimestamp !== undefined;
  return {
    claim,
    ...(isGoing
      ? ({ tone: "busy", state: "deleting" } as const)
      : allocation === undefined
        ? ({ tone: "busy", state: "pending" } as const)
        : reservedFor.length === 0
          ? ({ tone: "quiet", state: "allocated" } as const)
          : ({ tone: "good", state: "reserved" } as const)),
    wants: (spec.devices?.requests ?? []).map(wantText).join(", "),
    devices: (allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`).join(", "),
    pods: reservedFor.flatMap(({ resource: plural, name }) => (plural === "pods" ? [name] : [])),
    conditions: conditions.join(", "),
  };
}

function wantText({ exactly, firstAvailable = [] }: resource.DeviceRequest): string {
  const of = (each: resource.ExactDeviceRequest | resource.DeviceSubRequest) =>
    each.allocationMode === "All" ? `all of ${each.deviceClassName}` : `${each.count ?? 1} × ${each.deviceClassName}`;
  return exactly === undefined ? firstAvailable.map(of).join(" or ") : of(exactly);
}

export interface ExtendedRow {
  readonly id: string;
  readonly node: string;
  readonly resource: string;
  readonly capacity: number;
  readonly allocatable: number;
  readonly used: number;
  /** Pods that hold some. */
  readonly pods: readonly Holder[];
}

/** Those of device plugins, and what somebody wrote into a Node's status. */
export function extendedOf(nodes: Iterable<Node>, pods: Iterable<Pod>): ExtendedRow[] {
  const byNode = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? "");
  return [...nodes].flatMap(({ metadata, status }) => {
    const own = (byNode.get(metadata.name) ?? []).filter(
      (pod) => pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed",
    );
    return Object.entries(status?.capacity ?? {})
      .filter(([name]) => isExtended(name))
      .map(([name, capacity]): ExtendedRow => {
        const holding = own.map((pod) => ({ pod, count: requested(pod, name) })).filter(({ count }) => count > 0);
        return {
          id: `${metadata.name} ${name}`,
          node: metadata.name,
          resource: name,
          capacity: quantity(capacity),
          allocatable: quantity(status?.allocatable?.[name] ?? "0"),
          used: holding.reduce((sum, { count }) => sum + count, 0),
          pods: holding.map(({ pod }) => ({ namespace: pod.metadata.namespace ?? "", name: pod.metadata.name })),
        };
      });
  });
}

/** A name with a domain that is not Kubernetes' own. */
function isExtended(name: string): boolean {
  const [domain = "", rest] = name.split("/", 2);
  return rest !== undefined && domain !== "kubernetes.io" && !domain.endsWith(".kubernetes.io");
}

/** Init containers come before the others, but for sidecars. */
function requested({ spec }: Pod, name: string): number {
  const of = (containers: readonly core.Container[] | undefined) =>
    (containers ?? []).map(({ resources }) =>
      quantity(resources?.requests?.[name] ?? resources?.limits?.[name] ?? "0"),
    );
  const sidecars = of(spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always"));
  const sum = [...of(spec?.containers), ...sidecars].reduce((total, each) => total + each, 0);
  return Math.max(sum, ...of(spec?.initContainers));
}
