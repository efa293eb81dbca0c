/** etcd flags, with kube-apiserver's names. */
import { Option } from "commander";
import { ClusterError, type StoreConfig } from "#cluster";
import { millisecondsOrZero } from "../values.ts";

export interface EtcdOptions {
  readonly etcdServers?: readonly string[];
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly etcdPrefix?: string;
  readonly etcdCompactionInterval?: number;
}

export function etcdOptions(): readonly Option[] {
  return [
    new Option("--etcd-servers <urls>", "etcd endpoints, comma-separated").argParser(endpointList),
    new Option("--etcd-cafile <file>", "CA of etcd's certificate"),
    new Option("--etcd-certfile <file>", "client certificate for etcd"),
    new Option("--etcd-keyfile <file>", "key of the client certificate for etcd"),
    new Option("--etcd-prefix <prefix>", "prefix of all keys in etcd (default: /registry)"),
    new Option(
      "--etcd-compaction-interval <duration>",
      "interval at which etcd is compacted; 0: this server never does (default: 5m)",
    ).argParser(millisecondsOrZero),
  ];
}

/** Undefined: none of them was given. */
export function tlsOf({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdOptions) {
  const tls = {
    ...(etcdCafile !== undefined && { caFile: etcdCafile }),
    ...(etcdCertfile !== undefined && { certFile: etcdCertfile }),
    ...(etcdKeyfile !== undefined && { keyFile: etcdKeyfile }),
  };
  return Object.keys(tls).length > 0 ? tls : undefined;
}

/** Whether a flag was given that only a store on etcd has. */
export function isAboutEtcd(options: EtcdOptions): boolean {
  const { etcdServers, etcdPrefix, etcdCompactionInterval } = options;
  return [etcdServers, etcdPrefix, etcdCompactionInterval, tlsOf(options)].some((given) => given !== undefined);
}

export function etcdStore(options: EtcdOptions, missing: string): StoreConfig {
  const { etcdServers: endpoints, etcdCertfile, etcdKeyfile } = options;
  if (endpoints === undefined) throw new ClusterError(missing);
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new ClusterError("--etcd-certfile and --etcd-keyfile belong together: give both or none.");
  }
  const tls = tlsOf(options);
  const { etcdPrefix: prefix, etcdCompactionInterval: compactionIntervalMs } = options;
  return { kind: "etcd", endpoints, ...(tls !== undefined && { tls }), prefix, compactionIntervalMs };
}

function endpointList(value: string): string[] {
  const endpoints = value
    .split(",")
    .map((endpoint) => endpoint.trim().replace(/\/$/, ""))
    .filter((endpoint) => endpoint !== "");
  for (const endpoint of endpoints) {
    if (!/^https?:\/\/[^/]+$/.test(endpoint))
      throw new ClusterError(`--etcd-servers: "${endpoint}" is not a URL like https://host:2379.`);
  }
  if (endpoints.length === 0) throw new ClusterError("--etcd-servers is empty.");
  return endpoints;
}
