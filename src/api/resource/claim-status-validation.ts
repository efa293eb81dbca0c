/** Validation of the status of a ResourceClaim: who uses it, and what was allocated. */
import { validateNodeSelector } from "../core/index.ts";
import { requireOneOf, requireText, same } from "../definition/field-checks.ts";
import { checkInterfaceAddress } from "../definition/strict-ip.ts";
import { internalForm } from "../facts/index.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  NO_ERRORS,
  tooLong,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { validateConditions } from "../policy/index.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from "../types/resource-v1.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import {
  mostConfigurations,
  type RequestNames,
  referenceFaults,
  requestNames,
  validateReferences,
} from "./claim-validation.ts";
import { validateConfiguration, validateRawJson } from "./device-configuration.ts";
import { validateTolerations } from "./device-toleration.ts";
import { duplicates, validateSet, validateSlice } from "./lists.ts";
import { driverNameFaults, labelFaults, poolNameFaults, uidFaults } from "./names.ts";

const type = "resource.v1.AllocationResult";
const mostConsumers = 256;
const mostResults = 32;
const mostConditions = 8;
const longestData = 10 * 1024;
const mostIps = 16;
const longestInterfaceName = 256;
const longestHardwareAddress = 128;
const sources = ["FromClaim", "FromClass"];

export function validateClaimStatus(next: ResourceClaim, old: ResourceClaim, path: FieldPath): readonly FieldError[] {
  const at = path.child("status");
  const { status = {}, metadata } = next;
  const before = old.status ?? {};
  const names = requestNames(next.spec.devices ?? {});
  return [
    ...validateSet(status.reservedFor, mostConsumers, validateConsumer, ({ uid }) => uid, at.child("reservedFor")),
    ...validateDevices(status, at.child("devices")),
    ...reservationFaults(status, before, metadata.deletionTimestamp !== undefined, at.child("reservedFor")),
    ...validateAllocation(status.allocation, before.allocation, names, at.child("allocation")),
  ];
}

function validateConsumer(
  { resource, name, uid }: ResourceClaimConsumerReference,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...requireText(resource, at.child("resource")),
    ...requireText(name, at.child("name")),
    ...requireText(uid, at.child("uid")),
  ];
}

function reservationFaults(
  { reservedFor = [], allocation }: ResourceClaimStatus,
  old: ResourceClaimStatus,
  deleted: boolean,
  at: FieldPath,
): readonly FieldError[] {
  if (reservedFor.length === 0) return NO_ERRORS;
  if (allocation === undefined) return [forbidden(at, "may not be specified when `allocated` is not set")];
  if (!deleted) return NO_ERRORS;
  const before = new Set((old.reservedFor ?? []).map((consumer) => JSON.stringify(consumer)));
  if (reservedFor.every((consumer) => before.has(JSON.stringify(consumer)))) return NO_ERRORS;
  return [forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")];
}

/** What was allocated stays as it is, until it is deallocated. */
function validateAllocation(
  allocation: AllocationResult | undefined,
  old: AllocationResult | undefined,
  names: RequestNames,
  at: FieldPath,
): readonly FieldError[] {
  if (allocation === undefined) return NO_ERRORS;
  if (old !== undefined) return same(allocation, old) ? NO_ERRORS : [immutable(at, internalForm(type, allocation))];
  const { devices = {}, nodeSelector } = allocation;
  return [
    ...validateSlice(
      devices.results,
      mostResults,
      (result, where) => validateResult(result, names, where),
      at.child("devices", "results"),
    ),
    ...validateSlice(
      devices.config,
      2 * mostConfigurations,
      (config, where) => [
        ...requireOneOf(config.source, sources, where.child("source")),
        ...validateReferences(config.requests, names, where.child("requests")),
        ...validateConfiguration(config, false, where),
      ],
      at.child("devices", "config"),
    ),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, at.child("nodeSelector"))),
  ];
}

function validateResult(
  result: DeviceRequestAllocationResult,
  names: RequestNames,
  at: FieldPath,
): readonly FieldError[] {
  const { request, driver, pool, device, tolerations, shareID } = result;
  return [
    ...referenceFaults(request, names, at.child("request")),
    ...driverNameFaults(driver, at.child("driver")),
    ...poolNameFaults(pool, at.child("pool")),
    ...labelFaults(device, at.child("device")),
    ...validateBindingConditions(result, at),
    ...validateTolerations(tolerations, at.child("tolerations")),
    ...(shareID === undefined ? [] : uidFaults(shareID, at.child("shareID"))),
  ];
}

function validateDevices({ devices = [], allocation }: ResourceClaimStatus, at: FieldPath): readonly FieldError[] {
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceId));
  return [
    ...devices.flatMap((device, i) => validateDevice(device, allocated, at.index(i))),
    ...duplicates(devices, deviceId, at),
  ];
}

/** `driver/pool/device`, and the share of a device that several claims use. */
function deviceId({ driver, pool, device, shareID }: AllocatedDeviceStatus): string {
  const id = `${driver}/${pool}/${device}`;
  return shareID === undefined ? id : `${id}/${shareID}`;
}

function validateDevice(
  status: AllocatedDeviceStatus,
  allocated: ReadonlySet<string>,
  at: FieldPath,
): readonly FieldError[] {
  const { driver, pool, device, shareID, data, networkData } = status;
  const conditions = status.conditions ?? [];
  const id = deviceId(status);
  return [
    ...driverNameFaults(driver, at.child("driver")),
    ...poolNameFaults(pool, at.child("pool")),
    ...labelFaults(device, at.child("device")),
    ...(shareID === undefined ? [] : uidFaults(shareID, at.child("shareID"))),
    ...(allocated.has(id) ? [] : [invalid(at, id, "must be an allocated device in the claim")]),
    ...(conditions.length > mostConditions ? [tooMany(at.child("conditions"), conditions.length, mostConditions)] : []),
    ...validateConditions(conditions, at.child("conditions")),
    ...(data === undefined ? [] : validateRawJson(data, longestData, at.child("data"))),
    ...(networkData === undefined ? [] : validateNetworkData(networkData, at.child("networkData"))),
  ];
}

function validateNetworkData(
  { interfaceName = "", hardwareAddress = "", ips }: NetworkDeviceData,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (interfaceName.length > longestInterfaceName)
    errors.push(tooLong(at.child("interfaceName"), longestInterfaceName));
  if (hardwareAddress.length > longestHardwareAddress)
    errors.push(tooLong(at.child("hardwareAddress"), longestHardwareAddress));
  const ipFaults = (ip: string, where: FieldPath) => checkInterfaceAddress(where, ip);
  return [...errors, ...validateSet(ips, mostIps, ipFaults, (ip) => ip, at.child("ips"))];
}
