/** `k8ts up`: runs a cluster in the foreground, or with --detach in a process of its own. */
import { Command, Option } from "commander";
import { type ClusterConfig, ClusterError, type StoreConfig } from "#cluster";
import { userKubeconfigPath } from "#pki";
import { type AdmissionFlagOptions, admissionFrom, admissionOptions } from "./admission-options.ts";
import { type AuthenticationOptions, authenticationFrom, authenticationOptions } from "./authentication-options.ts";
import { type AuthorizationOptions, authorizationFrom, authorizationOptions } from "./authorization-options.ts";
import { runDetached } from "./detach.ts";
import { runForeground } from "./foreground.ts";
import { dataDirOption, milliseconds, wholeNumber } from "./options.ts";

export interface UpOptions extends AuthenticationOptions, AuthorizationOptions, AdmissionFlagOptions {
  readonly nodes?: number;
  readonly runtime: "auto" | "containerd" | "simulated";
  readonly store: "embedded" | "memory" | "etcd";
  readonly etcdServers?: readonly string[];
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly dataDir: string;
  readonly bindAddress: string;
  readonly port: number;
  readonly kubeconfig?: string;
  readonly eventTtl?: number;
  readonly controllers?: readonly string[];
  readonly detach?: boolean;
}

export function upCommand(): Command {
  const command = new Command("up")
    .description("run a cluster; Ctrl-C stops it, the next `up` on the same data directory continues")
    .addOption(new Option("--nodes <n>", "nodes to run").argParser(wholeNumber(0, 5000)))
    .addOption(
      new Option("--runtime <kind>", "what runs containers")
        .choices(["auto", "containerd", "simulated"])
        .default("auto"),
    )
    .addOption(
      new Option("--store <kind>", "where objects are kept")
        .choices(["embedded", "memory", "etcd"])
        .default("embedded"),
    )
    .addOption(new Option("--etcd-servers <urls>", "etcd endpoints, separated by commas").argParser(endpointList))
    .option("--etcd-cafile <file>", "authority that etcd's certificate is checked with")
    .option("--etcd-certfile <file>", "client certificate for etcd")
    .option("--etcd-keyfile <file>", "key of the client certificate for etcd")
    .addOption(dataDirOption())
    .option("--bind-address <ip>", "address to listen on", "127.0.0.1")
    .addOption(
      new Option("--port <port>", "port of the API server; 0 picks a free one")
        .argParser(wholeNumber(0, 65535))
        .default(6443),
    )
    .option("--kubeconfig <file>", "kubeconfig that gets the context `k8ts`, instead of the user's own")
    .addOption(new Option("--event-ttl <duration>", "how long events are kept, such as 1h30m").argParser(milliseconds))
    .addOption(
      new Option(
        "--controllers <names>",
        "which controllers run, separated by commas: * for all that are on by default, a name, or -name to leave one out",
      ).argParser((value) => value.split(",").map((name) => name.trim())),
    )
    .option("--detach", "return when the cluster is ready and leave it running")
    .action(async (options: UpOptions) => {
      const config = configFrom(options);
      if (options.detach) await runDetached(config);
      else await runForeground(config, notesOn(options));
    });
  for (const option of [...authenticationOptions(), ...authorizationOptions(), ...admissionOptions()])
    command.addOption(option);
  return command;
}

export function configFrom(options: UpOptions): ClusterConfig {
  return {
    dataDir: options.dataDir,
    bindAddress: options.bindAddress,
    port: options.port,
    store: storeFrom(options),
    ...(options.eventTtl !== undefined && { eventTtlMs: options.eventTtl }),
    authentication: authenticationFrom(options),
    authorization: authorizationFrom(options),
    admission: admissionFrom(options),
    ...(options.controllers !== undefined && { controllers: options.controllers }),
    mergeInto: options.kubeconfig ?? userKubeconfigPath(process.env),
  };
}

function storeFrom({ store, etcdServers, etcdCafile, etcdCertfile, etcdKeyfile }: UpOptions): StoreConfig {
  const tls = {
    ...(etcdCafile !== undefined && { caFile: etcdCafile }),
    ...(etcdCertfile !== undefined && { certFile: etcdCertfile }),
    ...(etcdKeyfile !== undefined && { keyFile: etcdKeyfile }),
  };
  const hasTls = Object.keys(tls).length > 0;
  if (store !== "etcd") {
    if (etcdServers !== undefined || hasTls) {
      throw new ClusterError(`--etcd-servers and its certificates go with --store etcd, not with --store ${store}.`);
    }
    return { kind: store };
  }
  if (etcdServers === undefined) throw new ClusterError("--store etcd needs --etcd-servers URL[,URL…].");
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new ClusterError("--etcd-certfile and --etcd-keyfile belong together: give both or none.");
  }
  return { kind: "etcd", endpoints: etcdServers, ...(hasTls && { tls }) };
}

/** What was asked for and cannot be had yet: one line each. */
export function notesOn({ nodes = 0, runtime }: UpOptions): string[] {
  const notes: string[] = [];
  if (nodes > 0) notes.push(`--nodes ${nodes}: nodes are not part of this version yet; the cluster runs without any.`);
  if (runtime === "containerd") notes.push("--runtime containerd: real nodes are not part of this version yet.");
  return notes;
}

function endpointList(value: string): string[] {
  const endpoints = value
    .split(",")
    .map((endpoint) => endpoint.trim())
    .filter((endpoint) => endpoint !== "");
  for (const endpoint of endpoints) {
    if (!/^https?:\/\/[^/]+$/.test(endpoint))
      throw new ClusterError(`--etcd-servers: "${endpoint}" is not a URL like https://host:2379.`);
  }
  if (endpoints.length === 0) throw new ClusterError("--etcd-servers is empty.");
  return endpoints;
}
