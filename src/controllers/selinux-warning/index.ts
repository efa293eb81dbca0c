/**
 * Warns of Pods that use a volume with different SELinux labels or policies: on one node, only one of them could. For
 * clusters whose nodes have SELinux; off unless it is selected by name, as upstream.
 *
 *     Pods, claims, volumes, CSIDrivers --► key of a Pod ──► its labels by volume ──► conflicts ──► Events, metric
 */
import { type core, csiIdentity, csiVolumeName, kinds, type storage } from "#api";
import { whenAborted } from "#base";
import { objectKey, type RecordedEvent } from "#client";
import type { Volume, VolumeClaim } from "../persistent-volume/index.ts";
import { isFinished, type Pod } from "../pods/index.ts";
import { defineController, keysFrom } from "../runtime/index.ts";
import { conflictNote, VolumeUses } from "./conflicts.ts";
import { volumeLabels } from "./labels.ts";
import { conflictMetrics } from "./metrics.ts";

const MOUNT_OPTION = "MountOption";
const RECURSIVE = "Recursive";

export const seLinuxWarningController = defineController({
  name: "selinux-warning-controller",
  reportsAs: "selinux_warning",
  gates: ["SELinuxChangePolicy"],
  offByDefault: true,
  bind({ cache, families }) {
    const pods = cache(kinds.Pod);
    const claims = cache(kinds.PersistentVolumeClaim);
    const volumes = cache(kinds.PersistentVolume);
    const drivers = cache(kinds.CSIDriver);
    const metrics = families(conflictMetrics);
    const uses = new VolumeUses();
    const byClaim = pods.index("claim of a volume", (pod) =>
      (pod.spec?.volumes ?? []).flatMap((volume) => claimKeyOf(pod, volume) ?? []),
    );
    const keysWith = (claim: string) => byClaim(claim).map(objectKey);
    const keysOf = (volume: Volume) => {
      const { namespace, name, uid } = volume.spec?.claimRef ?? {};
      return uid === undefined ? [] : keysWith(`${namespace}/${name}`);
    };

    /** What stands behind a volume of a Pod; undefined: nothing that Pods could share, or not yet. */
    const sharedOf = (pod: Pod, volume: core.Volume): Shared | undefined => {
      const claim = claims.get(claimKeyOf(pod, volume) ?? "");
      const bound = claim && boundVolume(claim, (name) => volumes.get(name));
      if (bound === undefined) return sharedSource(volume);
      const identity = csiIdentity(bound);
      if (identity === undefined) return sharedSource(bound.spec ?? {});
      return { name: csiVolumeName(identity), mountsLabels: drivers.get(identity.driver)?.spec?.seLinuxMount === true };
    };

    return {
      sources: [
        // What counts of a Pod is immutable, but for its end and what debugs it.
        keysFrom(kinds.Pod, ({ type, object, old }) => {
          const more = object.spec?.ephemeralContainers?.length !== old?.spec?.ephemeralContainers?.length;
          return type !== "updated" || more || isFinished(object) ? [objectKey(object)] : [];
        }),
        keysFrom(kinds.PersistentVolumeClaim, ({ object, old }) =>
          object.spec?.volumeName === old?.spec?.volumeName ? [] : keysWith(objectKey(object)),
        ),
        keysFrom(kinds.PersistentVolume, ({ object, old }) =>
          object.spec?.claimRef?.uid === old?.spec?.claimRef?.uid ? [] : keysOf(object),
        ),
        keysFrom(kinds.CSIDriver, ({ type, object, old }) => {
          const before = (driver?: storage.CSIDriver) => driver?.spec?.seLinuxMount === true;
          if (type === "updated" && before(object) === before(old)) return [];
          const { name } = object.metadata;
          return volumes.list().flatMap((volume) => (csiIdentity(volume)?.driver === name ? keysOf(volume) : []));
        }),
      ],
      reconcile(key) {
        const pod = pods.get(key);
        if (pod === undefined || isFinished(pod)) {
          uses.delete(key);
          return undefined;
        }
        const events: RecordedEvent[] = [];
        const labels = volumeLabels(pod);
        for (const volume of pod.spec?.volumes ?? []) {
          const of = labels.get(volume.name);
          const shared = of && sharedOf(pod, volume);
          if (of === undefined || shared === undefined) continue;
          if (of.size > 1) {
            const note = `Volume "${volume.name}" is mounted twice with different SELinux labels inside this pod`;
            events.push({ about: pod, type: "Warning", reason: "MultipleSELinuxLabels", note });
            continue;
          }
          for (const conflict of uses.set(shared.name, key, useOf(pod, [...of][0] ?? "", shared))) {
            const about = pods.get(conflict.pod);
            if (about !== undefined)
              events.push({ about, type: "Normal", reason: conflict.reason, note: conflictNote(conflict) });
          }
        }
        return events.length === 0 ? undefined : { events };
      },
      async run(signal) {
        const end = metrics.follow(() => uses.conflicts());
        await new Promise<void>((resolve) => void whenAborted(signal, resolve));
        end();
      },
    };
  },
});

interface Shared {
  readonly name: string;
  /** Whether its plugin can mount it with a label. */
  readonly mountsLabels: boolean;
}

function useOf({ spec }: Pod, label: string, { mountsLabels }: Shared) {
  const policy = spec?.securityContext?.seLinuxChangePolicy ?? MOUNT_OPTION;
  const isMounted = mountsLabels && policy !== RECURSIVE && label !== "";
  return isMounted ? { label, policy } : { label: "", policy: RECURSIVE };
}

/** Also of a generic ephemeral volume. */
function claimKeyOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: core.Volume): string | undefined {
  const claim = persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${metadata.name}-${name}`);
  return claim === undefined ? undefined : `${metadata.namespace}/${claim}`;
}

function boundVolume(claim: VolumeClaim, volumeOf: (name: string) => Volume | undefined): Volume | undefined {
  const volume = volumeOf(claim.spec?.volumeName ?? "");
  return volume?.spec?.claimRef?.uid === claim.metadata.uid ? volume : undefined;
}

/** In-tree plugins of block devices mount with labels, too. Inline CSI volumes are their Pod's alone. */
function sharedSource({ iscsi, fc }: Pick<core.Volume, "iscsi" | "fc">): Shared | undefined {
  if (iscsi !== undefined) return { name: `iscsi/${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`, mountsLabels: true };
  if (fc === undefined) return undefined;
  return { name: `fc/${(fc.targetWWNs ?? fc.wwids ?? []).join(" ")}:${fc.lun ?? ""}`, mountsLabels: true };
}
