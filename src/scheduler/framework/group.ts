/**
 * PodGroups as the scheduler sees them: Pods of one group are tried together.
 */
import type { core, schedulingV1alpha2 } from "#api";

export type PodGroup = schedulingV1alpha2.PodGroup;

export interface Group {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined until it is created. */
  readonly object: PodGroup | undefined;
  /** Its Pods that exist and have not ended, with and without a node, by uid. */
  readonly pods: ReadonlyMap<string, core.Pod>;
}

export interface Groups {
  /** Undefined for a Pod without a group. */
  of(pod: core.Pod): Group | undefined;
  named(key: string): Group | undefined;
  /** Calls back when a group's object appears or changes, and when a Pod joins it. */
  onChange(handler: (group: Group) => void): void;
}

/** The key of the group that a Pod names. */
export function groupKeyOf({ metadata, spec }: core.Pod): string | undefined {
  const name = spec?.schedulingGroup?.podGroupName;
  return name === undefined ? undefined : `${metadata.namespace ?? ""}/${name}`;
}

/** How many Pods have to have a node before any of them gets one: 1 without the gang policy. */
export function minCountOf({ object }: Group): number {
  return object?.spec.schedulingPolicy.gang?.minCount ?? 1;
}
