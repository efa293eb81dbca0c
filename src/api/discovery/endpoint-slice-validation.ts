import { fits } from "../definition/field-checks.ts";
import { checkReachableIp, checkStrictIp, isIpv6 } from "../definition/strict-ip.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
  tooMany,
} from "../machinery/errors/field-error.ts";
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  type NameCheck,
} from "../machinery/names/names.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../types/discovery-v1.ts";

const addressTypes = ["FQDN", "IPv4", "IPv6"];
/** Of one kind, at an endpoint. */
const maxHints = 8;
const protocols = ["SCTP", "TCP", "UDP"];

/** Addresses that the old slice has stay valid. */
export function validateEndpointSlice(
  slice: EndpointSlice,
  old: EndpointSlice | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const known = new Set((old?.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []));
  const errors: FieldError[] = [];
  const { addressType } = slice;
  if (!addressType) errors.push(required(path.child("addressType")));
  else if (!addressTypes.includes(addressType))
    errors.push(notSupported(path.child("addressType"), addressType, addressTypes));
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > 1000) errors.push(tooMany(path.child("endpoints"), endpoints.length, 1000));
  else
    errors.push(
      ...endpoints.flatMap((one, i) => validateEndpoint(one, addressType, known, path.child("endpoints").index(i))),
    );
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
  return [
    ...validateEndpointSlice(next, old, path),
    ...(next.addressType === old.addressType ? [] : [immutable(path.child("addressType"), next.addressType)]),
  ];
}

function validateEndpoint(
  endpoint: Endpoint,
  addressType: string,
  known: ReadonlySet<string>,
  path: FieldPath,
): readonly FieldError[] {
  const addresses = endpoint.addresses ?? [];
  const where = path.child("addresses");
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(where, "must contain at least 1 address"));
  else if (addresses.length > 100) errors.push(tooMany(where, addresses.length, 100));
  for (const [i, address] of addresses.entries()) {
    if (!known.has(address)) errors.push(...addressFaults(address, addressType, where, i));
  }
  const { nodeName, hostname } = endpoint;
  if (nodeName !== undefined)
    for (const why of checkDns1123Subdomain(nodeName)) errors.push(invalid(path.child("nodeName"), nodeName, why));
  const topology = endpoint.deprecatedTopology ?? {};
  for (const [key, field] of [
    ["kubernetes.io/hostname", "nodeName"],
    ["topology.kubernetes.io/zone", "zone"],
  ] as const) {
    if (Object.hasOwn(topology, key))
      errors.push(forbidden(path.child("deprecatedTopology").key(key), `must not be set, use ${field} instead`));
  }
  if (hostname !== undefined)
    for (const why of checkDns1123Label(hostname)) errors.push(invalid(path.child("hostname"), hostname, why));
  const { forZones, forNodes } = endpoint.hints ?? {};
  errors.push(...hintFaults(forZones, checkLabelValue, path.child("hints", "forZones")));
  errors.push(...hintFaults(forNodes, checkDns1123Subdomain, path.child("hints", "forNodes")));
  return errors;
}

/** The zones or nodes whose clients should use the endpoint. */
function hintFaults(
  hints: readonly { readonly name: string }[] | undefined,
  check: NameCheck,
  path: FieldPath,
): readonly FieldError[] {
  if (hints === undefined) return NO_ERRORS;
  if (hints.length > maxHints) return [tooMany(path, hints.length, maxHints)];
  const names = new Set<string>();
  return hints.flatMap(({ name }, i) => {
    const where = path.index(i).child("name");
    const repeated = names.has(name) ? [duplicate(where, name)] : [];
    names.add(name);
    return [...repeated, ...fits(check, name, where)];
  });
}

function addressFaults(address: string, type: string, path: FieldPath, i: number): readonly FieldError[] {
  const where = path.index(i);
  switch (type) {
    case "IPv4":
    case "IPv6": {
      const errors = checkStrictIp(where, address);
      if (errors.length > 0) return errors;
      if (isIpv6(address) !== (type === "IPv6")) return [invalid(path, address, `must be an ${type} address`)];
      return checkReachableIp(where, address);
    }
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
