/**
 * PodGroups as the scheduler sees them: Pods of one group are tried together.
 */
import type { core, schedulingV1alpha2 } from "#api";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

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

/** A part of the cluster. */
export interface NodeSubset {
  /** Why other nodes are left out. */
  readonly reason: string;
  readonly names: ReadonlySet<string>;
}

/** Where the Pods of a group would be. */
export interface GroupPlacement {
  /** All nodes of the subset, with the Pods of the group on them. */
  readonly nodes: readonly NodeInfo[];
  /** Pods of the group that have a node there. */
  readonly pods: readonly PodInfo[];
}

/** A group that does not fit, for a plugin that may make room for it. */
export interface GroupNoFit {
  readonly group: Group;
  /** Those that wait, in the order in which they are tried. */
  readonly pods: readonly PodInfo[];
  /** Takes placed Pods out of the cluster; they come back at the latest when the plugin returns. */
  remove(pods: readonly PodInfo[]): void;
  putBack(pods: readonly PodInfo[]): void;
  /** Places the group on the present state: the node of each Pod by uid; undefined: not so, and all stays as it was. */
  place(): ReadonlyMap<string, string> | undefined;
  /** Whether the Pods that `place` has placed fit where they are; only changes on these nodes have to be looked at. */
  stillFits(changed: ReadonlySet<string>): boolean;
}

export type GroupPostFiltered =
  /** Room is being made: Pods are nominated to nodes, by uid. */
  | { readonly kind: "nominated"; readonly nodes: ReadonlyMap<string, string> }
  /** `clears`: removes earlier nominations. */
  | { readonly kind: "rejected"; readonly message: string; readonly clears: boolean };
