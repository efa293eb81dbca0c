/**
 * `k8ts csi-sidecars`: provisioner, attacher, resizer and health monitor of any CSI driver, with the flags of the
 * sidecars that it stands for.
 */
import { Command, Option } from "commander";
import { ClusterError, runStandaloneSidecars, type StandaloneSidecarsConfig } from "#cluster";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean, milliseconds, wholeNumber } from "../options/values.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const SIDECARS = ["provisioner", "attacher", "resizer", "health-monitor"] as const;
const CROSS_NAMESPACE = "CrossNamespaceVolumeDataSource";
/** The other one is about logging. */
const GATES: readonly string[] = [CROSS_NAMESPACE, "LoggingAlphaOptions"];
type SidecarName = (typeof SIDECARS)[number];

export interface CsiSidecarsOptions extends LoggingFlagOptions {
  readonly csiAddress: string;
  readonly kubeconfig?: string;
  readonly sidecars: readonly SidecarName[];
  readonly timeout?: number;
  readonly workerThreads?: number;
  readonly leaderElection: boolean;
  readonly leaderElectionNamespace: string;
  readonly leaderElectionLeaseDuration: number;
  readonly leaderElectionRenewDeadline: number;
  readonly leaderElectionRetryPeriod: number;
  readonly defaultFstype: string;
  readonly extraCreateMetadata: boolean;
  readonly extraModifyMetadata: boolean;
  readonly strictTopology: boolean;
  readonly immediateTopology: boolean;
  readonly preventVolumeModeConversion: boolean;
  readonly volumeNamePrefix: string;
  readonly enableCapacity: boolean;
  readonly capacityPollInterval: number;
  readonly capacityForImmediateBinding: boolean;
  readonly capacityNamespace: string;
  readonly capacityOwnerrefLevel?: number;
  readonly reconcileSync: number;
  readonly monitorInterval: number;
  readonly enableNodeWatcher: boolean;
}

const ORIGINAL: OriginalFlags = {
  component: "these sidecars",
  withoutEffect:
    names(`kube-api-qps kube-api-burst kube-api-capacity-qps kube-api-capacity-burst cloning-protection-threads
    capacity-threads resync handle-volume-inuse-error controller-publish-readonly`),
  refused: names(`node-deployment node-deployment-immediate-binding node-deployment-base-delay node-deployment-max-delay
    http-endpoint metrics-address metrics-path volume-name-uuid-length retry-interval-start retry-interval-max
    master run-controller-service`),
  fixed: {},
};

export function csiSidecarsCommand(): Command {
  const command = new Command("csi-sidecars")
    .description("run only the sidecars of a CSI driver: provisioner, attacher, resizer, health monitor")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials")
    .action(async (options: CsiSidecarsOptions) => {
      const notes = notesOnFlags(command, ORIGINAL);
      const config = csiSidecarsConfig(options);
      await runUntilSignalled(
        notes,
        (environment, signal) => runStandaloneSidecars(config, environment, signal),
        loggingFrom(options),
      );
    });
  const flag = (name: string, text: string, value: boolean) =>
    new Option(`--${name} [bool]`, text).preset("true").argParser(boolean).default(value);
  const time = (name: string, text: string, ms: number, shown: string) =>
    new Option(`--${name} <duration>`, text).argParser(milliseconds).default(ms, shown);
  const own = [
    new Option("--csi-address <socket>", "the driver's socket").default("/run/csi/socket"),
    new Option("--sidecars <names>", "which ones run").argParser(sidecarNames).default(SIDECARS, SIDECARS.join()),
    new Option("--timeout <duration>", "of calls to the driver (default: that of each sidecar)").argParser(
      milliseconds,
    ),
    new Option("--worker-threads <n>", "concurrent calls (default: that of each sidecar)").argParser(
      wholeNumber(1, 1000),
    ),
    flag("leader-election", "take the leases that the sidecars take elsewhere", false),
    new Option("--leader-election-namespace <name>", "namespace of the leases").default("kube-system"),
    time("leader-election-lease-duration", "time after which an unrenewed lease may be taken over", 15_000, "15s"),
    time("leader-election-renew-deadline", "time after which a leader that cannot renew stops", 10_000, "10s"),
    time("leader-election-retry-period", "time between attempts", 2_000, "2s"),
    new Option("--default-fstype <type>", "of volumes whose class names none").default(""),
    flag("extra-create-metadata", "tell the driver the names of claim and volume", false),
    flag("extra-modify-metadata", "tell the driver the names of claim and volume when it modifies one", false),
    flag("strict-topology", "ask only for the topology of the selected node", false),
    flag("immediate-topology", "ask for a topology without a selected node, too", true),
    flag("prevent-volume-mode-conversion", "refuse to restore a snapshot in another volume mode", true),
    new Option("--volume-name-prefix <text>", "of the names of volumes").default("pvc"),
    flag("enable-capacity", "write CSIStorageCapacity objects", false),
    time("capacity-poll-interval", "time between two measurements", 60_000, "1m"),
    flag("capacity-for-immediate-binding", "also for classes that do not wait for a consumer", false),
    new Option(
      "--capacity-ownerref-level <n>",
      "who owns them: -1 nobody, 0 the Pod of POD_NAME and NAMESPACE, 1 its controller, 2 that one's (default: 1 where these variables are set, else -1)",
    ).argParser((value: string) => (value === "-1" ? -1 : wholeNumber(0, 10)(value))),
    new Option("--capacity-namespace <name>", "of CSIStorageCapacity objects").default("kube-system"),
    time("reconcile-sync", "time between two comparisons with what the driver has published", 60_000, "1m"),
    time("monitor-interval", "time between two checks of all volumes' health", 60_000, "1m"),
    flag("enable-node-watcher", "tell of claims whose Pods are on a node that has failed", false),
    new Option("--feature-gates <gates>", `${CROSS_NAMESPACE}=true|false`),
  ];
  for (const option of [...own, ...loggingOptions(), ...originalFlags(ORIGINAL)]) command.addOption(option);
  return command;
}

