/**
 * An admission plugin: looks at a write before it is stored, and may change or refuse it.
 *
 * 1. Plugins run in the order of the chain: all that mutate, then, after the kind's own validation, all that validate.
 * 2. A plugin reads the cluster from the caches, as new as they are, and writes nothing.
 */
import type { KubeObject } from "#api";
import type { Random } from "#base";
import type { AdmissionAttributes } from "../rest/server-context.ts";

export interface AdmissionPlugin {
  /** As `--enable-admission-plugins` calls it. */
  readonly name: string;
  mutate?(attributes: AdmissionAttributes, cluster: ClusterView): void | Promise<void>;
  validate?(attributes: AdmissionAttributes, cluster: ClusterView): void | Promise<void>;
}

export interface ClusterView {
  get<T extends KubeObject>(
    group: string,
    version: string,
    plural: string,
    namespace: string,
    name: string,
  ): T | undefined;
  list<T extends KubeObject>(group: string, version: string, plural: string): Iterable<T>;
  /** Waits until the caches show all that the store has acknowledged. */
  fresh(): Promise<void>;
  readonly random: Random;
}

/** Whether a write is about objects of this kind themselves. */
export function isAbout({ resource, subresource }: AdmissionAttributes, group: string, plural: string): boolean {
  return subresource === "" && resource.kind.group === group && resource.kind.names.plural === plural;
}
