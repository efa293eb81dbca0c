/**
 * Gives volumes the attributes of the VolumeAttributesClass that their claim names: the other part of external-resizer.
 *
 *     claim --► status: in progress ══► ControllerModifyVolume ──► class of the volume ══► of the claim's status ══►
 *
 * 1. The driver is called only after the claim's status names the class.
 * 2. A class that the driver refuses as invalid is tried again rarely, another class at once.
 */
import { formatTime, instantOf, kinds } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { type Controller, changesOf, defineController, keysFrom, type Plan } from "#controllers";
import { isGrpcError } from "#grpc";
import { DriverAccess } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { Retries } from "../calls/retries.ts";
import { isOfDriver, nodeOfVolume, type VolumeClaim } from "../calls/volumes.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { namesOf } from "../provisioner/request.ts";
import { completed, failed, forgotten, inProgress, pending, wantedClass } from "./plan.ts";

export interface ModifierOptions {
  readonly drivers: DriverControllers;
  readonly account: string;
  readonly timeoutMs?: number | undefined;
  readonly workers?: number | undefined;
  /** `--extra-modify-metadata`: the driver learns the names of claim and volume. */
  readonly extraMetadata?: boolean | undefined;
}

const SLOW_MS = 5 * 60_000;

export const volumeModifier = (options: ModifierOptions): Controller => {
  const { drivers, account, timeoutMs = 10_000, workers = 10, extraMetadata = false } = options;
  return defineController({
    name: "csi-volume-modifier",
    account,
    reportsAs: `external-resizer/${drivers.driverName}`,
    concurrency: workers,
    bind({ cache, clock, random }) {
      const access = new DriverAccess(drivers, timeoutMs);
      const claims = cache(kinds.PersistentVolumeClaim);
      const volumes = cache(kinds.PersistentVolume);
      const classes = cache(kinds.VolumeAttributesClass);
      const claimsOf = claims.index("volume", ({ spec }) => [spec?.volumeName ?? ""]);
      const withClass = claims.index("attributes class", ({ spec }) => [spec?.volumeAttributesClassName ?? ""]);
      const retries = new Retries(clock, random);
      /** The class of the last attempt. */
      const tried = new Map<string, string>();

      return {
        sources: [
          changesOf(kinds.PersistentVolumeClaim),
          keysFrom(kinds.PersistentVolume, ({ type, object }) =>
            type === "deleted" || !isOfDriver(object, access.name)
              ? []
              : claimsOf(object.metadata.name ?? "").map(objectKey),
          ),
          keysFrom(kinds.VolumeAttributesClass, ({ object }) => withClass(object.metadata.name ?? "").map(objectKey)),
        ],
        async reconcile(key, nowMs, signal): Promise<Plan | undefined> {
          const claim = claims.get(key);
          const volume = volumes.get(claim?.spec?.volumeName ?? "");
          const isOurs = volume !== undefined && isOfDriver(volume, access.name);
          const wanted = claim === undefined || !isOurs ? { type: "none" as const } : wantedClass(claim, volume);
          if (claim === undefined || volume === undefined || wanted.type === "none") {
            retries.forget(key);
            tried.delete(key);
            return undefined;
          }
          if (wanted.type === "forget") return { steps: [[forgotten(claim)]] };
          const { className, isRepeated } = wanted;
          if (tried.get(key) !== className) retries.forget(key);
          const waitMs = retries.waitMs(key);
          if (waitMs > 0) return { againAfterMs: waitMs };
          tried.set(key, className);
          const attributes = classes.get(className);
          const state = claim.status?.modifyVolumeStatus?.status;
          // It is tried when the class comes.
          if (attributes === undefined)
            return isRepeated && state === "Pending" ? undefined : { steps: [[pending(claim, className)]] };
          const now = formatTime(instantOf(nowMs));
          try {
            if (attributes.driverName !== access.name)
              throw new Error(
                `VolumeAttributesClass ${className} is for driver ${attributes.driverName}, not ${access.name}`,
              );
            const driver = access.at(nodeOfVolume(volume, access.nodeTopologyKey));
            if (!(await access.abilities(driver, signal)).modify)
              return { events: [warning(claim, `CSI driver ${access.name} does not modify volumes`)] };
            if (!isRepeated || state === "Pending") {
              const note = `external resizer is modifying volume ${claim.metadata.name} with vac ${className}`;
              return {
                steps: [[inProgress(claim, className, now)]],
                events: [normal(claim, "VolumeModify", note)],
                againAfterMs: 0,
              };
            }
            await driver.Controller.ControllerModifyVolume(
              {
                volumeId: volume.spec?.csi?.volumeHandle ?? "",
                mutableParameters: {
                  ...attributes.parameters,
                  ...(extraMetadata && namesOf(claim, volume.metadata.name ?? "")),
                },
              },
              access.limits(signal),
            );
            retries.forget(key);
            const note = `external resizer modified volume ${claim.metadata.name} with vac ${className} successfully`;
            return {
              steps: completed(claim, volume, className),
              events: [normal(claim, "VolumeModifySuccessful", note)],
            };
          } catch (error) {
            if (signal.aborted) throw error;
            const isInfeasible = isGrpcError(error, "INVALID_ARGUMENT");
            const delayMs = retries.failed(key);
            return {
              events: [warning(claim, messageOf(error))],
              steps: [[failed(claim, className, messageOf(error), isInfeasible, now)]],
              againAfterMs: isInfeasible ? retries.delay(key, Math.max(delayMs, SLOW_MS)) : delayMs,
            };
          }
        },
        run: (signal, enqueue) =>
          access.follow(signal, () => {
            for (const key of retries.wake()) enqueue(key);
          }),
      };
    },
  });
};

function normal(about: VolumeClaim, reason: string, note: string): RecordedEvent {
  return { about, type: "Normal", reason, note };
}

function warning(about: VolumeClaim, note: string): RecordedEvent {
  return { about, type: "Warning", reason: "VolumeModifyFailed", note };
}
