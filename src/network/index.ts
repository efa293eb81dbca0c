/** The whole public surface of network. */
export { type DnsOptions, runDns, type UpstreamAddress } from "./dns/index.ts";
