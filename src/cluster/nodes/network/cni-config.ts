/**
 * CNI configuration of a node: a veth pair for each Pod (ptp), routed by the node. Without a bridge, all traffic passes
 * the node's forward chain, where Services and NetworkPolicies apply. Pure.
 */
import type { NodeNames } from "../site/names.ts";

export const CONFLIST = "10-k8ts.conflist";

/** `mtu`: the largest packet of Pods. Default: the kernel's. */
export function cniConfig(
  { ipamDir }: Pick<NodeNames, "ipamDir">,
  podCidrs: readonly string[],
  mtu?: number | undefined,
): string {
  const everywhere = podCidrs.map((cidr) => ({ dst: cidr.includes(":") ? "::/0" : "0.0.0.0/0" }));
  const config = {
    cniVersion: "0.4.0",
    name: "k8ts",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ...(mtu !== undefined && { mtu }),
        ipam: {
          type: "host-local",
          dataDir: ipamDir,
          ranges: podCidrs.map((subnet) => [{ subnet }]),
          routes: everywhere,
        },
      },
      { type: "portmap", capabilities: { portMappings: true }, snat: true },
    ],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
