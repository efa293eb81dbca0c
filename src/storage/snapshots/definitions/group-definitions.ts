/**
 * groupsnapshot.storage.k8s.io: structure, rules and columns as in external-snapshotter v8.6.
 *
 * v1 and v1beta2 are served and have one schema; objects are stored as v1beta2, as upstream stores them while clusters
 * move to v1. v1beta1 is not served: its content needs a conversion webhook.
 */
import { GROUP_SNAPSHOT_GROUP } from "../objects/group-kinds.ts";
import { type Definition, definitionOf } from "./definition.ts";
import {
  age,
  column,
  deletionPolicy,
  error,
  flag,
  immutable,
  immutableOnceSet,
  int64,
  keptOnceSet,
  list,
  notEmpty,
  object,
  oneOf,
  reference,
  ruled,
  type Schema,
  text,
  texts,
  time,
} from "./schema.ts";

const APPROVAL = "https://github.com/kubernetes-csi/external-snapshotter/pull/814";
const shared = { group: GROUP_SNAPSHOT_GROUP, versions: ["v1beta2", "v1"], approval: APPROVAL } as const;

const selector: Schema = object("The claims of the group, by their labels.", {
  atomic: true,
  properties: {
    matchExpressions: list(
      "Requirements on labels; all have to hold.",
      object("A requirement on one label.", {
        required: ["key", "operator"],
        properties: {
          key: text("The label."),
          operator: text("In, NotIn, Exists or DoesNotExist."),
          values: list("The values to compare with.", { type: "string" }, { "x-kubernetes-list-type": "atomic" }),
        },
      }),
      { "x-kubernetes-list-type": "atomic" },
    ),
    matchLabels: texts("Labels and their values; all have to be there."),
  },
});

const groupSnapshots = definitionOf({
  ...shared,
  kind: "VolumeGroupSnapshot",
  plural: "volumegroupsnapshots",
  shortNames: ["vgs"],
  scope: "Namespaced",
  hasStatus: true,
  columns: [
    column("ReadyToUse", "boolean", ".status.readyToUse", "Whether volumes can be restored from all members."),
    column("VolumeGroupSnapshotClass", "string", ".spec.volumeGroupSnapshotClassName", "Its class."),
    column("VolumeGroupSnapshotContent", "string", ".status.boundVolumeGroupSnapshotContentName", "Its content."),
    column("CreationTime", "date", ".status.creationTime", "The point in time that it shows."),
    age,
  ],
  schema: object("Snapshots of several volumes at one point in time.", {
    required: ["spec"],
    properties: {
      spec: object("What the group snapshot should be.", {
        required: ["source"],
        properties: {
          source: object("The claims to make it of, or the content of one that exists. It cannot be changed.", {
            properties: {
              selector: ruled(selector, immutable("selector")),
              volumeGroupSnapshotContentName: ruled(
                text("The VolumeGroupSnapshotContent of a group snapshot that the storage system has already."),
                immutable("volumeGroupSnapshotContentName"),
              ),
            },
            rules: [
              keptOnceSet("selector"),
              keptOnceSet("volumeGroupSnapshotContentName"),
              oneOf("selector", "volumeGroupSnapshotContentName"),
            ],
          }),
          volumeGroupSnapshotClassName: ruled(
            text("The VolumeGroupSnapshotClass. Without one, the default class of the volumes' driver is used."),
            notEmpty("volumeGroupSnapshotClassName"),
          ),
        },
      }),
      status: object("What is known of it. It counts only if the content refers back to this object.", {
        properties: {
          boundVolumeGroupSnapshotContentName: text("The VolumeGroupSnapshotContent that it is bound to."),
          creationTime: time("The point in time that it shows."),
          error,
          readyToUse: flag("Whether volumes can be restored from all members."),
        },
      }),
    },
  }),
});

const handles: Schema = object("The driver's ids of an existing group snapshot and its members.", {
  required: ["volumeGroupSnapshotHandle", "volumeSnapshotHandles"],
  properties: {
    volumeGroupSnapshotHandle: text("The driver's id of the group snapshot."),
    volumeSnapshotHandles: list("The driver's ids of the members.", { type: "string" }),
  },
});

