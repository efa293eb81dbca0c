/**
 * Attaches and detaches volumes: what external-attacher does.
 *
 *     attachment --► finalizers on it and its volume ══► ControllerPublishVolume ──► status.attached ══►
 *     deleted    --► ControllerUnpublishVolume ──► its finalizer goes ══►
 *
 * 1. The driver is called only after the caches show the finalizers: neither attachment nor volume can vanish while the
 *    volume may be attached.
 * 2. A driver without ControllerPublishVolume is not called: its attachments are attached at once.
 * 3. Where a driver lists what is published, an attachment that does not agree is attached or detached again.
 */
import { formatTime, instantOf, kinds } from "#api";
import { type Controller, changesOf, defineController, keysFrom, type Plan } from "#controllers";
import { isGrpcError } from "#grpc";
import type { DriverAccess } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { Retries } from "../calls/retries.ts";
import { readSecret } from "../calls/secrets.ts";
import { capabilityOf, hasFinalizer, nodeOfVolume } from "../calls/volumes.ts";
import {
  attachedWrite,
  attacherFinalizer,
  detachedWrites,
  failureWrite,
  nodeIdOf,
  protectionWrites,
  sourceOf,
  type VolumeAttachment,
} from "./plan.ts";
import { wronglyPublished } from "./published.ts";

export interface AttachmentOptions {
  readonly access: DriverAccess;
  readonly account: string;
  readonly concurrency: number;
  /** How often what is published is compared with what is attached. */
  readonly compareMs: number;
}

/** RESOURCE_EXHAUSTED: the scheduler learns of a full node by it. */
const CODE_OF_FULL_NODE = 8;

