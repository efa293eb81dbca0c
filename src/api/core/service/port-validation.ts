/** The ports of a service: each by itself, then all together. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { checkDns1123Label, checkPortName, checkPortNumber, checkQualifiedName } from "../../machinery/names/names.ts";
import type { ServicePort, ServiceSpec } from "../../types/core-v1.ts";

const protocols = ["SCTP", "TCP", "UDP"];

export function validatePorts(ports: readonly ServicePort[], path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const where = path.index(i);
    const { name = "", protocol = "" } = port;
    if (name === "" && ports.length > 1) errors.push(required(where.child("name")));
    if (name !== "") {
      for (const why of checkDns1123Label(name)) errors.push(invalid(where.child("name"), name, why));
      if (names.has(name)) errors.push(duplicate(where.child("name"), name));
      names.add(name);
    }
    for (const why of checkPortNumber(port.port)) errors.push(invalid(where.child("port"), port.port, why));
    if (protocol === "") errors.push(required(where.child("protocol")));
    else if (!protocols.includes(protocol)) errors.push(notSupported(where.child("protocol"), protocol, protocols));
    errors.push(...validateTarget(port.targetPort ?? 0, where.child("targetPort")));
    const { appProtocol } = port;
    if (appProtocol !== undefined) {
      for (const why of checkQualifiedName(appProtocol))
        errors.push(invalid(where.child("appProtocol"), appProtocol, why));
    }
  }
  return errors;
}

/** No node port where the type has none, and no (protocol, port) pair twice. */
export function validatePortSets({ type, ports = [] }: ServiceSpec, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (type === "ClusterIP") {
    for (const [i, { nodePort }] of ports.entries()) {
      if (nodePort)
        errors.push(forbidden(path.index(i).child("nodePort"), "may not be used when `type` is 'ClusterIP'"));
    }
  }
  const nodePorts = new Set<string>();
  for (const [i, { protocol, nodePort }] of ports.entries()) {
    if (!nodePort) continue;
    if (nodePorts.has(`${protocol} ${nodePort}`)) errors.push(duplicate(path.index(i).child("nodePort"), nodePort));
    nodePorts.add(`${protocol} ${nodePort}`);
  }
  const seen = new Set<string>();
  for (const [i, { protocol = "", port }] of ports.entries()) {
    if (seen.has(`${protocol} ${port}`)) {
      const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
      errors.push(duplicate(path.index(i), shown));
    }
    seen.add(`${protocol} ${port}`);
  }
  return errors;
}

function validateTarget(target: number | string, where: FieldPath): readonly FieldError[] {
  const wrong = typeof target === "number" ? checkPortNumber(target) : checkPortName(target);
  return wrong.map((why) => invalid(where, target, why));
}
