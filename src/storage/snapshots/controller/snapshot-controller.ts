/**
 * The snapshot controller, as upstream's: binds VolumeSnapshots and VolumeSnapshotContents, and creates contents for
 * snapshots of claims. It never calls drivers: that is the sidecar's part.
 */
import { kinds } from "#api";
import { type Controller, changesOf, defineController, keysFrom, type Source } from "#controllers";
import { groupKinds } from "../objects/group-kinds.ts";
import { snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { contentNameOf, isDeleted, isReady, keyOfObject, keyOfReference } from "../objects/state.ts";
import { restoredFrom, type SnapshotCaches, snapshotCaches } from "./caches.ts";
import { type OperationMetrics, uncounted } from "./operations.ts";
import { planContent } from "./plan-content.ts";
import { planSnapshot } from "./plan-snapshot.ts";

const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content, VolumeSnapshotClass: Class } = snapshotKinds;

export interface SnapshotControllerOptions {
  /** The kinds of group snapshots are served. */
  readonly groups: boolean;
  readonly operations?: OperationMetrics | undefined;
}

const shared = { account: "snapshot-controller", reportsAs: "snapshot-controller", concurrency: 10 } as const;

export function snapshotController({ groups, operations = uncounted }: SnapshotControllerOptions): Controller {
  return defineController({
    ...shared,
    name: "snapshot-controller-snapshot",
    bind(context) {
      const caches = snapshotCaches(context, groups);
      const counted = operations.of("Snapshot");
      return {
        sources: [...snapshotSources(caches), ...(groups ? groupSources(caches) : [])],
        reconcile(key, now) {
          const snapshot = caches.snapshot(key);
          if (snapshot === undefined) {
            counted.gone(key, now);
            return undefined;
          }
          counted.seen({ ...stateOf(snapshot), key, driver: driverOf(snapshot, caches) }, now);
          return planSnapshot(snapshot, caches, now);
        },
      };
    },
  });
}

export function contentController(): Controller {
  return defineController({
    ...shared,
    name: "snapshot-controller-content",
    bind({ cache }) {
      const snapshots = cache(Snapshot);
      const contents = cache(Content);
      const lookups = { snapshot: (key: string) => snapshots.get(key) };
      return {
        sources: [changesOf(Content), keysFrom(Snapshot, ({ object }) => [contentNameOf(object)])],
        reconcile(key) {
          const content = contents.get(key);
          return content === undefined ? undefined : planContent(content, lookups);
        },
      };
    },
  });
}

function snapshotSources(caches: SnapshotCaches): readonly Source[] {
  const of = (claimKey: string) => caches.snapshotsOf(claimKey).map(keyOfObject);
  return [
    changesOf(Snapshot),
    keysFrom(Content, ({ object }) => [keyOfReference(object.spec.volumeSnapshotRef)]),
    // A snapshot may name a content that is reserved for another one.
    keysFrom(Content, ({ object }) =>
      caches
        .unready()
        .filter(({ spec }) => spec.source.volumeSnapshotContentName === object.metadata.name)
        .map(keyOfObject),
    ),
    keysFrom(kinds.PersistentVolumeClaim, ({ object }) => [...of(keyOfObject(object)), ...restoredFrom(object)]),
    keysFrom(kinds.PersistentVolume, ({ object }) => {
      const { namespace, name } = object.spec?.claimRef ?? {};
      return name === undefined ? [] : of(`${namespace}/${name}`);
    }),
    keysFrom(Class, () => caches.unready().map(keyOfObject)),
  ];
}

function groupSources({ membersOf }: SnapshotCaches): readonly Source[] {
  const members = (key: string) => membersOf(key).map(keyOfObject);
  return [
    keysFrom(groupKinds.VolumeGroupSnapshot, ({ object }) => members(keyOfObject(object))),
    keysFrom(groupKinds.VolumeGroupSnapshotContent, ({ object }) =>
      members(keyOfReference(object.spec.volumeGroupSnapshotRef)),
    ),
  ];
}

function stateOf(snapshot: VolumeSnapshot) {
  return {
    uid: snapshot.metadata.uid ?? "",
    isGiven: snapshot.spec.source.volumeSnapshotContentName !== undefined,
    isCreated: snapshot.status?.creationTime !== undefined,
    isReady: isReady(snapshot),
    isDeleted: isDeleted(snapshot),
  };
}

function driverOf(snapshot: VolumeSnapshot, caches: SnapshotCaches): string | undefined {
  const { volumeSnapshotClassName = "" } = snapshot.spec;
  return caches.content(contentNameOf(snapshot))?.spec.driver ?? caches.class(volumeSnapshotClassName)?.driver;
}
