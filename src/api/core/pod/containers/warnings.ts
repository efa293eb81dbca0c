/** Warnings about duplicate environment variables and duplicate ports. */
import type { FieldPath } from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import type { ContainerPort, EnvVar } from "../../../types/core-v1.ts";
import type { PlacedContainer } from "../fields/visit.ts";

/** A second definition that refers to the first (`$(A)-more`) is intended. */
export function envWarnings(vars: readonly EnvVar[], at: FieldPath): readonly string[] {
  const seen = new Set<string>();
  return vars.flatMap(({ name, value = "", valueFrom }, i) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    if (!isRepeated || (valueFrom === undefined && value !== reference && value.includes(reference))) return [];
    return [`${at.index(i)}: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`];
  });
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly path: FieldPath;
}

export function portWarnings(containers: readonly PlacedContainer[]): readonly string[] {
  const known = new Map<string, PlacedPort[]>();
  const warnings: string[] = [];
  for (const { container, path: at } of containers) {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const path = at.child("ports").index(i);
      if (port.hostIP && !port.hostPort) warnings.push(`${path}: hostIP set without hostPort: ${portText(port)}`);
      const key = `${port.containerPort}/${port.protocol}`;
      const others = known.get(key) ?? [];
      for (const other of others) {
        const relation = relationOf(port, other.port);
        if (relation !== undefined) warnings.push(`${path}: ${relation} port definition with ${other.path}`);
      }
      known.set(key, [...others, { port, path }]);
    }
  }
  return [...warnings, ...portNameWarnings(containers)];
}

function portNameWarnings(containers: readonly PlacedContainer[]): readonly string[] {
  const known = new Map<string, FieldPath>();
  const warnings: string[] = [];
  for (const { container, path: at } of containers) {
    for (const [i, { name }] of (container.ports ?? []).entries()) {
      if (!name) continue;
      const path = at.child("ports").index(i);
      const first = known.get(name);
      if (first === undefined) known.set(name, path);
      else {
        const effect = `services and probes that select ports by name will use ${first}`;
        warnings.push(`${path}: duplicate port name ${goQuote(name)} with ${first}, ${effect}`);
      }
    }
  }
  return warnings;
}

function relationOf(a: ContainerPort, b: ContainerPort): string | undefined {
  const samePort = (a.hostPort ?? 0) === (b.hostPort ?? 0);
  if (samePort && (a.hostIP ?? "") === (b.hostIP ?? "")) return "duplicate";
  if (!a.hostPort || !b.hostPort) return "overlapping";
  return samePort && !a.hostIP !== !b.hostIP ? "dangerously ambiguous" : undefined;
}

function portText({ name = "", hostPort = 0, containerPort, protocol, hostIP = "" }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ""} HostIP:${hostIP}}`;
}
