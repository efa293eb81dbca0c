/** Metrics of the DNS server, with the names of CoreDNS, so that its dashboards work. */
import type { MetricsRegistry } from "#base";
import { CODES } from "./message.ts";

export interface DnsMetrics {
  answered(type: string, code: number, ms: number, overTcp: boolean): void;
  refused(): void;
}

const CODE_NAMES: Readonly<Record<number, string>> = {
  [CODES.ok]: "NOERROR",
  [CODES.malformed]: "FORMERR",
  [CODES.failed]: "SERVFAIL",
  [CODES.absent]: "NXDOMAIN",
  [CODES.notImplemented]: "NOTIMP",
  [CODES.refused]: "REFUSED",
};
/** Types with a label of their own: clients must not be able to create labels without bound. */
const KNOWN = new Set(["A", "AAAA", "SRV", "PTR", "CNAME", "TXT", "SOA", "NS", "MX", "ANY"]);
const BUCKETS = [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8];

export function dnsMetrics(registry: MetricsRegistry): DnsMetrics {
  const requests = registry.counter({
    name: "coredns_dns_requests_total",
    help: "Questions by protocol and type.",
    labels: ["proto", "type"],
  });
  const responses = registry.counter({
    name: "coredns_dns_responses_total",
    help: "Responses by code.",
    labels: ["rcode"],
  });
  const unreadable = registry.counter({
    name: "k8ts_dns_unreadable_total",
    help: "Messages that are not questions.",
  });
  const durations = registry.histogram({
    name: "coredns_dns_request_duration_seconds",
    help: "From a question to its response.",
    labels: ["type"],
    buckets: BUCKETS,
  });
  return {
    answered(type, code, ms, overTcp) {
      const known = KNOWN.has(type) ? type : "other";
      requests.labels(overTcp ? "tcp" : "udp", known).inc();
      responses.labels(CODE_NAMES[code] ?? String(code)).inc();
      durations.labels(known).observe(ms / 1000);
    },
    refused: () => unreadable.labels().inc(),
  };
}
