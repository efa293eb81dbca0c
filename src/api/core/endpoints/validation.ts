import { checkReachableIp, checkStrictIp } from "../../definition/strict-ip.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortNumber,
  checkQualifiedName,
} from "../../machinery/names/names.ts";
import type { EndpointAddress, EndpointPort, Endpoints } from "../../types/core-v1.ts";

const protocols = ["SCTP", "TCP", "UDP"];

export function validateEndpoints({ subsets = [] }: Endpoints, path: FieldPath): readonly FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, i) => {
    const where = path.child("subsets").index(i);
    const errors: FieldError[] = [];
    if (addresses.length + notReadyAddresses.length === 0) {
      errors.push(required(where, "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const [j, one] of addresses.entries()) errors.push(...validateAddress(one, where.child("addresses").index(j)));
    for (const [j, one] of notReadyAddresses.entries())
      errors.push(...validateAddress(one, where.child("notReadyAddresses").index(j)));
    for (const [j, one] of ports.entries())
      errors.push(...validatePort(one, ports.length > 1, where.child("ports").index(j)));
    return errors;
  });
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, path: FieldPath): readonly FieldError[] {
  const errors = [...checkStrictIp(path.child("ip"), ip)];
  if (hostname)
    for (const why of checkDns1123Label(hostname)) errors.push(invalid(path.child("hostname"), hostname, why));
  if (nodeName !== undefined)
    for (const why of checkDns1123Subdomain(nodeName)) errors.push(invalid(path.child("nodeName"), nodeName, why));
  return [...errors, ...checkReachableIp(path.child("ip"), ip)];
}

function validatePort(
  { name = "", port, protocol, appProtocol }: EndpointPort,
  named: boolean,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name === "" && named) errors.push(required(path.child("name")));
  else if (name !== "") for (const why of checkDns1123Label(name)) errors.push(invalid(path.child("name"), name, why));
  for (const why of checkPortNumber(port)) errors.push(invalid(path.child("port"), port, why));
  if (!protocol) errors.push(required(path.child("protocol")));
  else if (!protocols.includes(protocol)) errors.push(notSupported(path.child("protocol"), protocol, protocols));
  if (appProtocol !== undefined) {
    for (const why of checkQualifiedName(appProtocol))
      errors.push(invalid(path.child("appProtocol"), appProtocol, why));
  }
  return errors;
}
