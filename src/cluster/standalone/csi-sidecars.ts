/**
 * The sidecars of any CSI driver in a process of their own: external-provisioner, -attacher, -resizer and
 * -health-monitor-controller in one.
 *
 *     --csi-address ──► the driver's name ──► sidecars, each while it holds its lease, or while nobody else does
 */
import type { Clock, Logger } from "#base";
import { controllerMetrics } from "#controllers";
import type { CsiDriver, SidecarName, SidecarSettings } from "#storage";
import { type Component, type ComponentConfig, type ElectionConfig, runComponent, type Work } from "./component.ts";

const NAME = "csi-sidecars";
const RETRY_MS = 1_000;

export interface StandaloneSidecarsConfig extends Omit<ComponentConfig, "name" | "election"> {
  /** unix:///… */
  readonly csiAddress: string;
  readonly sidecars: readonly SidecarName[];
  readonly settings: SidecarSettings;
  /** Of CSIStorageCapacity objects: the Pod that this process runs in, and how many owners above it. */
  readonly capacityOwner?: {
    readonly pod: { readonly namespace: string; readonly name: string };
    readonly level: number;
  };
  /** Absent: no leases are taken; sidecars stand by while other holders renew them. */
  readonly leaderElection?: Omit<ElectionConfig, "lease"> | undefined;
}

/** Runs until the signal aborts. */
export async function runStandaloneSidecars(
  config: StandaloneSidecarsConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { capacityOwner, oneForAll, openCsiDriver, runSidecars, sidecarsOf } = await import("#storage");
  const { csiAddress, sidecars: selected, leaderElection, capacityOwner: owner, ...others } = config;
  const { settings: given, ...component } = others;
  const driver = openCsiDriver(csiAddress, { clock });
  const prepare =
    ({ client, random, metrics }: Component): Work =>
    async (running) => {
      const name = await driverName(driver, { clock, log }, running);
      if (name === undefined) return;
      log.info("working for a CSI driver", { driver: name, sidecars: selected.join() });
      const ownedBy = owner && (await capacityOwner(client, owner.pod, owner.level, running));
      const { capacity } = given;
      const settings = capacity === undefined ? given : { ...given, capacity: { ...capacity, ownedBy } };
      const sidecars = sidecarsOf(oneForAll(name, driver), settings).filter((each) => selected.includes(each.name));
      const clients = { client, clientOf: () => client };
      const options = { sidecars, ...clients, elects: leaderElection, clock, random, log };
      await runSidecars({ ...options, metrics: controllerMetrics(metrics) }, running);
    };
  try {
    await runComponent({ ...component, name: NAME }, { clock, log }, prepare, signal);
  } finally {
    driver.close();
  }
}

/** Waits until the driver answers and is ready. Undefined: the signal has aborted. */
async function driverName(
  driver: CsiDriver,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    try {
      const { ready } = await driver.Identity.Probe({}, { timeoutMs: RETRY_MS, signal });
      const { name } = await driver.Identity.GetPluginInfo({}, { timeoutMs: RETRY_MS, signal });
      if (ready?.value !== false && name !== "") return name;
      log.warn("the CSI driver is not ready", { address: driver.endpoint });
    } catch (error) {
      if (signal.aborted) return undefined;
      log.warn("the CSI driver does not answer yet", { address: driver.endpoint, error });
    }
    await clock.sleep(RETRY_MS, signal).catch(() => {});
  }
  return undefined;
}
