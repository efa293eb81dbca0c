/**
 * Makes the volumes of claims whose class names the driver.
 *
 *     claims --► is it for us? ──► provision ──► CreateVolume ══► PersistentVolume, which names the claim
 *                                     └── failed: an Event, and again later; or ══► the claim gives up its node
 *
 * 1. The key of a claim has its uid: what was begun for a deleted claim is finished, not mixed up with a new claim of
 *    the same name.
 * 2. While a call may still run at the driver, it is repeated, also after the claim is gone: its volume is then made,
 *    released, and deleted in the usual way.
 */
import { type core, kinds, migratedDriver, storageClassOf } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import type { DriverAccess } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { Retries } from "../calls/retries.ts";
import type { VolumeClaim } from "../calls/volumes.ts";
import { type Attempted, CLONING_PROTECTION, provision, SELECTED_NODE } from "./provision.ts";
import { type ProvisionerSettings, volumeNameOf } from "./request.ts";
import { ProvisioningError } from "./state.ts";

const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
const BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner";
const MIGRATED_TO = "pv.kubernetes.io/migrated-to";

export interface ClaimOptions {
  readonly access: DriverAccess;
  readonly settings: ProvisionerSettings;
  readonly account: string;
  readonly concurrency: number;
}

export const claimProvisioner = ({ access, settings, account, concurrency }: ClaimOptions): Controller =>
  defineController({
    name: "csi-provisioner",
    account,
    reportsAs: access.name,
    concurrency,
    bind({ cache, client, clock, random }) {
      const claims = cache(kinds.PersistentVolumeClaim);
      const volumes = cache(kinds.PersistentVolume);
      const classes = cache(kinds.StorageClass);
      const nodes = cache(kinds.Node);
      const csiNodes = cache(kinds.CSINode);
      const attributesClasses = cache(kinds.VolumeAttributesClass);
      const retries = new Retries(clock, random);
      const identity = `${clock.now()}-${random.integer(10_000)}-${access.name}`;
      /** Claims with a call that may still run. */
      const inBackground = new Map<string, VolumeClaim>();
      const announced = new Set<string>();
      /** Nodes that had no room for a claim which any node may have. */
      const refused = new Map<string, readonly string[]>();

      const forget = (key: string) => {
        retries.forget(key);
        inBackground.delete(key);
        announced.delete(key);
        refused.delete(key);
      };
      const current = (key: string): VolumeClaim | undefined => {
        const at = key.lastIndexOf("/");
        const claim = claims.get(key.slice(0, at));
        return claim?.metadata.uid === key.slice(at + 1) ? claim : undefined;
      };
      const isWanted = (claim: VolumeClaim) => {
        const { annotations = {}, deletionTimestamp } = claim.metadata;
        if ((claim.spec?.volumeName ?? "") !== "" || deletionTimestamp !== undefined) return false;
        const provisioner = annotations[STORAGE_PROVISIONER] ?? annotations[BETA_STORAGE_PROVISIONER];
        if (provisioner !== access.name && annotations[MIGRATED_TO] !== access.name) return false;
        const delays = classes.get(storageClassOf(claim))?.volumeBindingMode === "WaitForFirstConsumer";
        return !delays || (annotations[SELECTED_NODE] ?? "") !== "";
      };

      return {
        sources: [
          keysFrom(kinds.PersistentVolumeClaim, ({ type, object }) =>
            (type === "deleted" ? inBackground.has(keyOf(object)) : isWanted(object)) ? [keyOf(object)] : [],
          ),
          keysFrom(kinds.StorageClass, ({ object }) =>
            claims
              .list()
              .flatMap((claim) =>
                storageClassOf(claim) === object.metadata.name && isWanted(claim) ? [keyOf(claim)] : [],
              ),
          ),
        ],
        async reconcile(key, _now, signal): Promise<Plan | undefined> {
          const live = current(key);
          const claim = live !== undefined && isWanted(live) ? live : inBackground.get(key);
          if (claim === undefined || volumes.get(volumeNameOf(claim, settings)) !== undefined) {
            forget(key);
            return undefined;
          }
          const waitMs = retries.waitMs(key);
          if (waitMs > 0) return { againAfterMs: waitMs };
          const storageClass = classes.get(storageClassOf(claim));
          // A class that is missing is reported in the tree; this runs again when it comes.
          if (storageClass === undefined) return undefined;
          if (storageClass.provisioner !== access.name) {
            const isMigrated = migratedDriver(storageClass.provisioner) === access.name;
            return isMigrated ? { events: [failed(claim, untranslated(storageClass.provisioner))] } : undefined;
          }
          if (!announced.has(key)) {
            announced.add(key);
            return { events: [provisioning(claim)], againAfterMs: 0 };
          }
          const avoid = refused.get(key) ?? [];
          try {
            const attempted = await provision(
              {
                claim,
                storageClass,
                access,
                client,
                settings,
                identity,
                nodes: nodes.list(),
                csiNodeOf: csiNodes.get.bind(csiNodes),
                attributesClassOf: attributesClasses.get.bind(attributesClasses),
                avoid,
              },
              signal,
            );
            return planAfter(attempted, claim);
          } catch (error) {
            if (signal.aborted) throw error;
            return planAfterFailure(key, claim, storageClass.metadata.name ?? "", error);
          }
        },
        run: (signal, enqueue) =>
          access.follow(signal, () => {
            for (const key of retries.wake()) enqueue(key);
          }),
      };

      function planAfterFailure(key: string, claim: VolumeClaim, className: string, error: unknown): Plan {
        const state = error instanceof ProvisioningError ? error.state : "no change";
        const event = failed(claim, `failed to provision volume with StorageClass "${className}": ${messageOf(error)}`);
        const node = claim.metadata.annotations?.[SELECTED_NODE];
        if (state === "in background") inBackground.set(key, claim);
        if (state === "finished" || state === "reschedule") inBackground.delete(key);
        const againAfterMs = retries.failed(key);
        if (state !== "reschedule" || node === undefined) return { events: [event], againAfterMs };
        refused.set(key, [...(refused.get(key) ?? []), node]);
        // The scheduler places the Pod again; a claim without a Pod tries another node.
        return { events: [event], steps: [[annotate(claim, null)]], againAfterMs };
      }
    },
  });

