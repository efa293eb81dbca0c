/**
 * The services of device plugins (v1beta1): the kubelet's Registration, and what plugins serve. `#grpc` explains the
 * tables.
 */
import { methodsOf } from "#grpc";

/** What plugins name as their type where they register as plugins of the node. */
export const DEVICE_PLUGIN = "DevicePlugin";
export const DEVICE_PLUGIN_VERSION = "v1beta1";
/** In the folder of device plugins. */
export const KUBELET_SOCKET = "kubelet.sock";

const messages = {
  Empty: {},
  Options: { preStartRequired: [1, "bool"], getPreferredAllocationAvailable: [2, "bool"] },
  RegisterRequest: {
    version: [1, "string"],
    endpoint: [2, "string"],
    resourceName: [3, "string"],
    options: [4, "Options"],
  },
  NumaNode: { id: [1, "int64"] },
  Topology: { nodes: [1, "NumaNode[]"] },
  Device: { id: [1, "string"], health: [2, "string"], topology: [3, "Topology"] },
  ListResponse: { devices: [1, "Device[]"] },
  DeviceIds: { ids: [1, "string[]"] },
  PreferredRequest: { containerRequests: [1, "ContainerPreferredRequest[]"] },
  ContainerPreferredRequest: {
    availableIds: [1, "string[]"],
    mustIncludeIds: [2, "string[]"],
    allocationSize: [3, "int32"],
  },
  PreferredResponse: { containerResponses: [1, "DeviceIds[]"] },
  AllocateRequest: { containerRequests: [1, "DeviceIds[]"] },
  AllocateResponse: { containerResponses: [1, "ContainerResponse[]"] },
  ContainerResponse: {
    envs: [1, "map"],
    mounts: [2, "Mount[]"],
    devices: [3, "DeviceSpec[]"],
    annotations: [4, "map"],
    cdiDevices: [5, "CdiDevice[]"],
  },
  Mount: { containerPath: [1, "string"], hostPath: [2, "string"], readOnly: [3, "bool"] },
  DeviceSpec: { containerPath: [1, "string"], hostPath: [2, "string"], permissions: [3, "string"] },
  CdiDevice: { name: [1, "string"] },
} as const;

export function deviceRegistrationMethods() {
  return methodsOf("v1beta1.Registration", messages, { Register: ["RegisterRequest", "Empty"] });
}

export function devicePluginMethods() {
  return methodsOf("v1beta1.DevicePlugin", messages, {
    GetDevicePluginOptions: ["Empty", "Options"],
    ListAndWatch: ["Empty", "ListResponse", "stream"],
    GetPreferredAllocation: ["PreferredRequest", "PreferredResponse"],
    Allocate: ["AllocateRequest", "AllocateResponse"],
    PreStartContainer: ["DeviceIds", "Empty"],
  });
}

/** One container's answer alone, as it is kept in checkpoints. */
export function containerResponseCodec() {
  const { Kept } = methodsOf("v1beta1.Checkpoint", messages, { Kept: ["Empty", "ContainerResponse"] });
  return {
    encode: (response: unknown) => Kept.encodeResponse(response),
    decode: (bytes: Buffer) => Kept.decode(bytes),
  };
}
