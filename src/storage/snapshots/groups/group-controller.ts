/** The controller of group snapshots: part of the snapshot controller. It never calls drivers. */
import { type core, kinds, LabelSelectorError } from "#api";
import {
  type Controller,
  type ControllerContext,
  changesOf,
  defineController,
  keysFrom,
  type Plan,
} from "#controllers";
import { restoredFrom } from "../controller/caches.ts";
import { type OperationMetrics, uncounted } from "../controller/operations.ts";
import { groupKinds, type VolumeGroupSnapshot, type VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import { snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { groupOwnerOf, has, isDeleted, isReady, keyOfObject, keyOfReference } from "../objects/state.ts";
import { changedFinalizers, oneStep, warning } from "../objects/writes.ts";
import type { GroupLookups } from "./lookups.ts";
import { planGroup } from "./plan-group.ts";
import { selected } from "./volumes.ts";

const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotContent: Content, VolumeGroupSnapshotClass: Class } = groupKinds;
const shared = { account: "snapshot-controller", reportsAs: "snapshot-controller", concurrency: 10 } as const;

export function groupController({
  operations = uncounted,
}: {
  readonly operations?: OperationMetrics | undefined;
} = {}): Controller {
  return defineController({
    ...shared,
    name: "snapshot-controller-group-snapshot",
    bind(context) {
      const groups = context.cache(Group);
      const contents = context.cache(Content);
      const { unready, ...lookups } = groupCaches(context);
      const counted = operations.of("GroupSnapshot");
      const contentsOfHandle = contents.index("handle", ({ status }) => [status?.volumeGroupSnapshotHandle ?? ""]);
      const keyOfContent = ({ spec }: VolumeGroupSnapshotContent) => keyOfReference(spec.volumeGroupSnapshotRef);
      return {
        sources: [
          changesOf(Group),
          keysFrom(Content, ({ object }) => [keyOfContent(object)]),
          keysFrom(Content, ({ object }) =>
            unready()
              .filter(({ spec }) => spec.source.volumeGroupSnapshotContentName === object.metadata.name)
              .map(keyOfObject),
          ),
          keysFrom(Class, () => unready().map(keyOfObject)),
          keysFrom(snapshotKinds.VolumeSnapshot, ({ object }) => parentsOf(object)),
          keysFrom(snapshotKinds.VolumeSnapshotContent, ({ object }) => {
            const handle = object.metadata.annotations?.[annotations.groupHandle];
            return handle === undefined ? [] : contentsOfHandle(handle).map(keyOfContent);
          }),
          keysFrom(kinds.PersistentVolumeClaim, ({ object }) => [
            ...unready()
              .filter(({ metadata }) => metadata.namespace === object.metadata.namespace)
              .map(keyOfObject),
            ...restoredFrom(object).flatMap((key) => {
              const member = lookups.member(key);
              return member === undefined ? [] : parentsOf(member);
            }),
          ]),
          keysFrom(kinds.PersistentVolume, ({ object }) =>
            unready()
              .filter(({ metadata }) => metadata.namespace === object.spec?.claimRef?.namespace)
              .map(keyOfObject),
          ),
        ],
        reconcile(key, now) {
          const group = groups.get(key);
          if (group === undefined) {
            counted.gone(key, now);
            return undefined;
          }
          const driver = lookups.class(group.spec.volumeGroupSnapshotClassName ?? "")?.driver;
          counted.seen({ ...stateOf(group), key, driver }, now);
          return planGroup(group, lookups, now);
        },
      };
    },
  });
}

export function groupContentController(): Controller {
  return defineController({
    ...shared,
    name: "snapshot-controller-group-content",
    bind({ cache }) {
      const contents = cache(Content);
      return {
        sources: [changesOf(Content)],
        reconcile: (key) => {
          const content = contents.get(key);
          return content === undefined ? undefined : planGroupContent(content);
        },
      };
    },
  });
}

export function planGroupContent(content: VolumeGroupSnapshotContent): Plan | undefined {
  const { source, volumeGroupSnapshotRef: ref } = content.spec;
  const hasVolumes = (source.volumeHandles ?? []).length > 0;
  if (hasVolumes === (source.groupSnapshotHandles !== undefined)) {
    const words = "Exactly one of GroupSnapshotHandles and VolumeHandles should be specified";
    return { events: [warning(content, "GroupContentValidationError", words)] };
  }
  if ((ref.uid ?? "") === "" || isDeleted(content) || has(content, finalizers.groupContent)) return undefined;
  return oneStep(changedFinalizers(Content, content, { add: [finalizers.groupContent] }));
}

function groupCaches({ cache }: ControllerContext): GroupLookups & { unready(): readonly VolumeGroupSnapshot[] } {
  const groups = cache(Group);
  const contents = cache(Content);
  const classes = cache(Class);
  const claims = cache(kinds.PersistentVolumeClaim);
  const volumes = cache(kinds.PersistentVolume);
  const members = cache(snapshotKinds.VolumeSnapshot);
  const memberContents = cache(snapshotKinds.VolumeSnapshotContent);
  const byParent = members.index("parent group", parentsOf);
  const byHandle = volumes.index("csi handle", handleOf);
  const restoring = claims.index("restoring", restoredFrom);
  const unready = groups.index("unready", (each) => (isReady(each) ? [] : ["yes"]));
  return {
    group: (key) => groups.get(key),
    content: (name) => contents.get(name),
    class: (name) => classes.get(name),
    classes: () => classes.list(),
    claims: (namespace, selector) => {
      try {
        return { ok: true, value: selected(claims.inNamespace(namespace), selector) };
      } catch (error) {
        if (!(error instanceof LabelSelectorError)) throw error;
        return { ok: false, error: error.message };
      }
    },
    volume: (name) => volumes.get(name),
    volumeByHandle: (driver, handle) => byHandle(`${driver}/${handle}`)[0],
    member: (key) => members.get(key),
    memberContent: (name) => memberContents.get(name),
    membersOf: byParent,
    isRestoring: (key) => restoring(key).some(({ status }) => (status?.phase ?? "Pending") === "Pending"),
    unready: () => unready("yes"),
  };
}

/** The keys of the groups that a snapshot belongs to. */
function parentsOf({ metadata, status }: VolumeSnapshot): readonly string[] {
  const names = [status?.volumeGroupSnapshotName, groupOwnerOf(metadata.ownerReferences)?.name];
  return [...new Set(names.filter((name) => name !== undefined))].map((name) => `${metadata.namespace}/${name}`);
}

function handleOf({ spec }: core.PersistentVolume): readonly string[] {
  return spec?.csi === undefined ? [] : [`${spec.csi.driver}/${spec.csi.volumeHandle}`];
}

function stateOf(group: VolumeGroupSnapshot) {
  return {
    uid: group.metadata.uid ?? "",
    isGiven: group.spec.source.volumeGroupSnapshotContentName !== undefined,
    isCreated: group.status?.creationTime !== undefined,
    isReady: isReady(group),
    isDeleted: isDeleted(group),
  };
}
