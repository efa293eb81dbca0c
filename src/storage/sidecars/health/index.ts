/**
 * Tells users when a volume is not well: what external-health-monitor-controller does, with Events about their claims.
 *
 *     every minute: ListVolumes or ControllerGetVolume ──► condition ──► changed? ──► Event
 */
import { kinds } from "#api";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import type { CsiDriver } from "../../csi/index.ts";
import { DriverAccess } from "../calls/driver-access.ts";
import { isOfDriver, nodeOfVolume, type Volume } from "../calls/volumes.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { nodeWatcher } from "./nodes.ts";

export interface HealthOptions {
  readonly drivers: DriverControllers;
  /** `--timeout`. Default: 15 s. */
  readonly timeoutMs?: number | undefined;
  /** `--monitor-interval`. Default: 1 minute. */
  readonly intervalMs?: number | undefined;
  /** `--enable-node-watcher`. Default: false. */
  readonly watchesNodes?: boolean | undefined;
}

interface Condition {
  readonly abnormal: boolean;
  readonly message: string;
}

export const HEALTH_ACCOUNT = "csi-health-monitor";

/** Its controllers: of volumes, and of nodes if they are watched. */
export function healthMonitor({ watchesNodes = false, ...options }: HealthOptions): readonly Controller[] {
  const { driverName } = options.drivers;
  const watcher = { driverName, account: HEALTH_ACCOUNT, reportsAs: reporterOf(driverName) };
  return [volumeMonitor(options), ...(watchesNodes ? [nodeWatcher(watcher)] : [])];
}

const reporterOf = (driverName: string) => `csi-pv-monitor-controller/${driverName}`;

const volumeMonitor = ({ drivers, timeoutMs = 15_000, intervalMs = 60_000 }: HealthOptions): Controller =>
  defineController({
    name: "csi-health-monitor",
    account: HEALTH_ACCOUNT,
    reportsAs: reporterOf(drivers.driverName),
    bind({ cache, clock, log }) {
      const access = new DriverAccess(drivers, timeoutMs);
      const volumes = cache(kinds.PersistentVolume);
      const claims = cache(kinds.PersistentVolumeClaim);
      /** As last reported by the driver, by name of volume. */
      const found = new Map<string, Condition>();
      const told = new Map<string, string>();

      const check = async (signal: AbortSignal): Promise<readonly string[]> => {
        const bound = volumes
          .list()
          .filter((volume) => isOfDriver(volume, access.name) && volume.status?.phase === "Bound");
        const changed: string[] = [];
        const byNode = Map.groupBy(bound, (volume) => nodeOfVolume(volume, access.nodeTopologyKey));
        for (const [node, there] of byNode) {
          try {
            const conditions = await conditionsOf(there, access.at(node), access, signal);
            for (const [name, condition] of conditions) {
              found.set(name, condition);
              if ((told.get(name) ?? "") !== textOf(condition)) changed.push(name);
            }
          } catch (error) {
            if (signal.aborted) throw error;
            log.warn("the condition of volumes cannot be read", { node, error });
          }
        }
        return changed;
      };

      return {
        sources: [
          keysFrom(kinds.PersistentVolume, ({ type, object }) => {
            if (type === "deleted") {
              found.delete(object.metadata.name ?? "");
              told.delete(object.metadata.name ?? "");
            }
            return [];
          }),
          // For the cache alone.
          keysFrom(kinds.PersistentVolumeClaim, () => []),
        ],
        reconcile(key): Plan | undefined {
          const { name, namespace } = volumes.get(key)?.spec?.claimRef ?? {};
          const about = claims.get(`${namespace}/${name}`);
          const condition = found.get(key);
          if (about === undefined || condition === undefined || (told.get(key) ?? "") === textOf(condition))
            return undefined;
          told.set(key, textOf(condition));
          const event = condition.abnormal
            ? ({ type: "Warning", reason: "VolumeConditionAbnormal", note: condition.message } as const)
            : ({
                type: "Normal",
                reason: "VolumeConditionNormal",
                note: "The Volume returns to the healthy state",
              } as const);
          return { events: [{ about, ...event }] };
        },
        async run(signal, enqueue) {
          for (;;) {
            await clock.sleep(intervalMs, signal);
            for (const key of await check(signal)) enqueue(key);
          }
        },
      };
    },
  });

/** A healthy volume about which nothing was said has no text. */
function textOf({ abnormal, message }: Condition): string {
  return abnormal ? `! ${message}` : "";
}

async function conditionsOf(volumes: readonly Volume[], driver: CsiDriver, access: DriverAccess, signal: AbortSignal) {
  const conditions = new Map<string, Condition>();
  const { listConditions, getConditions } = await access.abilities(driver, signal);
  if (listConditions) {
    const names = new Map(volumes.map(({ metadata, spec }) => [spec?.csi?.volumeHandle ?? "", metadata.name ?? ""]));
    let startingToken = "";
    do {
      const { entries, nextToken } = await driver.Controller.ListVolumes({ startingToken }, access.limits(signal));
      for (const { volume, status } of entries) {
        const name = names.get(volume?.volumeId ?? "");
        const condition = status?.volumeCondition;
        if (name !== undefined && condition != null) conditions.set(name, condition);
      }
      startingToken = nextToken;
    } while (startingToken !== "");
  } else if (getConditions) {
    for (const { metadata, spec } of volumes) {
      const volumeId = spec?.csi?.volumeHandle ?? "";
      const { status } = await driver.Controller.ControllerGetVolume({ volumeId }, access.limits(signal));
      const condition = status?.volumeCondition;
      if (condition != null) conditions.set(metadata.name ?? "", condition);
    }
  }
  return conditions;
}
