/**
 * Expands volumes whose claims ask for more: what external-resizer does.
 *
 *     claim --► its status says so ══► ControllerExpandVolume ──► capacity of the volume ══► of the claim ══►
 *                                                                  └── or the node finishes it
 *
 * 1. The driver is called only after the claim's status names the size: another process, and the kubelet, see it.
 * 2. A size that the driver refuses for good is tried again rarely, another size at once.
 * 3. A driver that expands only what is not in use is asked again only when no Pod uses the claim.
 */
import { formatTime, instantOf, kinds } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { type Controller, changesOf, defineController, keysFrom, type Plan } from "#controllers";
import { type GrpcCode, isGrpcError } from "#grpc";
import { DriverAccess } from "../calls/driver-access.ts";
import { isFinal, messageOf } from "../calls/final-errors.ts";
import { Retries } from "../calls/retries.ts";
import { readSecret } from "../calls/secrets.ts";
import { capabilityOf, isOfDriver, nodeOfVolume, type Volume, type VolumeClaim } from "../calls/volumes.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { bytesOf, quantityText } from "../provisioner/request.ts";
import { type Resizing, wantedSize } from "./size.ts";
import { capacityWrite, failed, finished, inProgress, waitsForNode } from "./status.ts";

export interface ResizerOptions {
  readonly drivers: DriverControllers;
  /** `--timeout`. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** `--workers`. Default: 10. */
  readonly workers?: number | undefined;
}

export const RESIZER_ACCOUNT = "csi-resizer";

/** The same call would fail again. */
const INFEASIBLE: readonly GrpcCode[] = ["INVALID_ARGUMENT", "NOT_FOUND", "OUT_OF_RANGE"];
/** At least this long until an infeasible size is tried again. */
const SLOW_MS = 5 * 60_000;