export const attachments = ({ access, account, concurrency, compareMs }: AttachmentOptions): Controller =>
  defineController({
    name: "csi-attacher",
    account,
    concurrency,
    bind({ cache, client, clock, random, log }) {
      const all = cache(kinds.VolumeAttachment);
      const volumes = cache(kinds.PersistentVolume);
      const csiNodes = cache(kinds.CSINode);
      const finalizer = attacherFinalizer(access.name);
      const attachmentsOf = all.index("volume", ({ spec }) => [spec.source.persistentVolumeName ?? ""]);
      const retries = new Retries(clock, random);
      /** Attachments that the driver contradicts. */
      const doubtful = new Set<string>();
      const isOurs = ({ spec }: VolumeAttachment) => spec.attacher === access.name;

      const attach = async (object: VolumeAttachment, signal: AbortSignal): Promise<Plan> => {
        const source = sourceOf(object, (name) => volumes.get(name));
        const { volume, spec } = source;
        if (volume?.metadata.deletionTimestamp !== undefined)
          throw new Error(`PersistentVolume "${volume.metadata.name}" is marked for deletion`);
        const driver = access.at(volume && nodeOfVolume(volume, access.nodeTopologyKey));
        const abilities = await access.abilities(driver, signal);
        if (!abilities.publish) return { steps: [[attachedWrite(object, {})]] };
        const nodeId = nodeIdOf(access.name, object.spec.nodeName, csiNodes.get(object.spec.nodeName));
        const writes = protectionWrites(object, source, finalizer, nodeId);
        if (writes.length > 0) return { steps: writes.map((write) => [write]), againAfterMs: 0 };
        const { csi } = spec;
        const secrets = await readSecret(client, csi?.controllerPublishSecretRef, signal);
        const { publishContext } = await driver.Controller.ControllerPublishVolume(
          {
            volumeId: csi?.volumeHandle ?? "",
            nodeId,
            volumeCapability: capabilityOf({ metadata: {}, spec }, abilities.singleNodeMultiWriter),
            readonly: abilities.publishReadOnly && csi?.readOnly === true,
            volumeContext: csi?.volumeAttributes ?? {},
            ...(secrets && { secrets }),
          },
          access.limits(signal),
        );
        return { steps: [[attachedWrite(object, publishContext)]] };
      };

      const detach = async (object: VolumeAttachment, signal: AbortSignal): Promise<Plan> => {
        const { spec, volume } = sourceOf(object, (name) => volumes.get(name));
        const { nodeName } = object.spec;
        const nodeId = nodeIdOf(access.name, nodeName, csiNodes.get(nodeName), object);
        const secrets = await readSecret(client, spec.csi?.controllerPublishSecretRef, signal);
        const driver = access.at(volume && nodeOfVolume(volume, access.nodeTopologyKey));
        await driver.Controller.ControllerUnpublishVolume(
          { volumeId: spec.csi?.volumeHandle ?? "", nodeId, ...(secrets && { secrets }) },
          access.limits(signal),
        );
        return { steps: detachedWrites(object, finalizer) };
      };

      return {
        sources: [
          changesOf(kinds.VolumeAttachment, ({ object }) => isOurs(object)),
          // An attachment may be seen before its volume.
          keysFrom(kinds.PersistentVolume, ({ type, object }) =>
            type !== "added" ? [] : namesOf(attachmentsOf(object.metadata.name ?? "").filter(isOurs)),
          ),
          keysFrom(kinds.CSINode, ({ type, object }) =>
            type === "deleted" ? [] : wakeNode(object.metadata.name ?? ""),
          ),
        ],
        async reconcile(key, now, signal): Promise<Plan | undefined> {
          const object = all.get(key);
          if (object === undefined || !isOurs(object)) {
            retries.forget(key);
            doubtful.delete(key);
            return undefined;
          }
          const isLeaving = object.metadata.deletionTimestamp !== undefined;
          if (isLeaving ? !hasFinalizer(object, finalizer) : object.status?.attached === true && !doubtful.has(key))
            return undefined;
          const waitMs = retries.waitMs(key);
          if (waitMs > 0) return { againAfterMs: waitMs };
          try {
            const plan = await (isLeaving ? detach(object, signal) : attach(object, signal));
            if (plan.againAfterMs === undefined) {
              retries.forget(key);
              doubtful.delete(key);
            }
            return plan;
          } catch (error) {
            if (signal.aborted) throw error;
            const failure = {
              message: messageOf(error),
              time: formatTime(instantOf(now)),
              errorCode: isGrpcError(error, "RESOURCE_EXHAUSTED") ? CODE_OF_FULL_NODE : undefined,
            };
            const againAfterMs = retries.failed(key);
            return {
              steps: [[failureWrite(object, isLeaving ? "detachError" : "attachError", failure)]],
              againAfterMs,
            };
          }
        },
        async run(signal, enqueue) {
          const compare = async () => {
            for (;;) {
              await clock.sleep(compareMs, signal);
              try {
                const wrong = await wronglyPublished(all.list().filter(isOurs), {
                  access,
                  volumeOf: (name) => volumes.get(name),
                  nodeIdOf: (object) =>
                    nodeIdOf(access.name, object.spec.nodeName, csiNodes.get(object.spec.nodeName), object),
                  signal,
                });
                for (const key of wrong) {
                  log.warn("the driver contradicts an attachment", { attachment: key });
                  doubtful.add(key);
                  enqueue(key);
                }
              } catch (error) {
                if (signal.aborted) throw error;
                log.warn("published volumes cannot be listed", { error });
              }
            }
          };
          const follow = access.follow(signal, () => {
            for (const key of retries.wake()) enqueue(key);
          });
          await Promise.all([compare(), follow]);
        },
      };

      /** The driver has registered on the node: what has failed there is due. */
      function wakeNode(node: string): readonly string[] {
        const waiting = all.list().filter((object) => isOurs(object) && object.spec.nodeName === node);
        const pending = waiting.filter(({ status }) => status?.attached !== true && status?.attachError !== undefined);
        const keys = namesOf(pending);
        for (const key of keys) retries.forget(key);
        return keys;
      }
    },
  });

function namesOf(objects: readonly VolumeAttachment[]): readonly string[] {
  return objects.map(({ metadata }) => metadata.name ?? "");
}
