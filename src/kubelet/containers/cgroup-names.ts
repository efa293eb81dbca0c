/** The cgroups of Pods: kubepods, a level for each QoS class, then one cgroup for each Pod. */
import { type core, qosClassOf } from "#api";

export function podCgroup(cgroupRoot: string, pod: core.Pod): string {
  return `${qosCgroup(cgroupRoot, qosClassOf(pod))}/pod${pod.metadata.uid}`;
}

/** Guaranteed Pods are directly below kubepods. */
export function qosCgroup(cgroupRoot: string, qos: "BestEffort" | "Burstable" | "Guaranteed"): string {
  const kubepods = `${cgroupRoot.replace(/\/+$/, "")}/kubepods`;
  return qos === "Guaranteed" ? kubepods : `${kubepods}/${qos.toLowerCase()}`;
}
