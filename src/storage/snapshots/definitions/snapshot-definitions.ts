/** snapshot.storage.k8s.io/v1: structure, rules and columns as in external-snapshotter v8.6. */
import { SNAPSHOT_GROUP } from "../objects/kinds.ts";
import { type Definition, definitionOf } from "./definition.ts";
import {
  age,
  column,
  deletionPolicy,
  error,
  flag,
  immutable,
  int64,
  keptOnceSet,
  notEmpty,
  object,
  oneOf,
  reference,
  ruled,
  text,
  texts,
  time,
} from "./schema.ts";

const APPROVAL = "https://github.com/kubernetes-csi/external-snapshotter/pull/814";
const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const shared = { group: SNAPSHOT_GROUP, versions: ["v1"], approval: APPROVAL } as const;

const snapshots = definitionOf({
  ...shared,
  kind: "VolumeSnapshot",
  plural: "volumesnapshots",
  shortNames: ["vs"],
  scope: "Namespaced",
  hasStatus: true,
  columns: [
    column("ReadyToUse", "boolean", ".status.readyToUse", "Whether volumes can be restored from it."),
    column("SourcePVC", "string", ".spec.source.persistentVolumeClaimName", "The claim that it is made of."),
    column("SourceSnapshotContent", "string", ".spec.source.volumeSnapshotContentName", "The content that it takes."),
    column("RestoreSize", "string", ".status.restoreSize", "The least size of a volume restored from it."),
    column("SnapshotClass", "string", ".spec.volumeSnapshotClassName", "Its VolumeSnapshotClass."),
    column("SnapshotContent", "string", ".status.boundVolumeSnapshotContentName", "The content that it is bound to."),
    column("CreationTime", "date", ".status.creationTime", "The point in time that it shows."),
    age,
  ],
  schema: object("A snapshot of a volume at a point in time: one to make of a claim, or one that exists already.", {
    required: ["spec"],
    properties: {
      spec: object("What the snapshot should be.", {
        required: ["source"],
        properties: {
          source: object("Where the snapshot comes from: a claim, or a VolumeSnapshotContent. It cannot be changed.", {
            properties: {
              persistentVolumeClaimName: ruled(
                text("The claim, in the namespace of the snapshot, of whose volume a snapshot is made."),
                immutable("persistentVolumeClaimName"),
              ),
              volumeSnapshotContentName: ruled(
                text("The VolumeSnapshotContent of a snapshot that the storage system has already."),
                immutable("volumeSnapshotContentName"),
              ),
            },
            rules: [
              keptOnceSet("persistentVolumeClaimName"),
              keptOnceSet("volumeSnapshotContentName"),
              oneOf("volumeSnapshotContentName", "persistentVolumeClaimName"),
            ],
          }),
          volumeSnapshotClassName: ruled(
            text("The VolumeSnapshotClass. Without one, the default class of the volume's driver is used."),
            notEmpty("volumeSnapshotClassName"),
          ),
        },
      }),
      status: object("What is known of the snapshot. It counts only if the content refers back to this object.", {
        properties: {
          boundVolumeSnapshotContentName: text("The VolumeSnapshotContent that this snapshot is bound to."),
          creationTime: time("The point in time that the snapshot shows."),
          readyToUse: flag("Whether volumes can be restored from the snapshot."),
          restoreSize: text("The least size of a volume that is restored from the snapshot.", {
            pattern: QUANTITY,
            "x-kubernetes-int-or-string": true,
          }),
          error,
          volumeGroupSnapshotName: text("The VolumeGroupSnapshot that this snapshot is a member of."),
        },
      }),
    },
  }),
});

const contents = definitionOf({
  ...shared,
  kind: "VolumeSnapshotContent",
  plural: "volumesnapshotcontents",
  shortNames: ["vsc", "vscs"],
  scope: "Cluster",
  hasStatus: true,
  columns: [
    column("ReadyToUse", "boolean", ".status.readyToUse", "Whether volumes can be restored from it."),
    column("RestoreSize", "integer", ".status.restoreSize", "Its size in bytes."),
    column("DeletionPolicy", "string", ".spec.deletionPolicy", "What happens when its VolumeSnapshot is deleted."),
    column("Driver", "string", ".spec.driver", "The CSI driver that has it."),
    column("VolumeSnapshotClass", "string", ".spec.volumeSnapshotClassName", "Its VolumeSnapshotClass."),
    column("VolumeSnapshot", "string", ".spec.volumeSnapshotRef.name", "Its VolumeSnapshot."),
    column(
      "VolumeSnapshotNamespace",
      "string",
      ".spec.volumeSnapshotRef.namespace",
      "That VolumeSnapshot's namespace.",
    ),
    age,
  ],
  schema: object("A snapshot as the storage system has it.", {
    required: ["spec"],
    properties: {
      spec: object("What the snapshot is.", {
        required: ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
        properties: {
          deletionPolicy,
          driver: text("The CSI driver that has the snapshot, as it names itself."),
          source: object("The volume to make a snapshot of, or a snapshot that exists. It cannot be changed.", {
            properties: {
              snapshotHandle: ruled(text("The driver's id of an existing snapshot."), immutable("snapshotHandle")),
              volumeHandle: ruled(text("The driver's id of the volume."), immutable("volumeHandle")),
            },
            rules: [
              keptOnceSet("volumeHandle"),
              keptOnceSet("snapshotHandle"),
              oneOf("volumeHandle", "snapshotHandle"),
            ],
          }),
          sourceVolumeMode: ruled(
            text("Filesystem or Block: the mode of the volume that the snapshot was made of."),
            immutable("sourceVolumeMode"),
          ),
          volumeSnapshotClassName: text("The VolumeSnapshotClass that the snapshot was made with."),
          volumeSnapshotRef: reference("The VolumeSnapshot that this content is bound to or reserved for.", {
            rule: "has(self.name) && has(self.__namespace__)",
            message: "both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set",
          }),
        },
        rules: [keptOnceSet("sourceVolumeMode")],
      }),
      status: object("What the driver reported.", {
        properties: {
          creationTime: int64("The point in time that the snapshot shows, in nanoseconds since 1970."),
          error,
          readyToUse: flag("Whether volumes can be restored from the snapshot."),
          restoreSize: int64("The size of the snapshot in bytes.", { minimum: 0 }),
          snapshotHandle: text("The driver's id of the snapshot."),
          volumeGroupSnapshotHandle: text("The driver's id of the group that the snapshot belongs to."),
        },
      }),
    },
  }),
});

const classes = definitionOf({
  ...shared,
  kind: "VolumeSnapshotClass",
  plural: "volumesnapshotclasses",
  shortNames: ["vsclass", "vsclasses"],
  scope: "Cluster",
  hasStatus: false,
  columns: [
    column("Driver", "string", ".driver"),
    column("DeletionPolicy", "string", ".deletionPolicy", "What happens when a VolumeSnapshot is deleted."),
    age,
  ],
  schema: object("How snapshots are made: by which driver, with which parameters.", {
    required: ["deletionPolicy", "driver"],
    properties: {
      deletionPolicy,
      driver: text("The CSI driver of this class."),
      parameters: texts("Parameters for the driver. Those that begin with csi.storage.k8s.io/ name Secrets."),
    },
  }),
});

export const snapshotDefinitions: readonly Definition[] = [snapshots, contents, classes];
