/** Builders of ResourceSlices, DeviceClasses and ResourceClaims for tables of cases. */
import type { resource } from "#api";

export const DRIVER = "gpu.example.com";

export interface SliceParts {
  readonly on?: string;
  readonly driver?: string;
  /** Default: the node's name. */
  readonly pool?: string;
  readonly generation?: number;
  readonly slices?: number;
  readonly spec?: Partial<resource.ResourceSliceSpec>;
}

export function slice(
  name: string,
  devices: readonly resource.Device[],
  { on, driver = DRIVER, pool = on ?? "pool", generation = 1, slices = 1, spec }: SliceParts = {},
): resource.ResourceSlice {
  return {
    metadata: { name },
    spec: {
      driver,
      pool: { name: pool, generation, resourceSliceCount: slices },
      ...(on === undefined
        ? spec?.allNodes === undefined && !spec?.nodeSelector && { allNodes: true }
        : { nodeName: on }),
      devices,
      ...spec,
    },
  };
}

/** `gpu-0`, `gpu-1` … with the same properties. */
export function devices(count: number, parts: Partial<resource.Device> = {}): readonly resource.Device[] {
  return Array.from({ length: count }, (_, i) => ({ name: `gpu-${i}`, ...parts }));
}

export function deviceClass(name: string, expressions: readonly string[] = []): resource.DeviceClass {
  return {
    metadata: { name },
    spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) },
  };
}

export function exactly(
  name: string,
  { where = [], ...parts }: Partial<resource.ExactDeviceRequest> & { readonly where?: readonly string[] } = {},
): resource.DeviceRequest {
  return {
    name,
    exactly: {
      deviceClassName: "gpu",
      allocationMode: "ExactCount",
      ...(parts.allocationMode !== "All" && { count: 1 }),
      ...(where.length > 0 && { selectors: where.map((expression) => ({ cel: { expression } })) }),
      ...parts,
    },
  };
}

export function claimFor(
  name: string,
  requests: readonly resource.DeviceRequest[],
  more: Partial<resource.DeviceClaim> = {},
): resource.ResourceClaim {
  return { metadata: { name, namespace: "default", uid: `uid-${name}` }, spec: { devices: { requests, ...more } } };
}
