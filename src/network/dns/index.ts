/** The whole public surface of dns. */
export { type DnsOptions, runDns } from "./run-dns.ts";
export { askDns, type UpstreamAddress } from "./upstream.ts";
