/**
 * Conversion of claims and slices between v1beta1 and v1, the stored version.
 *
 * 1. v1beta1 has the fields of an exact request in the request itself, and those of a device under `basic`. An exact
 *    request exists where any of its fields is set, as in Kubernetes.
 * 2. v1beta1 has no difference between an absent and an empty `nodeName`, nor between an absent and a false `allNodes`.
 */
import type * as v1 from "../types/resource-v1.ts";
import type * as v1beta1 from "../types/resource-v1beta1.ts";

export const claims = {
  toStored: (claim: v1beta1.ResourceClaim): v1.ResourceClaim => ({ ...claim, spec: claimSpecToV1(claim.spec) }),
  fromStored: (claim: v1.ResourceClaim): v1beta1.ResourceClaim => ({
    ...claim,
    apiVersion: "resource.k8s.io/v1beta1",
    spec: claimSpecFromV1(claim.spec),
  }),
};

export const claimTemplates = {
  toStored: (template: v1beta1.ResourceClaimTemplate): v1.ResourceClaimTemplate => ({
    ...template,
    spec: { ...template.spec, spec: claimSpecToV1(template.spec.spec) },
  }),
  fromStored: (template: v1.ResourceClaimTemplate): v1beta1.ResourceClaimTemplate => ({
    ...template,
    apiVersion: "resource.k8s.io/v1beta1",
    spec: { ...template.spec, spec: claimSpecFromV1(template.spec.spec) },
  }),
};

export const slices = {
  toStored: (slice: v1beta1.ResourceSlice): v1.ResourceSlice => {
    const { nodeName, allNodes, devices, ...spec } = slice.spec;
    return {
      ...slice,
      spec: {
        ...spec,
        ...(nodeName ? { nodeName } : {}),
        ...(allNodes ? { allNodes } : {}),
        ...(devices ? { devices: devices.map(({ basic, ...device }) => ({ ...device, ...basic })) } : {}),
      },
    };
  },
  fromStored: (slice: v1.ResourceSlice): v1beta1.ResourceSlice => {
    const { nodeName, allNodes, devices, ...spec } = slice.spec;
    return {
      ...slice,
      apiVersion: "resource.k8s.io/v1beta1",
      spec: {
        ...spec,
        ...(nodeName ? { nodeName } : {}),
        ...(allNodes ? { allNodes } : {}),
        ...(devices ? { devices: devices.map(({ name, ...basic }) => ({ name, basic })) } : {}),
      },
    };
  },
};

function claimSpecToV1(spec: v1beta1.ResourceClaimSpec): v1.ResourceClaimSpec {
  const { devices } = spec;
  if (!devices?.requests) return spec as v1.ResourceClaimSpec;
  return { ...spec, devices: { ...devices, requests: devices.requests.map(requestToV1) } };
}

function claimSpecFromV1(spec: v1.ResourceClaimSpec): v1beta1.ResourceClaimSpec {
  const { devices } = spec;
  if (!devices?.requests) return spec as v1beta1.ResourceClaimSpec;
  return { ...spec, devices: { ...devices, requests: devices.requests.map(requestFromV1) } };
}

function requestToV1(request: v1beta1.DeviceRequest): v1.DeviceRequest {
  const { name, firstAvailable, deviceClassName = "", ...rest } = request;
  const exact = hasExact(request) ? { exactly: { deviceClassName, ...rest } } : {};
  return { name, ...exact, ...(firstAvailable === undefined ? {} : { firstAvailable }) };
}

function requestFromV1({ name, exactly, firstAvailable }: v1.DeviceRequest): v1beta1.DeviceRequest {
  return { name, deviceClassName: "", ...exactly, ...(firstAvailable === undefined ? {} : { firstAvailable }) };
}

function hasExact({ name: _, firstAvailable: __, ...exact }: v1beta1.DeviceRequest): boolean {
  return Object.values(exact).some((value) => value !== undefined && value !== "" && value !== 0);
}
