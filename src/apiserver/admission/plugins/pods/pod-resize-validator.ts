/** PodResizeValidator: refuses a resize that the node could never satisfy. */
import {
  type core,
  goQuote,
  parseQuantity,
  podRequests,
  type Quantity,
  StatusError,
  scaledValue,
  zeroQuantity,
} from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";

export const podResizeValidator: AdmissionPlugin = {
  name: "PodResizeValidator",
  validates: [
    rule("UPDATE", "pods/resize", (attributes, cluster) => {
      const pod = attributes.object as core.Pod;
      const nodeName = pod.spec?.nodeName ?? "";
      // The generation rises with every change of the requests.
      if (nodeName === "" || pod.metadata.generation === attributes.old?.metadata.generation) return;
      const node = cluster.get<core.Node>("", "v1", "nodes", "", nodeName);
      if (node === undefined) throw refused(attributes, `node ${goQuote(nodeName)} not found`);
      const lacking = lacks(pod, node);
      if (lacking.length > 0) {
        const why = `Node didn't have enough allocatable resources: ${lacking.join("; ")}`;
        throw withCause(attributes, why, "NodeCapacity");
      }
      const system = node.metadata.labels?.["kubernetes.io/os"];
      if (system !== "linux") {
        const why = `pod resize is only supported on linux nodes, node ${goQuote(nodeName)} is ${goQuote(system ?? "")}`;
        throw withCause(attributes, why, "UnsupportedPlatform");
      }
    }),
  ],
};

/** cpu in millicores, memory in bytes. */
function lacks(pod: core.Pod, { status }: core.Node): readonly string[] {
  const requests = podRequests(pod);
  const scales = { cpu: -3, memory: 0 } as const;
  return (["cpu", "memory"] as const).flatMap((name) => {
    const value = (amount: Quantity) => scaledValue(amount, scales[name]);
    const [requested, allocatable] = [
      value(requests[name] ?? zeroQuantity),
      value(parseQuantity(status?.allocatable?.[name] ?? "0")),
    ];
    return requested > allocatable ? [`${name}, requested: ${requested}, allocatable: ${allocatable}`] : [];
  });
}

function withCause(attributes: AdmissionAttributes, why: string, reason: string): StatusError {
  const { reason: status, message, details } = refused(attributes, why);
  return new StatusError(status, message, { details: { ...details, causes: [{ reason }] } });
}
