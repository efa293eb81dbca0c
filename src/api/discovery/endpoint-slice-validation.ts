import { checkReachableIp } from "../definition/strict-ip.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { checkIpv4, checkIpv6 } from "../machinery/names/ip.ts";
import { checkDns1123Label, checkDns1123Subdomain, checkQualifiedName } from "../machinery/names/names.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../types/discovery-v1.ts";

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];

export function validateEndpointSlice(slice: EndpointSlice, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { addressType } = slice;
  if (!addressType) errors.push(required(path.child("addressType")));
  else if (!addressTypes.includes(addressType))
    errors.push(notSupported(path.child("addressType"), addressType, addressTypes));
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > 1000) errors.push(tooMany(path.child("endpoints"), endpoints.length, 1000));
  else
    errors.push(...endpoints.flatMap((one, i) => validateEndpoint(one, addressType, path.child("endpoints").index(i))));
  const ports = slice.ports ?? [];
  if (ports.length > 20000) errors.push(tooMany(path.child("ports"), ports.length, 20000));
  else errors.push(...validatePorts(ports, path.child("ports")));
  return errors;
}

export function validateEndpointSliceUpdate(
  next: EndpointSlice,
  old: EndpointSlice,
  path: FieldPath,
): readonly FieldError[] {
  return next.addressType === old.addressType ? [] : [immutable(path.child("addressType"), next.addressType)];
}

function validateEndpoint(endpoint: Endpoint, addressType: string, path: FieldPath): readonly FieldError[] {
  const addresses = endpoint.addresses ?? [];
  const where = path.child("addresses");
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(where, "must contain at least 1 endpoint"));
  else if (addresses.length > 100) errors.push(tooMany(where, addresses.length, 100));
  for (const [i, address] of addresses.entries()) errors.push(...addressFaults(address, addressType, where.index(i)));
  const { nodeName, hostname } = endpoint;
  if (nodeName !== undefined)
    for (const why of checkDns1123Subdomain(nodeName)) errors.push(invalid(path.child("nodeName"), nodeName, why));
  const topology = endpoint.deprecatedTopology ?? {};
  for (const [key, field] of [
    ["kubernetes.io/hostname", "nodeName"],
    ["topology.kubernetes.io/zone", "zone"],
  ] as const) {
    if (key in topology)
      errors.push(forbidden(path.child("deprecatedTopology").key(key), `must not be set, use ${field} instead`));
  }
  if (hostname !== undefined)
    for (const why of checkDns1123Label(hostname)) errors.push(invalid(path.child("hostname"), hostname, why));
  return errors;
}

function addressFaults(address: string, type: string, where: FieldPath): readonly FieldError[] {
  switch (type) {
    case "IPv4":
      return [...checkIpv4(where, address), ...checkReachableIp(where, address)];
    case "IPv6":
      return [...checkIpv6(where, address), ...checkReachableIp(where, address)];
    case "FQDN": {
      if (address === "") return [required(where)];
      const name = address.replace(/\.$/, "");
      const wrong = checkDns1123Subdomain(name).map((why) => invalid(where, name, why));
      if (wrong.length > 0 || name.split(".").length > 1) return wrong;
      return [invalid(where, name, "should be a domain with at least two segments separated by dots")];
    }
    default:
      return [];
  }
}

function validatePorts(ports: readonly EndpointPort[], path: FieldPath): readonly FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol, appProtocol }, i) => {
    const where = path.index(i);
    const errors: FieldError[] =
      name === "" ? [] : checkDns1123Label(name).map((why) => invalid(where.child("name"), name, why));
    if (names.has(name)) errors.push(duplicate(where.child("name"), name));
    names.add(name);
    if (protocol === undefined) errors.push(required(where.child("protocol")));
    else if (!protocols.includes(protocol)) errors.push(notSupported(where.child("protocol"), protocol, protocols));
    if (appProtocol !== undefined) {
      for (const why of checkQualifiedName(appProtocol))
        errors.push(invalid(where.child("appProtocol"), appProtocol, why));
    }
    return errors;
  });
}
