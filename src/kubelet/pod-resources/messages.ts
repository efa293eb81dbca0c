/** The PodResources API of kubelets (v1, and the List of v1alpha1). `#grpc` explains the tables. */
import { methodsOf } from "#grpc";

const messages = {
  Empty: {},
  NumaNode: { id: [1, "int64"] },
  Topology: { nodes: [1, "NumaNode[]"] },
  Devices: { resourceName: [1, "string"], deviceIds: [2, "string[]"], topology: [3, "Topology"] },
  Memory: { memoryType: [1, "string"], size: [2, "uint64"], topology: [3, "Topology"] },
  CdiDevice: { name: [1, "string"] },
  ClaimResource: {
    cdiDevices: [1, "CdiDevice[]"],
    driverName: [2, "string"],
    poolName: [3, "string"],
    deviceName: [4, "string"],
    shareId: [5, "string"],
  },
  DynamicResource: { claimName: [2, "string"], claimNamespace: [3, "string"], claimResources: [4, "ClaimResource[]"] },
  Container: {
    name: [1, "string"],
    devices: [2, "Devices[]"],
    cpuIds: [3, "int64[]"],
    memory: [4, "Memory[]"],
    dynamicResources: [5, "DynamicResource[]"],
  },
  Pod: { name: [1, "string"], namespace: [2, "string"], containers: [3, "Container[]"] },
  ListResponse: { podResources: [1, "Pod[]"] },
  AllocatableResponse: { devices: [1, "Devices[]"], cpuIds: [2, "int64[]"], memory: [3, "Memory[]"] },
  GetRequest: { podName: [1, "string"], podNamespace: [2, "string"] },
  GetResponse: { podResources: [1, "Pod"] },
} as const;

export function podResourcesMethods() {
  return methodsOf("v1.PodResourcesLister", messages, {
    List: ["Empty", "ListResponse"],
    GetAllocatableResources: ["Empty", "AllocatableResponse"],
    Get: ["GetRequest", "GetResponse"],
  });
}

export function alphaPodResourcesMethods() {
  return methodsOf("v1alpha1.PodResourcesLister", messages, { List: ["Empty", "ListResponse"] });
}