/** `env`: of this process. */
export function csiSidecarsConfig(
  options: CsiSidecarsOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): StandaloneSidecarsConfig {
  const { kubeconfig, csiAddress, sidecars, timeout: timeoutMs, workerThreads: workers } = options;
  if (kubeconfig === undefined)
    throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
  const calls = { timeoutMs, workers };
  return {
    kubeconfig,
    csiAddress: csiAddress.startsWith("unix:") ? csiAddress : `unix://${csiAddress}`,
    sidecars,
    settings: {
      provisioner: {
        ...calls,
        settings: {
          defaultFsType: options.defaultFstype,
          extraCreateMetadata: options.extraCreateMetadata,
          strictTopology: options.strictTopology,
          immediateTopology: options.immediateTopology,
          preventVolumeModeConversion: options.preventVolumeModeConversion,
          volumeNamePrefix: options.volumeNamePrefix,
          crossNamespace: gatesOf(options.featureGates),
        },
      },
      ...(options.enableCapacity && {
        capacity: {
          timeoutMs,
          namespace: options.capacityNamespace,
          pollMs: options.capacityPollInterval,
          forImmediate: options.capacityForImmediateBinding,
        },
      }),
      attacher: { ...calls, compareMs: options.reconcileSync },
      resizer: { ...calls, extraMetadata: options.extraModifyMetadata },
      health: { timeoutMs, intervalMs: options.monitorInterval, watchesNodes: options.enableNodeWatcher },
    },
    ...(options.enableCapacity && ownerOf(options, env)),
    ...(options.leaderElection && {
      leaderElection: {
        namespace: options.leaderElectionNamespace,
        leaseMs: options.leaderElectionLeaseDuration,
        renewDeadlineMs: options.leaderElectionRenewDeadline,
        retryMs: options.leaderElectionRetryPeriod,
      },
    }),
  };
}

function ownerOf(
  { capacityOwnerrefLevel }: CsiSidecarsOptions,
  { NAMESPACE: namespace = "", POD_NAME: name = "" }: Readonly<Record<string, string | undefined>>,
): Pick<StandaloneSidecarsConfig, "capacityOwner"> {
  const isKnown = namespace !== "" && name !== "";
  const level = capacityOwnerrefLevel ?? (isKnown ? 1 : -1);
  if (level < 0) return {};
  if (!isKnown)
    throw new ClusterError("--capacity-ownerref-level needs the environment variables NAMESPACE and POD_NAME.");
  return { capacityOwner: { pod: { namespace, name }, level } };
}

function sidecarNames(text: string): readonly SidecarName[] {
  const given = text.split(",").map((name) => name.trim());
  const unknown = given.find((name) => !(SIDECARS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new ClusterError(`--sidecars: there is no sidecar "${unknown}"; there are ${SIDECARS.join(", ")}.`);
  return SIDECARS.filter((name) => given.includes(name));
}

/** Whether claims may name sources of other namespaces. */
function gatesOf(text = ""): boolean {
  let isOn = false;
  for (const pair of text === "" ? [] : text.split(",")) {
    const [name, value = ""] = pair.trim().split("=");
    if (!GATES.includes(name ?? "") || !/^(true|false)$/.test(value))
      throw new ClusterError(`--feature-gates: ${pair}: the gates are ${GATES.join(", ")}, each =true or =false.`);
    if (name === CROSS_NAMESPACE) isOn = value === "true";
  }
  return isOn;
}
