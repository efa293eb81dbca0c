/** The cluster's DNS: see README. */
export { type DnsOptions, runDns } from "./run-dns.ts";
export type { UpstreamAddress } from "./upstream.ts";
