/** The enums of CSI v1.12: names and values. Messages have the values. */
export const enums = {
  "PluginCapability.Service.Type": {
    UNKNOWN: 0,
    CONTROLLER_SERVICE: 1,
    VOLUME_ACCESSIBILITY_CONSTRAINTS: 2,
    GROUP_CONTROLLER_SERVICE: 3,
    SNAPSHOT_METADATA_SERVICE: 4,
  },
  "PluginCapability.VolumeExpansion.Type": { UNKNOWN: 0, ONLINE: 1, OFFLINE: 2 },
  "VolumeCapability.AccessMode.Mode": {
    UNKNOWN: 0,
    SINGLE_NODE_WRITER: 1,
    SINGLE_NODE_READER_ONLY: 2,
    MULTI_NODE_READER_ONLY: 3,
    MULTI_NODE_SINGLE_WRITER: 4,
    MULTI_NODE_MULTI_WRITER: 5,
    SINGLE_NODE_SINGLE_WRITER: 6,
    SINGLE_NODE_MULTI_WRITER: 7,
  },
  "ControllerServiceCapability.RPC.Type": {
    UNKNOWN: 0,
    CREATE_DELETE_VOLUME: 1,
    PUBLISH_UNPUBLISH_VOLUME: 2,
    LIST_VOLUMES: 3,
    GET_CAPACITY: 4,
    CREATE_DELETE_SNAPSHOT: 5,
    LIST_SNAPSHOTS: 6,
    CLONE_VOLUME: 7,
    PUBLISH_READONLY: 8,
    EXPAND_VOLUME: 9,
    LIST_VOLUMES_PUBLISHED_NODES: 10,
    VOLUME_CONDITION: 11,
    GET_VOLUME: 12,
    SINGLE_NODE_MULTI_WRITER: 13,
    MODIFY_VOLUME: 14,
    GET_SNAPSHOT: 15,
  },
  "GroupControllerServiceCapability.RPC.Type": { UNKNOWN: 0, CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: 1 },
  BlockMetadataType: { UNKNOWN: 0, FIXED_LENGTH: 1, VARIABLE_LENGTH: 2 },
  "VolumeUsage.Unit": { UNKNOWN: 0, BYTES: 1, INODES: 2 },
  "NodeServiceCapability.RPC.Type": {
    UNKNOWN: 0,
    STAGE_UNSTAGE_VOLUME: 1,
    GET_VOLUME_STATS: 2,
    EXPAND_VOLUME: 3,
    VOLUME_CONDITION: 4,
    SINGLE_NODE_MULTI_WRITER: 5,
    VOLUME_MOUNT_GROUP: 6,
  },
} as const;

export const PluginService = enums["PluginCapability.Service.Type"];
export const VolumeExpansion = enums["PluginCapability.VolumeExpansion.Type"];
export const AccessMode = enums["VolumeCapability.AccessMode.Mode"];
export const ControllerRpc = enums["ControllerServiceCapability.RPC.Type"];
export const GroupControllerRpc = enums["GroupControllerServiceCapability.RPC.Type"];
export const NodeRpc = enums["NodeServiceCapability.RPC.Type"];
export const UsageUnit = enums["VolumeUsage.Unit"];
export const BlockMetadataType = enums.BlockMetadataType;
