/**
 * The services of a DRA driver on a node: v1 and v1beta1 have the same messages. `#grpc` explains the tables.
 *
 * A map to messages is sent as its entries, each with a key and a value: the bytes are the same.
 */
import { methodsOf } from "#grpc";

/** What drivers name as their type when they register. */
export const DRA_PLUGIN = "DRAPlugin";
/** As drivers name them when they register; the preferred one first. */
export const DRA_SERVICES = ["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const;

/** A driver serves it at its socket if it knows how its devices are. */
export const DRA_HEALTH_SERVICE = "v1alpha1.DRAResourceHealth";
/** DeviceHealth.health */
export const HealthStatus = { UNKNOWN: 0, HEALTHY: 1, UNHEALTHY: 2 } as const;

export type DraService = (typeof DRA_SERVICES)[number];

const messages = {
  Claim: { namespace: [1, "string"], uid: [2, "string"], name: [3, "string"] },
  ClaimsRequest: { claims: [1, "Claim[]"] },
  Device: {
    requestNames: [1, "string[]"],
    poolName: [2, "string"],
    deviceName: [3, "string"],
    cdiDeviceIds: [4, "string[]"],
    shareId: [5, "string"],
  },
  Prepared: { devices: [1, "Device[]"], error: [2, "string"] },
  PreparedEntry: { key: [1, "string"], value: [2, "Prepared"] },
  PrepareResponse: { claims: [1, "PreparedEntry[]"] },
  Unprepared: { error: [1, "string"] },
  UnpreparedEntry: { key: [1, "string"], value: [2, "Unprepared"] },
  UnprepareResponse: { claims: [1, "UnpreparedEntry[]"] },
} as const;

const healthMessages = {
  WatchRequest: {},
  DeviceName: { poolName: [1, "string"], deviceName: [2, "string"] },
  DeviceHealth: {
    device: [1, "DeviceName"],
    health: [2, "enum HealthStatus"],
    lastUpdatedTime: [3, "int64"],
    healthCheckTimeoutSeconds: [4, "int64"],
    message: [5, "string"],
  },
  WatchResponse: { devices: [1, "DeviceHealth[]"] },
} as const;

export function draHealthMethods() {
  return methodsOf(DRA_HEALTH_SERVICE, healthMessages, {
    NodeWatchResources: ["WatchRequest", "WatchResponse", "stream"],
  });
}

export function draMethods(service: DraService) {
  return methodsOf(`k8s.io.kubelet.pkg.apis.dra.${service}`, messages, {
    NodePrepareResources: ["ClaimsRequest", "PrepareResponse"],
    NodeUnprepareResources: ["ClaimsRequest", "UnprepareResponse"],
  });
}