export const resizer = ({ drivers, timeoutMs = 10_000, workers = 10 }: ResizerOptions): Controller =>
  defineController({
    name: "csi-resizer",
    account: RESIZER_ACCOUNT,
    reportsAs: `external-resizer/${drivers.driverName}`,
    concurrency: workers,
    bind({ cache, client, clock, random }) {
      const access = new DriverAccess(drivers, timeoutMs);
      const claims = cache(kinds.PersistentVolumeClaim);
      const volumes = cache(kinds.PersistentVolume);
      const pods = cache(kinds.Pod);
      const usersOf = pods.index("claims", ({ metadata, spec }) =>
        (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: source, ephemeral }) => {
          const claim = source?.claimName ?? (ephemeral && `${metadata.name}-${name}`);
          return claim === undefined ? [] : [`${metadata.namespace}/${claim}`];
        }),
      );
      const claimsOf = claims.index("volume", ({ spec }) => [spec?.volumeName ?? ""]);
      const retries = new Retries(clock, random);
      /** Claims whose last call failed finally, and of what size it was. */
      const finalErrors = new Map<string, string>();
      /** Claims that the driver does not expand while they are in use. */
      const offlineOnly = new Set<string>();

      const isInUse = (key: string) =>
        usersOf(key).some(({ status, spec }) => {
          const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
          return !isOver && (spec?.nodeName ?? "") !== "";
        });

      const expand = async (
        claim: VolumeClaim,
        volume: Volume,
        size: string,
        now: string,
        signal: AbortSignal,
      ): Promise<Plan> => {
        const driver = access.at(nodeOfVolume(volume, access.nodeTopologyKey));
        const abilities = await access.abilities(driver, signal);
        const secrets = await readSecret(client, volume.spec?.csi?.controllerExpandSecretRef, signal);
        const requiredBytes = bytesOf(size).toString();
        // A driver that expands on nodes only has nothing to do here.
        const { capacityBytes, nodeExpansionRequired } = abilities.expand
          ? await driver.Controller.ControllerExpandVolume(
              {
                volumeId: volume.spec?.csi?.volumeHandle ?? "",
                capacityRange: { requiredBytes },
                volumeCapability: capabilityOf(volume, abilities.singleNodeMultiWriter),
                ...(secrets && { secrets }),
              },
              access.limits(signal),
            )
          : { capacityBytes: requiredBytes, nodeExpansionRequired: true };
        if (BigInt(capacityBytes) < BigInt(requiredBytes))
          throw new Error(`the driver expanded to ${capacityBytes} bytes, ${requiredBytes} were requested`);
        const made = quantityText(BigInt(capacityBytes));
        const oldSize = nodeExpansionRequired ? claim.status?.capacity?.storage : undefined;
        const capacity = capacityWrite(volume, made, oldSize);
        return nodeExpansionRequired
          ? {
              steps: [[capacity], [waitsForNode(claim, now)]],
              events: [event(claim, "FileSystemResizeRequired", "Require file system resize of volume on node")],
            }
          : {
              steps: [[capacity], [finished(claim, made)]],
              events: [event(claim, "VolumeResizeSuccessful", "Resize volume succeeded")],
            };
      };

      const start = (
        key: string,
        claim: VolumeClaim,
        volume: Volume,
        { size, isNew }: Resizing,
        now: string,
      ): Plan | undefined => {
        if (offlineOnly.has(key) && isInUse(key)) {
          const note = `Unable to expand ${key} because CSI driver ${access.name} only supports offline expansion and volume is currently in-use`;
          return { events: [warning(claim, note)], againAfterMs: retries.failed(key) };
        }
        if (!isNew) return undefined;
        const note = `External resizer is resizing volume ${volume.metadata.name}`;
        return { steps: [[inProgress(claim, size, now)]], events: [event(claim, "Resizing", note)], againAfterMs: 0 };
      };

      return {
        sources: [
          changesOf(kinds.PersistentVolumeClaim, ({ object }) => object.status?.phase === "Bound"),
          keysFrom(kinds.PersistentVolume, ({ type, object }) =>
            type === "deleted" || !isOfDriver(object, access.name)
              ? []
              : claimsOf(object.metadata.name ?? "").map(objectKey),
          ),
          // Offline expansion waits for the last Pod.
          keysFrom(kinds.Pod, ({ object }) => {
            const freed = [...offlineOnly].filter(
              (key) => key.startsWith(`${object.metadata.namespace}/`) && !isInUse(key),
            );
            for (const key of freed) retries.forget(key);
            return freed;
          }),
        ],
        async reconcile(key, nowMs, signal): Promise<Plan | undefined> {
          const claim = claims.get(key);
          const volume = volumes.get(claim?.spec?.volumeName ?? "");
          const wanted =
            claim === undefined || volume === undefined || !isOfDriver(volume, access.name)
              ? undefined
              : wantedSize({ claim, volume, failedFinally: finalErrors.has(key), expandsByController: true });
          if (claim === undefined || volume === undefined || wanted === undefined) {
            retries.forget(key);
            finalErrors.delete(key);
            offlineOnly.delete(key);
            return undefined;
          }
          if (finalErrors.get(key) !== undefined && finalErrors.get(key) !== wanted.size) retries.forget(key);
          const waitMs = retries.waitMs(key);
          if (waitMs > 0) return { againAfterMs: waitMs };
          const now = formatTime(instantOf(nowMs));
          const first = start(key, claim, volume, wanted, now);
          if (first !== undefined) return first;
          try {
            offlineOnly.delete(key);
            const plan = await expand(claim, volume, wanted.size, now, signal);
            finalErrors.delete(key);
            retries.forget(key);
            return plan;
          } catch (error) {
            if (signal.aborted) throw error;
            return planAfterFailure(key, { claim, volume, size: wanted.size, now }, error);
          }
        },
        run: (signal, enqueue) =>
          access.follow(signal, () => {
            for (const key of retries.wake()) enqueue(key);
          }),
      };

      function planAfterFailure(
        key: string,
        { claim, volume, size, now }: { claim: VolumeClaim; volume: Volume; size: string; now: string },
        error: unknown,
      ): Plan {
        const why = messageOf(error);
        const note = `resize volume "${volume.metadata.name}" by resizer "${access.name}" failed: ${why}`;
        if (isGrpcError(error, "FAILED_PRECONDITION")) offlineOnly.add(key);
        if (!isFinal(error)) {
          finalErrors.delete(key);
          return { events: [warning(claim, note)], againAfterMs: retries.failed(key) };
        }
        finalErrors.set(key, size);
        const isInfeasible = isGrpcError(error, ...INFEASIBLE);
        const delayMs = retries.failed(key);
        return {
          events: [warning(claim, note)],
          steps: [[failed(claim, why, isInfeasible, now)]],
          againAfterMs: isInfeasible ? retries.delay(key, Math.max(delayMs, SLOW_MS)) : delayMs,
        };
      }
    },
  });

function event(about: VolumeClaim, reason: string, note: string): RecordedEvent {
  return { about, type: "Normal", reason, note };
}

function warning(about: VolumeClaim, note: string): RecordedEvent {
  return { about, type: "Warning", reason: "VolumeResizeFailed", note };
}
