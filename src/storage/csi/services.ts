/** The services and messages of CSI v1.12, written from the public specification. `#grpc` explains the tables. */
import { type Handlers, type Received, type Sent, type Services, servicesOf } from "#grpc";
import { controllerMessages } from "./controller-messages.ts";
import { identityMessages } from "./identity-messages.ts";
import { nodeMessages } from "./node-messages.ts";
import { snapshotMessages } from "./snapshot-messages.ts";
import { volumeMessages } from "./volume-messages.ts";
import { wellKnownMessages } from "./well-known-messages.ts";

export const messages = {
  ...identityMessages,
  ...volumeMessages,
  ...controllerMessages,
  ...snapshotMessages,
  ...nodeMessages,
  ...wellKnownMessages,
} as const;

export const services = {
  Identity: {
    GetPluginInfo: ["GetPluginInfoRequest", "GetPluginInfoResponse"],
    GetPluginCapabilities: ["GetPluginCapabilitiesRequest", "GetPluginCapabilitiesResponse"],
    Probe: ["ProbeRequest", "ProbeResponse"],
  },
  Controller: {
    CreateVolume: ["CreateVolumeRequest", "CreateVolumeResponse"],
    DeleteVolume: ["DeleteVolumeRequest", "DeleteVolumeResponse"],
    ControllerPublishVolume: ["ControllerPublishVolumeRequest", "ControllerPublishVolumeResponse"],
    ControllerUnpublishVolume: ["ControllerUnpublishVolumeRequest", "ControllerUnpublishVolumeResponse"],
    ValidateVolumeCapabilities: ["ValidateVolumeCapabilitiesRequest", "ValidateVolumeCapabilitiesResponse"],
    ListVolumes: ["ListVolumesRequest", "ListVolumesResponse"],
    GetCapacity: ["GetCapacityRequest", "GetCapacityResponse"],
    ControllerGetCapabilities: ["ControllerGetCapabilitiesRequest", "ControllerGetCapabilitiesResponse"],
    CreateSnapshot: ["CreateSnapshotRequest", "CreateSnapshotResponse"],
    DeleteSnapshot: ["DeleteSnapshotRequest", "DeleteSnapshotResponse"],
    ListSnapshots: ["ListSnapshotsRequest", "ListSnapshotsResponse"],
    GetSnapshot: ["GetSnapshotRequest", "GetSnapshotResponse"],
    ControllerExpandVolume: ["ControllerExpandVolumeRequest", "ControllerExpandVolumeResponse"],
    ControllerGetVolume: ["ControllerGetVolumeRequest", "ControllerGetVolumeResponse"],
    ControllerModifyVolume: ["ControllerModifyVolumeRequest", "ControllerModifyVolumeResponse"],
  },
  GroupController: {
    GroupControllerGetCapabilities: ["GroupControllerGetCapabilitiesRequest", "GroupControllerGetCapabilitiesResponse"],
    CreateVolumeGroupSnapshot: ["CreateVolumeGroupSnapshotRequest", "CreateVolumeGroupSnapshotResponse"],
    DeleteVolumeGroupSnapshot: ["DeleteVolumeGroupSnapshotRequest", "DeleteVolumeGroupSnapshotResponse"],
    GetVolumeGroupSnapshot: ["GetVolumeGroupSnapshotRequest", "GetVolumeGroupSnapshotResponse"],
  },
  SnapshotMetadata: {
    GetMetadataAllocated: ["GetMetadataAllocatedRequest", "GetMetadataAllocatedResponse", "stream"],
    GetMetadataDelta: ["GetMetadataDeltaRequest", "GetMetadataDeltaResponse", "stream"],
  },
  Node: {
    NodeStageVolume: ["NodeStageVolumeRequest", "NodeStageVolumeResponse"],
    NodeUnstageVolume: ["NodeUnstageVolumeRequest", "NodeUnstageVolumeResponse"],
    NodePublishVolume: ["NodePublishVolumeRequest", "NodePublishVolumeResponse"],
    NodeUnpublishVolume: ["NodeUnpublishVolumeRequest", "NodeUnpublishVolumeResponse"],
    NodeGetVolumeStats: ["NodeGetVolumeStatsRequest", "NodeGetVolumeStatsResponse"],
    NodeExpandVolume: ["NodeExpandVolumeRequest", "NodeExpandVolumeResponse"],
    NodeGetCapabilities: ["NodeGetCapabilitiesRequest", "NodeGetCapabilitiesResponse"],
    NodeGetInfo: ["NodeGetInfoRequest", "NodeGetInfoResponse"],
  },
} as const;

export type CsiMessages = typeof messages;
export type CsiMessageName = keyof CsiMessages;
export type CsiServiceTables = typeof services;
export type CsiServiceName = keyof CsiServiceTables;

/** A message as it was received: absent fields have their zero value, absent messages are null. */
export type CsiReceived<N extends CsiMessageName> = Received<CsiMessages, N>;
/** A message to send. */
export type CsiSent<N extends CsiMessageName> = Sent<CsiMessages, N>;
export type CsiHandlers<N extends CsiServiceName> = Handlers<CsiMessages, CsiServiceTables[N]>;
export type CsiServices = Services<CsiMessages, CsiServiceTables>;

let loaded: CsiServices | undefined;

/** Loaded once: it takes a millisecond and 250 kB, and each of thousands of simulated nodes has a driver. */
export function csiServices(): CsiServices {
  loaded ??= servicesOf("csi.v1", messages, services);
  return loaded;
}
