/** Container ports and host ports. */

import { requireOneOf } from "../../../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  required,
} from "../../../machinery/errors/field-error.ts";
import { checkPortName, checkPortNumber } from "../../../machinery/names/names.ts";
import type { Container, ContainerPort, PodSpec } from "../../../types/core-v1.ts";

const protocols = ["SCTP", "TCP", "UDP"];

export function validatePorts(ports: readonly ContainerPort[], at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [i, { name = "", containerPort, hostPort = 0, protocol }] of ports.entries()) {
    const path = at.index(i);
    const nameFaults = name === "" ? [] : checkPortName(name);
    errors.push(...nameFaults.map((why) => invalid(path.child("name"), name, why)));
    if (name !== "" && nameFaults.length === 0) {
      if (names.has(name)) errors.push(duplicate(path.child("name"), name));
      names.add(name);
    }
    if (!containerPort) errors.push(required(path.child("containerPort")));
    else errors.push(...portFaults(containerPort, path.child("containerPort")));
    if (hostPort !== 0) errors.push(...portFaults(hostPort, path.child("hostPort")));
    errors.push(...requireOneOf(protocol, protocols, path.child("protocol")));
  }
  return errors;
}

export function portFaults(port: number, at: FieldPath): readonly FieldError[] {
  return checkPortNumber(port).map((why) => invalid(at, port, why));
}

export function validatePortOrName(port: number | string, at: FieldPath): readonly FieldError[] {
  if (typeof port === "number") return portFaults(port, at);
  return checkPortName(port).map((why) => invalid(at, port, why));
}

/** Containers that run at the same time cannot share a port of the host. */
export function validateHostPorts(containers: readonly Container[], at: FieldPath): readonly FieldError[] {
  if (!containers.some(({ ports }) => ports?.some(({ hostPort = 0 }) => hostPort !== 0))) return NO_ERRORS;
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [i, { ports = [] }] of containers.entries()) {
    for (const [j, { hostPort = 0, hostIP = "", protocol = "" }] of ports.entries()) {
      if (hostPort === 0) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) errors.push(duplicate(at.index(i).child("ports").index(j).child("hostPort"), key));
      taken.add(key);
    }
  }
  return errors;
}

/**
 * On the host's network a container port is a host port. A template may leave the host port to the pods made from it.
 */
export function validateHostNetworkPorts(spec: PodSpec, at: FieldPath, isPod: boolean): readonly FieldError[] {
  if (spec.hostNetwork !== true) return NO_ERRORS;
  return (spec.containers ?? []).flatMap(({ ports = [] }, i) =>
    ports.flatMap(({ hostPort = 0, containerPort }, j) => {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) return [];
      const where = at.child("containers").index(i).child("ports").index(j).child("hostPort");
      return [invalid(where, hostPort, "must match `containerPort` when `hostNetwork` is true")];
    }),
  );
}
