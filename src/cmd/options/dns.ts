/** Flags about the cluster's DNS. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Option } from "commander";
import { ClusterError, type StandaloneDnsConfig } from "#cluster";
import { wholeNumber } from "./values.ts";

export interface DnsFlagOptions {
  readonly clusterDns?: readonly string[];
  readonly dnsPort: number;
  readonly clusterDomain: string;
  readonly upstream?: readonly string[];
  readonly stubDomain?: readonly string[];
  readonly dnsHost?: readonly string[];
}

const DNS_PORT = 53;

export function dnsOptions(): readonly Option[] {
  return [
    new Option("--cluster-dns <ips>", "addresses of the cluster DNS server").argParser(list),
    new Option("--dns-port <port>", "port of the cluster DNS server")
      .argParser(wholeNumber(0, 65535))
      .default(DNS_PORT),
    new Option("--cluster-domain <name>", "DNS domain of the cluster").default("cluster.local"),
    new Option("--upstream <servers>", "upstream DNS servers, as ip[:port]; default: those of resolv.conf").argParser(
      list,
    ),
    new Option("--stub-domain <domain=servers>", "DNS servers for one domain; repeatable").argParser(repeated),
    new Option("--dns-host <name=ips>", "a name besides those of Services, with its addresses; repeatable").argParser(
      repeated,
    ),
  ];
}

export function dnsFrom(options: DnsFlagOptions, addresses: readonly string[]): StandaloneDnsConfig {
  const stubs = (options.stubDomain ?? []).map((text) => {
    const [domain = "", servers = ""] = text.split("=");
    if (domain === "" || servers === "") throw new ClusterError(`--stub-domain ${text}: use domain=ip[:port][,…].`);
    return [domain.toLowerCase(), list(servers).map((server) => serverOf("--stub-domain", server))] as const;
  });
  for (const address of addresses)
    if (isIP(address) === 0) throw new ClusterError(`--cluster-dns: ${address} is not an IP address.`);
  const hosts = (options.dnsHost ?? []).map((text) => {
    const [name = "", ips = ""] = text.split("=");
    if (name === "" || list(ips).some((ip) => isIP(ip) === 0))
      throw new ClusterError(`--dns-host ${text}: use name=ip[,…].`);
    return [name.toLowerCase(), list(ips)] as const;
  });
  return {
    addresses,
    port: options.dnsPort,
    zone: options.clusterDomain.toLowerCase(),
    upstreams: (options.upstream ?? systemServers(addresses))
      .filter(Boolean)
      .map((server) => serverOf("--upstream", server)),
    stubDomains: Object.fromEntries(stubs),
    hosts: Object.fromEntries(hosts),
  };
}

/** The machine's servers, without our own addresses, which would be a loop. */
function systemServers(own: readonly string[]): string[] {
  try {
    const lines = readFileSync("/etc/resolv.conf", "utf8").split("\n");
    const servers = lines.flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
    return servers.filter((server) => !own.includes(server));
  } catch {
    return []; // a machine without the file has no servers of its own
  }
}

function serverOf(flag: string, text: string): { host: string; port: number } {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, host = "", port = ""] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? [];
  if (isIP(host) === 0 || Number(port) > 65_535)
    throw new ClusterError(`${flag}: ${text} is not a server; use ip[:port].`);
  return { host, port: Number(port) };
}

function repeated(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}

function list(value: string): string[] {
  return value.split(",").map((each) => each.trim());
}
