/** `k8ts up`: runs a cluster in the foreground, or with --detach in its own process. */
import { existsSync, readdirSync } from "node:fs";
import { Command, Option } from "commander";
import {
  type ClusterConfig,
  ClusterError,
  commandFor,
  type ListenConfig,
  type NodeOwn,
  type NodesConfig,
  type RealNodesConfig,
  readLastStart,
  readStoreRecord,
  type StoreConfig,
} from "#cluster";
import { userKubeconfigPath } from "#pki";
import type { ClusterFile } from "../config/cluster-file.ts";
import { takeClusterFile } from "../config/take-file.ts";
import { type AdmissionFlagOptions, admissionFrom, admissionOptions } from "../options/api-server/admission.ts";
import { type ApisFlagOptions, apisOptions } from "../options/api-server/apis.ts";
import { type AuditFlagOptions, auditFrom, auditOptions } from "../options/api-server/audit.ts";
import {
  type AuthenticationOptions,
  authenticationFrom,
  authenticationOptions,
} from "../options/api-server/authentication.ts";
import {
  type AuthorizationOptions,
  authorizationFrom,
  authorizationOptions,
} from "../options/api-server/authorization.ts";
import { type EncryptionOptions, encryptionFrom, encryptionOptions } from "../options/api-server/encryption.ts";
import { type EtcdOptions, etcdOptions } from "../options/api-server/etcd.ts";
import { type FairnessFlagOptions, fairnessFrom, fairnessOptions } from "../options/api-server/fairness.ts";
import { allowPrivilegedOption, type PrivilegedOptions } from "../options/api-server/privileged.ts";
import { type RequestFlagOptions, requestOptions, requestsFrom } from "../options/api-server/requests.ts";
import { nodePortRangeOption } from "../options/api-server/services.ts";
import { notesOnServing, type ServingFlagOptions, servingFrom, servingOptions } from "../options/api-server/serving.ts";
import { type ServingThreadsOptions, servingThreadsOption } from "../options/api-server/serving-threads.ts";
import { type UsageFlagOptions, usageFlags, usageFrom } from "../options/autoscaler.ts";
import { controllersOption } from "../options/controllers.ts";
import { type FeatureOptions, featureOptions, featuresFrom } from "../options/features.ts";
import { flagValues } from "../options/flag-values.ts";
import { type ListenOptions, listenFrom, listenOptions, machineNode, machineNodeName } from "../options/listen.ts";
import { notesOnOutside, type OutsideOptions, outsideFrom, outsideOptions } from "../options/outside.ts";
import { type PublishOptions, publishAtStart, publishOption } from "../options/publish.ts";
import {
  chooseNodes,
  ownTerminal,
  type RealNodesFlagOptions,
  realNodesOptions,
  serviceRanges,
} from "../options/real-nodes.ts";
import { flowRecordsOption, historyWindowOption, type RecordingOptions } from "../options/recording.ts";
import { type NodesFlagOptions, nodesFrom, nodesOptions } from "../options/simulated-nodes.ts";
import { storeFrom } from "../options/store.ts";
import { type TracingFlagOptions, tracingOption } from "../options/tracing.ts";
import { milliseconds, wholeNumber } from "../options/values.ts";
import { clusterArgument, type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { runDetached } from "./detach.ts";
import { runForeground } from "./foreground.ts";
import { runMachine } from "./run-machine.ts";
import { underSystemd } from "./systemd.ts";

export interface UpOptions
  extends EtcdOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    EncryptionOptions,
    AdmissionFlagOptions,
    AuditFlagOptions,
    FairnessFlagOptions,
    PrivilegedOptions,
    ServingFlagOptions,
    ServingThreadsOptions,
    FeatureOptions,
    RequestFlagOptions,
    ApisFlagOptions,
    UsageFlagOptions,
    NodesFlagOptions,
    RealNodesFlagOptions,
    OutsideOptions,
    PublishOptions,
    TracingFlagOptions,
    RecordingOptions,
    ListenOptions,
    DataDirOption {
  readonly store?: "embedded" | "memory" | "etcd";
  readonly bindAddress: string;
  readonly port?: number;
  readonly kubeconfig?: string;
  readonly eventTtl?: number;
  readonly serviceClusterIpRange?: readonly string[];
  readonly serviceNodePortRange?: NonNullable<ClusterConfig["services"]>["nodePorts"];
  readonly controllers?: readonly string[];
  readonly scheduler?: boolean;
  readonly storage: boolean;
  readonly dashboard: boolean;
  readonly dashboardPort: number;
  readonly detach?: boolean;
  readonly config?: string;
  readonly systemd?: "install" | "remove";
  readonly faultSeed?: number;
}

export function upCommand(): Command {
  const command = new Command("up")
    .description("start a cluster; Ctrl-C stops it, and the next `up` of the same name resumes it")
    .addArgument(clusterArgument())
    .addOption(
      new Option(
        "--store <kind>",
        "storage backend; etcd without --etcd-servers: a member of its own (default: that of the last start, else embedded)",
      ).choices(["embedded", "memory", "etcd"]),
    )
    .addOption(dataDirOption())
    .option("--bind-address <ip>", "address to listen on", "127.0.0.1")
    .addOption(
      new Option(
        "--port <port>",
        "port of the API server; 0 picks a free one (default: that of the last start, else 6443 if it is free)",
      ).argParser(wholeNumber(0, 65535)),
    )
    .option("--kubeconfig <file>", "kubeconfig to add the context `k8ts` or `k8ts-NAME` to (default: the user's)")
    .addOption(
      new Option("--event-ttl <duration>", "how long Events are kept, such as 1h30m (default: 1h)").argParser(
        milliseconds,
      ),
    )
    .addOption(
      new Option(
        "--service-cluster-ip-range <cidrs>",
        "Service IP range, or one IPv4 and one IPv6 range (default: 10.96.0.0/12)",
      ).argParser(serviceRanges),
    )
    .addOption(servingThreadsOption())
    .addOption(nodePortRangeOption())
    .addOption(allowPrivilegedOption(true))
    .addOption(historyWindowOption())
    .addOption(flowRecordsOption())
    .addOption(tracingOption())
    .addOption(controllersOption())
    .option("--scheduler", "run the scheduler (default: yes, except with --store memory and no nodes)")
    .option("--no-scheduler", "do not run the scheduler; another process, such as `k8ts scheduler`, does")
    .option("--no-storage", "do not provide volumes: no CSI driver, no StorageClass `standard`")
    .addOption(
      new Option("--dashboard-port <port>", "port of the dashboard on loopback; 0 picks a free one")
        .argParser(wholeNumber(0, 65535))
        .default(0),
    )
    .option("--no-dashboard", "do not serve the dashboard; `k8ts dashboard` serves it separately")
    .addOption(
      new Option(
        "--fault-seed <n>",
        "for tests: components of this process meet refusals, lost answers, late watches; which of them follows from the seed",
      ).argParser(wholeNumber(0, 2 ** 31 - 1)),
    )
    .option("--detach", "run in the background; return when the cluster is ready")
    .option("--config <file>", "a file of the kind Cluster: nodes, networking, manifests, charts; flags add to it")
    .addOption(
      new Option("--systemd [remove]", "install a systemd unit that runs this `up` at every boot; `remove` removes it")
        .choices(["install", "remove"])
        .preset("install"),
    )
    .action(async (name: string | undefined) => {
      const { file, options } = await withFile(command, name);
      if (options.systemd !== undefined) return underSystemd(dataDirOf(options), options.systemd);
      if (await continueMachine(options)) return;
      const last = await readLastStart(dataDirOf(options));
      const listen = listenFrom(options, last?.listen);
      if (listen === undefined && options.nodeName !== undefined)
        throw new ClusterError("--node-name needs --listen: this machine is a node only then.");
      if (listen === undefined && options.virtualAddress !== undefined)
        throw new ClusterError("--virtual-address needs --listen: other machines take it over.");
      const othersJoin = listen !== undefined;
      const before = { hasNodes: hasNodes(options), hadSimulated: last?.nodes?.count, othersJoin };
      const { notes, ...choice } = await chooseNodes({ ...options, ...before }, ownTerminal());
      const lastStore = await readStoreRecord(dataDirOf(options));
      const nodesOf = { before: last?.nodes, own: file?.nodes };
      const { tlsSans, serviceCidrs } = last ?? {};
      const chosen = { ...choice, ...nodesOf, listen, tlsSans, serviceCidrs, lastStore };
      if (listen !== undefined && choice.realNodes !== undefined)
        Object.assign(chosen, await onThisMachine(choice.realNodes, listen, options, file));
      const config = { ...configFrom(options, chosen), initial: file?.initial, flags: flagValues(command) };
      await publishAtStart(options, dataDirOf(options));
      if (options.detach) await runDetached(dataDirOf(options));
      else
        await runForeground(
          config,
          [...notes, ...notesOnServing(options), ...notesOnOutside(options), ...notesOnFaults(options)],
          { dashboardPort: options.dashboard ? options.dashboardPort : undefined, faultSeed: options.faultSeed },
        );
    });
  for (const option of [
    ...listenOptions(),
    ...nodesOptions(),
    ...realNodesOptions(),
    ...outsideOptions(),
    publishOption(),
    ...etcdOptions(),
    ...authenticationOptions(),
    ...authorizationOptions(),
    ...encryptionOptions(),
    ...admissionOptions(),
    ...auditOptions(),
    ...fairnessOptions(),
    ...servingOptions(),
    ...featureOptions(),
    ...requestOptions(),
    ...apisOptions(),
    ...usageFlags(),
  ])
    command.addOption(option);
  return command;
}

function notesOnFaults({ faultSeed: seed }: UpOptions): readonly string[] {
  return seed === undefined ? [] : [`Requests of controllers, scheduler and simulated nodes fail by the seed ${seed}.`];
}

/** In the directory of a machine that joined a cluster, `up` goes on with it. */
async function continueMachine(options: UpOptions): Promise<boolean> {
  const dir = dataDirOf(options);
  if (!existsSync(dir.join)) return false;
  if (options.listen !== undefined)
    throw new ClusterError(
      `${dir.path} is that of a machine that joined a cluster: it has no control plane to --listen for. \`${commandFor(dir, "reset")}\` makes it free.`,
    );
  if (options.detach) await runDetached(dir);
  else await runMachine(dir, options, undefined);
  return true;
}

/** With --listen the machine is the node, and others can join. */
async function onThisMachine(
  realNodes: RealNodesConfig,
  listen: ListenConfig,
  options: UpOptions,
  file: ClusterFile | undefined,
): Promise<Pick<ChosenNodes, "realNodes" | "own">> {
  const { nodeName, hostPorts = [] } = options;
  const own = file?.nodes ?? [];
  if (realNodes.count > 1 || own.length > 1)
    throw new ClusterError(
      "With --listen this machine is one node: others come from other machines, by `k8ts join`. Give --nodes 1, or 0.",
    );
  if (hostPorts.length > 0)
    throw new ClusterError("--host-ports has no meaning with --listen: Pods reach all ports of this machine.");
  if (realNodes.podRanges?.some((range) => range.includes(":")) && listen.address6 === undefined)
    throw new ClusterError(
      "--listen is for Pods with IPv4 or IPv6 addresses, not both: give --cluster-cidr one range.",
    );
  const [first] = own;
  const known = await machineNode(dataDirOf(options));
  const name = await machineNodeName(nodeName ?? first?.name ?? known);
  if (known !== undefined && name !== known)
    throw new ClusterError(
      `This machine is node ${known} of the cluster already: \`k8ts node remove ${known}\` first.`,
    );
  return {
    realNodes: { ...realNodes, machine: { address: listen.address, address6: listen.address6 } },
    own: [{ ...first, name, role: first?.role ?? "control-plane" }],
  };
}

interface ChosenNodes {
  readonly listen?: ListenConfig | undefined;
  readonly tlsSans?: readonly string[] | undefined;
  /** Service ranges of the last start with --listen. */
  readonly serviceCidrs?: readonly string[] | undefined;
  readonly realNodes?: RealNodesConfig;
  readonly simulated: number;
  /** The simulated ones of the last start. */
  readonly before?: NodesConfig | undefined;
  /** Those of --config. */
  readonly own?: readonly NodeOwn[] | undefined;
  /** Which has the state of this cluster. */
  readonly lastStore?: StoreConfig | undefined;
}

export function configFrom(options: UpOptions, chosen: ChosenNodes = { simulated: 0 }): ClusterConfig {
  const { own, simulated, before } = chosen;
  const found = chosen.realNodes === undefined ? nodesFrom(options, simulated, before) : undefined;
  const nodes = found === undefined || own === undefined ? found : { ...found, own };
  const realNodes =
    chosen.realNodes === undefined || own === undefined ? chosen.realNodes : { ...chosen.realNodes, own };
  const { path, name } = dataDirOf(options);
  return {
    dataDir: path,
    name,
    bindAddress: options.bindAddress,
    listen: chosen.listen,
    tlsSans: options.tlsSan ?? chosen.tlsSans,
    port: options.listen?.port ?? options.port,
    store: storeFrom(options, chosen.lastStore),
    storage: { listWindowMs: options.etcdCompactionInterval },
    eventTtlMs: options.eventTtl,
    servingThreads: options.servingThreads,
    serviceCidrs: options.serviceClusterIpRange ?? chosen.serviceCidrs,
    services: { nodePorts: options.serviceNodePortRange },
    historyWindowMs: options.historyWindow,
    flowRecords: options.flowRecords,
    tracingConfigFile: options.tracingConfigFile,
    authentication: authenticationFrom(options),
    authorization: authorizationFrom(options),
    encryption: encryptionFrom(options),
    admission: admissionFrom(options),
    allowPrivileged: options.allowPrivileged,
    audit: auditFrom(options),
    fairness: fairnessFrom(options),
    features: featuresFrom(options),
    serving: { ...servingFrom(options), ...requestsFrom(options) },
    runtimeConfig: options.runtimeConfig,
    controllers: options.controllers,
    // A memory store without nodes is for trying the API: no Pod could run.
    ...usageFrom(options),
    localStorage: options.storage,
    scheduler: options.scheduler ?? (options.store !== "memory" || nodes !== undefined || realNodes !== undefined),
    nodes,
    realNodes,
    outside: outsideFrom(options, process.env),
    mergeInto: options.kubeconfig ?? userKubeconfigPath(process.env),
  };
}

/** The options of the command line, and those of --config. The name of the cluster becomes its directory. */
async function withFile(
  command: Command,
  name: string | undefined,
): Promise<{ readonly file: ClusterFile | undefined; readonly options: UpOptions }> {
  const { config } = command.opts<UpOptions>();
  const file = config === undefined ? undefined : await takeClusterFile(command, config);
  if (name !== undefined && file?.name !== undefined && name !== file.name)
    throw new ClusterError(`${name} and name: ${file.name} of ${config} name two clusters: give one.`);
  const { cluster, ...own } = command.opts<UpOptions>();
  const named = cluster === undefined && own.dataDir === undefined ? (name ?? file?.name) : name;
  return {
    file,
    options: { ...own, dataDir: dataDirOf({ ...own, ...(cluster !== undefined && { cluster }) }, named).path },
  };
}

/** Real nodes of an earlier start. */
function hasNodes(options: UpOptions): boolean {
  const { nodes } = dataDirOf(options);
  return (
    existsSync(nodes) &&
    readdirSync(nodes, { withFileTypes: true }).some((entry) => entry.isDirectory() && !entry.name.startsWith("."))
  );
}