const groupContents = definitionOf({
  ...shared,
  kind: "VolumeGroupSnapshotContent",
  plural: "volumegroupsnapshotcontents",
  shortNames: ["vgsc", "vgscs"],
  scope: "Cluster",
  hasStatus: true,
  columns: [
    column("ReadyToUse", "boolean", ".status.readyToUse", "Whether volumes can be restored from all members."),
    column("DeletionPolicy", "string", ".spec.deletionPolicy", "What happens when its VolumeGroupSnapshot is deleted."),
    column("Driver", "string", ".spec.driver", "The CSI driver that has it."),
    column("VolumeGroupSnapshotClass", "string", ".spec.volumeGroupSnapshotClassName", "Its class."),
    column("VolumeGroupSnapshotNamespace", "string", ".spec.volumeGroupSnapshotRef.namespace"),
    column("VolumeGroupSnapshot", "string", ".spec.volumeGroupSnapshotRef.name"),
    age,
  ],
  schema: object("A group snapshot as the storage system has it.", {
    required: ["spec"],
    properties: {
      spec: object("What the group snapshot is.", {
        required: ["deletionPolicy", "driver", "source", "volumeGroupSnapshotRef"],
        properties: {
          deletionPolicy,
          driver: ruled(text("The CSI driver that has it, as the driver names itself."), immutableOnceSet("driver is")),
          source: object("The volumes to make it of, or an existing group snapshot. It cannot be changed.", {
            properties: {
              groupSnapshotHandles: ruled(handles, immutable("groupSnapshotHandles")),
              volumeHandles: ruled(
                list("The driver's ids of the volumes.", { type: "string" }),
                immutable("volumeHandles"),
              ),
            },
            rules: [
              keptOnceSet("volumeHandles"),
              keptOnceSet("groupSnapshotHandles"),
              oneOf("volumeHandles", "groupSnapshotHandles"),
            ],
          }),
          volumeGroupSnapshotClassName: ruled(
            text("The VolumeGroupSnapshotClass that it was made with."),
            immutableOnceSet("volumeGroupSnapshotClassName is"),
          ),
          volumeGroupSnapshotRef: reference(
            "The VolumeGroupSnapshot that this content is bound to or reserved for.",
            {
              rule: "has(self.name) && has(self.__namespace__)",
              message: "both volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace must be set",
            },
            {
              rule: "self.name == oldSelf.name && self.__namespace__ == oldSelf.__namespace__",
              message: "volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace are immutable",
            },
            {
              rule: "!has(oldSelf.uid) || (has(self.uid) && self.uid == oldSelf.uid)",
              message: "volumeGroupSnapshotRef.uid is immutable once set",
            },
          ),
        },
      }),
      status: object("What the driver reported.", {
        properties: {
          creationTime: time("The point in time that it shows."),
          error,
          readyToUse: flag("Whether volumes can be restored from all members."),
          volumeGroupSnapshotHandle: text("The driver's id of the group snapshot."),
          volumeSnapshotInfoList: list(
            "The members.",
            object("A member.", {
              properties: {
                creationTime: int64("The point in time that it shows, in nanoseconds since 1970."),
                readyToUse: flag("Whether a volume can be restored from it."),
                restoreSize: int64("Its size in bytes."),
                snapshotHandle: text("The driver's id of the snapshot."),
                volumeHandle: text("The driver's id of its volume."),
              },
            }),
          ),
        },
      }),
    },
  }),
});

const groupClasses = definitionOf({
  ...shared,
  kind: "VolumeGroupSnapshotClass",
  plural: "volumegroupsnapshotclasses",
  shortNames: ["vgsclass", "vgsclasses"],
  scope: "Cluster",
  hasStatus: false,
  columns: [
    column("Driver", "string", ".driver"),
    column("DeletionPolicy", "string", ".deletionPolicy", "What happens when a VolumeGroupSnapshot is deleted."),
    age,
  ],
  schema: object("How group snapshots are made: by which driver, with which parameters.", {
    required: ["deletionPolicy", "driver"],
    properties: {
      deletionPolicy: ruled(deletionPolicy, immutableOnceSet("deletionPolicy is")),
      driver: ruled(text("The CSI driver of this class."), immutableOnceSet("driver is")),
      parameters: ruled(
        texts("Parameters for the driver. Those that begin with csi.storage.k8s.io/ name Secrets."),
        immutableOnceSet("parameters are"),
      ),
    },
  }),
});

export const groupDefinitions: readonly Definition[] = [groupSnapshots, groupContents, groupClasses];