export function planAfter(attempted: Attempted, claim: VolumeClaim): Plan {
  switch (attempted.type) {
    case "populator":
      return { events: [{ ...provisioning(claim), note: "Assuming an external populator will provision the volume" }] };
    case "select":
      return { steps: [[annotate(claim, attempted.node)]] };
    case "protect":
      return {
        steps: [
          [
            {
              verb: "patch",
              resource: kinds.PersistentVolumeClaim,
              object: attempted.source,
              patch: { metadata: { finalizers: [CLONING_PROTECTION] } },
            },
          ],
        ],
        againAfterMs: 0,
      };
    case "made": {
      const { volume } = attempted;
      const note = `Successfully provisioned volume ${volume.metadata.name}`;
      return {
        steps: [[{ verb: "create", resource: kinds.PersistentVolume, object: volume }]],
        eventFor: (_, { ok }) =>
          ok ? { about: claim, type: "Normal", reason: "ProvisioningSucceeded", note } : undefined,
      };
    }
  }
}

function annotate(object: VolumeClaim, node: string | null) {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion: resourceVersion ?? null, annotations: { [SELECTED_NODE]: node } } };
  return { verb: "patch", resource: kinds.PersistentVolumeClaim, type: "merge", object, patch } as const;
}

function keyOf(claim: core.PersistentVolumeClaim): string {
  return `${objectKey(claim)}/${claim.metadata.uid}`;
}

function provisioning(about: VolumeClaim): RecordedEvent {
  const note = `External provisioner is provisioning volume for claim "${objectKey(about)}"`;
  return { about, type: "Normal", reason: "Provisioning", note };
}

function failed(about: VolumeClaim, note: string): RecordedEvent {
  return { about, type: "Warning", reason: "ProvisioningFailed", note };
}

function untranslated(provisioner: string): string {
  return `StorageClass of the in-tree provisioner ${provisioner} is not translated: use a class of the CSI driver`;
}
