/**
 * Who uses which volume with which SELinux label and policy, and who is in the way of whom. Pure.
 *
 * 1. Also Pods that will never meet on a node count: nobody knows where they will run.
 * 2. A Pod of another namespace is not named.
 */
import { labelsConflict } from "./labels.ts";

export interface VolumeUse {
  /** With which the volume is mounted; empty: files get labels one by one. */
  readonly label: string;
  /** "MountOption" or "Recursive", as it takes effect. */
  readonly policy: string;
}

export interface Conflict {
  readonly property: "SELinuxLabel" | "SELinuxChangePolicy";
  readonly reason: "SELinuxLabelConflict" | "SELinuxChangePolicyConflict";
  /** Keys of Pods. */
  readonly pod: string;
  readonly value: string;
  readonly otherPod: string;
  readonly otherValue: string;
}

export class VolumeUses {
  readonly #volumes = new Map<string, Map<string, VolumeUse>>();

  /** Returns the conflicts of this Pod with others, and theirs with it. */
  set(volume: string, pod: string, use: VolumeUse): readonly Conflict[] {
    const users = this.#volumes.get(volume) ?? new Map<string, VolumeUse>();
    this.#volumes.set(volume, users.set(pod, use));
    return [...users].flatMap(([otherPod, other]) => [
      ...between(pod, use, otherPod, other),
      ...between(otherPod, other, pod, use),
    ]);
  }

  delete(pod: string): void {
    for (const [volume, users] of this.#volumes) {
      users.delete(pod);
      if (users.size === 0) this.#volumes.delete(volume);
    }
  }

  /** All of now. */
  conflicts(): readonly Conflict[] {
    return [...this.#volumes.values()].flatMap((users) =>
      [...users].flatMap(([pod, use]) => [...users].flatMap(([otherPod, other]) => between(pod, use, otherPod, other))),
    );
  }
}

/** As the first Pod sees them. */
function between(pod: string, use: VolumeUse, otherPod: string, other: VolumeUse): Conflict[] {
  const found: Conflict[] = [];
  if (use.policy !== other.policy)
    found.push({
      ...{ property: "SELinuxChangePolicy", reason: "SELinuxChangePolicyConflict" },
      ...{ pod, value: use.policy, otherPod, otherValue: other.policy },
    });
  if (labelsConflict(use.label, other.label))
    found.push({
      ...{ property: "SELinuxLabel", reason: "SELinuxLabelConflict" },
      ...{ pod, value: use.label, otherPod, otherValue: other.label },
    });
  return found;
}

export function conflictNote({ property, pod, value, otherPod, otherValue }: Conflict): string {
  const [namespace] = pod.split("/");
  const [otherNamespace, otherName] = otherPod.split("/");
  const end = "If both pods land on the same node, only one of them may access the volume.";
  if (namespace === otherNamespace)
    return `${property} "${value}" conflicts with pod ${otherName} that uses the same volume as this pod with ${property} "${otherValue}". ${end}`;
  return `${property} "${value}" conflicts with another pod that uses the same volume as this pod with a different ${property}. ${end}`;
}
