/** The whole public surface of network. */

export { endOf, readyzCheck, rememberedMembers } from "./balancer/index.ts";
export {
  type Attachment,
  type AttachResult,
  CniError,
  Network,
  type NetworkConfiguration,
  type NetworkOptions,
  networkIn,
  parseNetwork,
} from "./cni/index.ts";
export { askDns, type DnsOptions, runDns, type UpstreamAddress } from "./dns/index.ts";
export {
  definitionEstablished,
  GATEWAY_CONTROLLER,
  GATEWAY_DEFINITIONS,
  GATEWAYS,
  GatewayClassResource,
  GatewayResource,
  installDefinitions,
} from "./gateway/index.ts";
export { type IngressOptions, runIngress } from "./ingress/index.ts";
export { runProgram } from "./kernel/program.ts";
export type { OverlayMode } from "./overlay/index.ts";
export { arpSenderScript, senderRules } from "./policy/senders.ts";
export { chooseEndpoints } from "./proxy/endpoints.ts";
export { type ProxyHealth, ProxyMetrics } from "./proxy/metrics.ts";
export { removeNodeNetwork } from "./remove-node-network.ts";
export { type NodeNetworkOptions, type ProxyMode, runNodeNetwork } from "./run-node-network.ts";
export { linkOf, runVirtualAddress, VIRTUAL_ADDRESS_LEASE } from "./virtual-address/index.ts";
