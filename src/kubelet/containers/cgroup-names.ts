/**
 * The cgroups of Pods: kubepods, a level for each QoS class, then one cgroup for each Pod. With the driver systemd they
 * are slices, which have the names of all slices above them in theirs.
 */
import { type core, qosClassOf } from "#api";

type QosClass = ReturnType<typeof qosClassOf>;

export interface CgroupLayout {
  readonly root: string;
  readonly driver: "cgroupfs" | "systemd";
  /** Without it Pods are directly below the root. */
  readonly perQos: boolean;
}

export function cgroupRootOf(place: CgroupPlace): string {
  return typeof place === "string" ? place : place.root;
}

/** A root alone: cgroupfs, with a level for each QoS class. */
export type CgroupPlace = string | CgroupLayout;

export function cgroupLayout({
  cgroupRoot: root,
  cgroups: { driver, perQos },
}: {
  readonly cgroupRoot: string;
  readonly cgroups: Pick<CgroupLayout, "driver" | "perQos">;
}): CgroupLayout {
  return { root, driver, perQos };
}

export function podCgroup(place: CgroupPlace, pod: core.Pod): string {
  return podCgroupOf(place, qosClassOf(pod), pod.metadata.uid ?? "");
}

export function podCgroupOf(place: CgroupPlace, qos: QosClass, uid: string): string {
  return pathOf(place, [...qosParts(place, qos), `pod${uid}`]);
}

/** Guaranteed Pods are directly below kubepods. */
export function qosCgroup(place: CgroupPlace, qos: QosClass): string {
  return pathOf(place, qosParts(place, qos));
}

/** What the runtime is told: systemd finds a slice by its own name alone. */
export function cgroupParent(place: CgroupPlace, pod: core.Pod): string {
  const path = podCgroup(place, pod);
  return typeof place !== "string" && place.driver === "systemd" ? path.slice(path.lastIndexOf("/") + 1) : path;
}

/** The uid in the name of a Pod's cgroup; undefined if it is another one. */
export function podUidOf(place: CgroupPlace, name: string): string | undefined {
  if (typeof place === "string" || place.driver === "cgroupfs") return /^pod(.+)$/.exec(name)?.[1];
  return /-pod([^-]+)\.slice$/.exec(name)?.[1]?.replaceAll("_", "-");
}

function qosParts(place: CgroupPlace, qos: QosClass): readonly string[] {
  if (typeof place !== "string" && !place.perQos) return [];
  return qos === "Guaranteed" ? ["kubepods"] : ["kubepods", qos.toLowerCase()];
}

function pathOf(place: CgroupPlace, parts: readonly string[]): string {
  const root = (typeof place === "string" ? place : place.root).replace(/\/+$/, "");
  if (typeof place === "string" || place.driver === "cgroupfs") return [root, ...parts].join("/");
  // A dash in the name of a slice means the slice above it.
  const escaped = [...root.split("/").filter(Boolean), ...parts].map((part) =>
    part.replace(/\.slice$/, "").replaceAll("-", "_"),
  );
  const slices = escaped.map((_, at) => `${escaped.slice(0, at + 1).join("-")}.slice`);
  return `/${slices.join("/")}`;
}
