/**
 * The Node object of a simulated node, and what it reports of itself.
 *
 * 1. A report says only what is the node's own: resources that others have added to its capacity stay, and are allocatable as a kubelet makes them.
 * 2. A condition keeps its lastTransitionTime while its status stays the same.
 */
import { createHash } from "node:crypto";
import { type core, equalJson, isExtendedResource, type Json, type JsonObject } from "#api";
import { timestamp } from "../pod-status/index.ts";
import { PREFIX } from "./script.ts";
import type { NodeSettings } from "./settings.ts";

/** Set to "true" by whoever wants the node to fall silent. */
export const STOPPED = `${PREFIX}stopped`;

const CONDITIONS = [
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
] as const;

export interface NodeFacts {
  /** Such as v1.36.4. */
  readonly version: string;
  readonly architecture: string;
}

export function newNode(settings: NodeSettings, facts: NodeFacts, now: number): core.Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: settings.name, labels: labelsOf(settings, facts) },
    spec: {},
    status: statusOf(settings, facts, undefined, now),
  };
}

export function labelsOf({ name, labels }: NodeSettings, { architecture }: NodeFacts): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": architecture,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    ...labels,
  };
}

/** A strategic merge patch of the Node's status. */
export function statusReport(
  settings: NodeSettings,
  facts: NodeFacts,
  known: core.Node | undefined,
  images: readonly string[],
  now: number,
): JsonObject {
  const { allocatable, ...own } = statusOf(settings, facts, known, now);
  const status = {
    ...own,
    allocatable: { ...allocatable, ...extendedOf(known) },
    images: images.map((name) => ({ names: [name] })),
  };
  return { status } as unknown as JsonObject;
}

/** Whether the API has something else than the node would report now, times aside. */
export function isOutdated(settings: NodeSettings, known: core.Node): boolean {
  const { conditions = [], capacity = {}, allocatable = {} } = known.status ?? {};
  const isTold = CONDITIONS.every(([type, status]) => conditions.find((each) => each.type === type)?.status === status);
  const isWhole = Object.entries(settings.capacity).every(
    ([name, amount]) => capacity[name] === amount && allocatable[name] === amount,
  );
  const hasExtended = Object.entries(extendedOf(known)).every(
    ([name, amount]) => (allocatable[name] ?? null) === amount,
  );
  return !isTold || !isWhole || !hasExtended;
}

/** As a kubelet does it: what is in the capacity is allocatable, what is no longer in it is not. */
function extendedOf(known: core.Node | undefined): Record<string, string | null> {
  const { capacity = {}, allocatable = {} } = known?.status ?? {};
  const gone = Object.keys(allocatable).filter((name) => isExtendedResource(name) && !(name in capacity));
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(capacity).filter(([name]) => isExtendedResource(name))),
  };
}

function statusOf(
  settings: NodeSettings,
  facts: NodeFacts,
  known: core.Node | undefined,
  now: number,
): core.NodeStatus {
  const { name, address, capacity } = settings;
  const addresses = [
    { type: "InternalIP", address },
    { type: "Hostname", address: name },
  ];
  return {
    capacity,
    allocatable: capacity,
    conditions: CONDITIONS.map(([type, status, reason, message]) => {
      const before = known?.status?.conditions?.find((each) => each.type === type);
      const isSame = before?.status === status && before.lastTransitionTime !== undefined;
      const since = isSame ? (before.lastTransitionTime ?? "") : timestamp(now);
      return { type, status, reason, message, lastHeartbeatTime: timestamp(now), lastTransitionTime: since };
    }),
    // Addresses merge by their type: those of others would stay.
    ...(equalJson((known?.status?.addresses ?? []) as unknown as Json, addresses) ? {} : { addresses }),
    nodeInfo: infoOf(settings, facts),
    features: { supplementalGroupsPolicy: true },
  };
}

function infoOf({ name }: NodeSettings, { version, architecture }: NodeFacts): core.NodeSystemInfo {
  const digest = (text: string) => createHash("sha256").update(`${text} of ${name}`).digest("hex").slice(0, 32);
  const uuid = (text: string) => digest(text).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return {
    machineID: digest("machine"),
    systemUUID: uuid("system"),
    bootID: uuid("boot"),
    kernelVersion: "6.12.0-simulated",
    osImage: "k8ts simulated node",
    containerRuntimeVersion: `simulated://${version.replace(/^v/, "")}`,
    kubeletVersion: version,
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture,
  };
}
