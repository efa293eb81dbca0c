/**
 * An admission plugin checks a write before it is stored, and may change or refuse it.
 *
 * 1. All mutating rules run first, in the order of the chain, then all validating rules: `rest/write/order.ts` has the
 *    place of both in a write.
 * 2. A rule names the operations and resources that it handles. A request that no rule handles costs nothing.
 * 3. A mutating rule changes `attributes.object` in place. A rule refuses by throwing a StatusError. It returns a
 *    promise only if it has to wait.
 * 4. A rule reads the cluster from the caches, which may lag behind the store.
 * 5. A rule may run twice for one object, if a webhook or policy has changed it: what it has done already, it does not
 *    do again.
 */
import { type core, type Draft, forbidden, type KubeObject, type StatusError } from "#api";
import type { Clock, Maybe, Random } from "#base";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { Rounds } from "./rounds.ts";

export type Operation = AdmissionAttributes["operation"];
export type Admit = (attributes: AdmissionAttributes, cluster: ClusterView, rounds: Rounds) => Maybe<void>;

export interface AdmissionPlugin {
  /** The name in `--enable-admission-plugins`. */
  readonly name: string;
  readonly mutates?: readonly Rule[];
  readonly validates?: readonly Rule[];
  /** Releases what it holds, such as connections. */
  close?(): void;
}

export interface Rule {
  readonly operations: readonly Operation[];
  readonly resources: readonly string[];
  /** Only resources of this scope. Default: of both. */
  readonly scope?: "Namespaced" | "Cluster" | undefined;
  readonly admit: Admit;
  readonly looks?: Looks | undefined;
}

/**
 * Whether a rule looks at more of the objects of this request than names, uids and owners. Where no rule does, large
 * objects need not be handed over (../../heavy). Default: it does.
 */
export type Looks = (attributes: AdmissionAttributes) => boolean;

// A rule, with its operations and resources separated by blanks. A resource is `pods`, `pods/status`, `pods/*` for each
// of its subresources, `leases.coordination.k8s.io` with its group, `*` for objects of all resources, `*/*` for all and
// their subresources.
export function rule(
  operations: string,
  resources: string,
  admit: Admit,
  { scope, looks }: Pick<Rule, "scope" | "looks"> = {},
): Rule {
  return {
    operations: operations.split(" ") as Operation[],
    resources: resources.split(" "),
    admit,
    scope,
    looks,
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
  /** The objects of one namespace, sorted by name. */
  listIn<T extends KubeObject>(group: string, version: string, plural: string, namespace: string): readonly T[];
  /** Waits until the caches show every write that the store has acknowledged. */
  fresh(): Promise<void>;
  readonly random: Random;
  readonly clock: Clock;
}

/** The error of a plugin that refuses: 403. */
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
  // Missing or null: validation, which refuses that, comes later.
  pod.spec.containers ??= [];
  return pod as Draft<core.Pod> & { spec: Draft<core.PodSpec> };
}

export const MIRROR_POD = "kubernetes.io/config.mirror";
