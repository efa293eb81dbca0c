/**
 * An admission plugin: looks at a write before it is stored, and may change or refuse it.
 *
 * 1. Plugins run in the order of the chain: all that mutate, then, after the kind's own validation, all that validate.
 * 2. A plugin is a list of rules, each of which says what it is about. Whatever no rule is about costs nothing.
 * 3. A rule changes `attributes.object` in place, if it mutates, and refuses by throwing a StatusError. It returns a promise only if it has to wait.
 * 4. A rule reads the cluster from the caches, as new as they are.
 * 5. A rule may be asked twice about one object, if a webhook or a policy has changed it since: it does nothing that it has done already.
 */
import { type core, type Draft, forbidden, type KubeObject, type StatusError } from "#api";
import type { Clock, Random } from "#base";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { Rounds } from "./rounds.ts";

export type Operation = AdmissionAttributes["operation"];
export type Admit = (attributes: AdmissionAttributes, cluster: ClusterView, rounds: Rounds) => void | Promise<void>;

export interface AdmissionPlugin {
  /** As `--enable-admission-plugins` calls it. */
  readonly name: string;
  readonly mutates?: readonly Rule[];
  readonly validates?: readonly Rule[];
  /** Lets go of what it holds, such as connections. */
  close?(): void;
}

export interface Rule {
  readonly operations: readonly Operation[];
  readonly resources: readonly string[];
  /** Only resources of this scope. Default: of both. */
  readonly scope?: "Namespaced" | "Cluster";
  readonly admit: Admit;
}

// A rule, with its operations and resources separated by blanks. A resource is `pods`, `pods/status`, `pods/*` for each of its subresources,
// `leases.coordination.k8s.io` with its group, `*` for objects of all resources, `*/*` for all and their subresources.
export function rule(operations: string, resources: string, admit: Admit, scope?: Rule["scope"]): Rule {
  return {
    operations: operations.split(" ") as Operation[],
    resources: resources.split(" "),
    admit,
    ...(scope !== undefined && { scope }),
  };
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
  /** Those of one namespace, sorted by name. */
  listIn<T extends KubeObject>(group: string, version: string, plural: string, namespace: string): readonly T[];
  /** Waits until the caches show all that the store has acknowledged. */
  fresh(): Promise<void>;
  readonly random: Random;
  readonly clock: Clock;
}

/** The refusal of a plugin: 403, and why. */
export function refused({ resource, name, object }: AdmissionAttributes, why: string): StatusError {
  return forbidden(resource.groupResource, name || object?.metadata.name || unnamed(object), why);
}

function unnamed(object: KubeObject | undefined): string {
  return object?.metadata.generateName || "Unknown";
}

/** The Pod that a rule about pods may change. */
export function podOf({ object }: AdmissionAttributes): Draft<core.Pod> & { spec: Draft<core.PodSpec> } {
  const pod = object as Draft<core.Pod>;
  pod.spec ??= { containers: [] };
  // Missing, or null: validation has yet to refuse it.
  pod.spec.containers ??= [];
  return pod as Draft<core.Pod> & { spec: Draft<core.PodSpec> };
}

export const MIRROR_POD = "kubernetes.io/config.mirror";
