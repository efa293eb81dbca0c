/** The messages of the Identity service. `#grpc` explains the tables. */
export const identityMessages = {
  GetPluginInfoRequest: {},
  GetPluginInfoResponse: { name: [1, "string"], vendorVersion: [2, "string"], manifest: [3, "map"] },
  GetPluginCapabilitiesRequest: {},
  GetPluginCapabilitiesResponse: { capabilities: [1, "PluginCapability[]"] },
  PluginCapability: {
    service: [1, "PluginCapability.Service"],
    volumeExpansion: [2, "PluginCapability.VolumeExpansion"],
  },
  "PluginCapability.Service": { type: [1, "enum PluginCapability.Service.Type"] },
  "PluginCapability.VolumeExpansion": { type: [1, "enum PluginCapability.VolumeExpansion.Type"] },
  ProbeRequest: {},
  ProbeResponse: { ready: [1, "google.protobuf.BoolValue"] },
} as const;
