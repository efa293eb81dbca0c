/** The SELinux labels with which a Pod uses its volumes. Pure. */
import type { core } from "#api";
import type { Pod } from "../pods/index.ts";

const PARTS = 4;

/**
 * user:role:type:level, with what the Pod says alone: the rest is filled in by its node, which may run another
 * distribution. Empty if it says nothing.
 */
export function labelOf({ user = "", role = "", type = "", level = "" }: core.SELinuxOptions): string {
  const label = [user, role, type, level].join(":");
  return label === ":::" ? "" : label;
}

/** A part that one of them leaves to the node conflicts with nothing. */
export function labelsConflict(one: string, other: string): boolean {
  const [parts, others] = [partsOf(one), partsOf(other)];
  return parts.some((part, at) => part !== "" && others[at] !== "" && part !== others[at]);
}

/** Of each volume that containers mount: all their labels. A container's own options replace the Pod's. */
export function volumeLabels({ spec }: Pod): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  for (const { securityContext, volumeMounts = [] } of containers) {
    const options = securityContext?.seLinuxOptions ?? spec?.securityContext?.seLinuxOptions;
    for (const { name } of volumeMounts) {
      const labels = found.get(name) ?? new Set();
      found.set(name, options === undefined ? labels : labels.add(labelOf(options)));
    }
  }
  return found;
}

/** A level has colons of its own. */
function partsOf(label: string): string[] {
  const [user = "", role = "", type = "", ...level] = label.split(":");
  return [user, role, type, level.join(":")].slice(0, PARTS);
}
