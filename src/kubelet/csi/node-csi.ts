/** A node's side of CSI, put together: drivers register, and Pods get their volumes. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type core, defaultFeatures, type Features } from "#api";
import { type Clock, isAbort, type Logger, type MetricsRegistry, type Random } from "#base";
import type { Client, EventRecorder } from "#client";
import { type PluginHandler, runPluginRegistry } from "../plugins/index.ts";
import { type CsiVolumes, PodTokens } from "../volumes/index.ts";
import { AttachedVolumes } from "./attached-volumes.ts";
import { driverMetrics } from "./csi-metrics.ts";
import { CsiNodeObject } from "./csi-node.ts";
import { csiVolumes } from "./csi-volumes.ts";
import { CSI_PLUGIN, CsiDrivers } from "./drivers.ts";
import { DriverLimits } from "./limits.ts";
import { volumesInUse } from "./on-disk.ts";
import { registryDirectory } from "./paths.ts";
import { type Selinux, selinuxHere } from "./selinux.ts";

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

export interface NodeCsiOptions {
  readonly root: string;
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry | undefined;
  /** Default: Events of volumes are not recorded. */
  readonly recorder?: Pick<EventRecorder, "record"> | undefined;
  /** Default: those of v1.36. */
  readonly features?: Features | undefined;
  /** Handlers of plugins that are no CSI drivers, by the type that they name. */
  readonly plugins?: ReadonlyMap<string, PluginHandler> | undefined;
  /** Default: that of the machine. */
  readonly selinux?: Selinux | undefined;
  /** `inUse` has changed: the Node's status is to be written soon. */
  readonly onChange: () => void;
}

export interface NodeCsi {
  readonly volumes: CsiVolumes;
  /** Attached volumes that are used, for the Node's status. */
  inUse(): readonly string[];
  /** The Node as it was last read or written. */
  onNode(node: core.Node): void;
  /** Takes registrations until the signal aborts. The Node exists. */
  run(signal: AbortSignal): Promise<void>;
}

export async function nodeCsi(options: NodeCsiOptions): Promise<NodeCsi> {
  const { root, nodeName, client, clock, random, log, features = defaultFeatures } = options;
  const dir = registryDirectory(root);
  // Manifests of drivers mount these folders, and expect that the kubelet has made them.
  for (const made of [dir, ...["plugins", "pods"].map((name) => join(root, name))])
    await mkdir(made, { recursive: true, mode: 0o750 });
  const attached = new AttachedVolumes({ ...options, onExhausted: (driver) => limits?.exhausted(driver) });
  attached.recover(await volumesInUse(root));
  const object = new CsiNodeObject(client, nodeName);
  const drivers = new CsiDrivers(object, clock, options.metrics && driverMetrics(options.metrics, clock));
  const limits = features.enabled("MutableCSINodeAllocatableCount")
    ? new DriverLimits({ client, clock, random, log, drivers })
    : undefined;
  const tokens = new PodTokens(options);
  return {
    volumes: csiVolumes({
      root,
      nodeName,
      client,
      drivers,
      attached,
      tokens,
      clock,
      recorder: options.recorder,
      isHealthWanted: features.enabled("CSIVolumeHealth"),
      selinux: options.selinux ?? (await selinuxHere()),
      isLabelledForAll: features.enabled("SELinuxMount"),
    }),
    inUse: () => attached.inUse(),
    onNode: ({ status }) => attached.reported(status?.volumesInUse),
    async run(signal) {
      try {
        await exists(object, options, signal);
        const handlers = new Map<string, PluginHandler>([...(options.plugins ?? []), [CSI_PLUGIN, drivers]]);
        await Promise.all([runPluginRegistry({ dir, handlers, clock, random, log }, signal), limits?.run(signal)]);
      } finally {
        drivers.close();
      }
    },
  };
}

/** Until it does: a node without a CSINode gets no volumes of CSI drivers. */
async function exists(object: CsiNodeObject, { clock, log }: NodeCsiOptions, signal: AbortSignal): Promise<void> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)) {
    try {
      return await object.ensure(signal);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      log.warn("CSINode could not be created yet", { retryMs, error });
    }
    await clock.sleep(retryMs, signal);
  }
}
