/**
 * What becomes of a Node, by its Ready condition and its machine.
 *
 *     Ready       ──► without the shutdown taint
 *     not Ready   ──► no machine: deleted; shut down: tainted
 */
import { type core, formatTime, instantOf, kinds } from "#api";
import type { Plan, Write } from "#controllers";
import type { Instance } from "../cloud.ts";

export const SHUT_DOWN = "node.cloudprovider.kubernetes.io/shutdown";

export function isReady({ status }: core.Node): boolean {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

export function isTaintedAsShutDown({ spec }: core.Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === SHUT_DOWN);
}

export function planReady(node: core.Node): Plan | undefined {
  if (!isTaintedAsShutDown(node)) return undefined;
  return { steps: [[taintsWrite(node, otherTaints(node))]] };
}

/** `instance` undefined: there is none. */
export function planNotReady(node: core.Node, instance: Instance | undefined, now: number): Plan | undefined {
  if (instance === undefined) {
    const note = `Deleting node ${node.metadata.name} because it does not exist in the cloud provider`;
    return {
      steps: [[{ verb: "delete", resource: kinds.Node, object: node }]],
      events: [{ about: node, type: "Normal", reason: "DeletingNode", note }],
    };
  }
  if (!instance.isShutDown || isTaintedAsShutDown(node)) return undefined;
  const timeAdded = formatTime(instantOf(now));
  return { steps: [[taintsWrite(node, [...otherTaints(node), { key: SHUT_DOWN, effect: "NoSchedule", timeAdded }])]] };
}

function otherTaints({ spec }: core.Node): readonly core.Taint[] {
  return (spec?.taints ?? []).filter(({ key }) => key !== SHUT_DOWN);
}

function taintsWrite(node: core.Node, taints: readonly core.Taint[]): Write {
  const patch = {
    metadata: { resourceVersion: node.metadata.resourceVersion ?? "" },
    spec: { taints: taints.length === 0 ? null : taints.map((taint) => ({ ...taint })) },
  };
  return { verb: "patch", resource: kinds.Node, object: node, type: "merge", patch };
}
