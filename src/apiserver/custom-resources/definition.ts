/** What the server reads in a CustomResourceDefinition, and the conditions of its status. */
import { type apiextensions, type ConditionFacts, formatTime, instantOf, type KubeObject } from "#api";
import { STORE_PREFIX } from "../rest/resource.ts";

export type Definition = apiextensions.CustomResourceDefinition;
export type Version = apiextensions.CustomResourceDefinitionVersion;

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
export const GROUP = "apiextensions.k8s.io";
export const PLURAL = "customresourcedefinitions";
export const DEFINITIONS_PREFIX = `${STORE_PREFIX}${GROUP}/${PLURAL}/`;

/** Built-in resources that are stored where the instances of a definition of the same name would be stored. */
const BUILT_IN: ReadonlySet<string> = new Set([`${GROUP}/${PLURAL}`, "apiregistration.k8s.io/apiservices"]);

export function asDefinition(object: KubeObject): Definition {
  return object as unknown as Definition;
}

export function nameOf({ metadata }: Definition): string {
  return metadata.name ?? "";
}

export function storageVersionOf({ spec }: Definition): string | undefined {
  return spec.versions.find(({ storage }) => storage)?.name;
}

export function apiVersionIn({ spec }: Definition, version: string): string {
  return `${spec.group}/${version}`;
}

/** The store prefix of its instances, by the accepted plural name. */
export function instancesPrefix({ spec, status }: Definition): string {
  return `${STORE_PREFIX}${spec.group}/${status?.acceptedNames?.plural ?? spec.names.plural}/`;
}

export function overlapsBuiltIn({ spec }: Definition): boolean {
  return BUILT_IN.has(`${spec.group}/${spec.names.plural}`);
}

/** Marked for deletion, with its instances still to be deleted. */
export function isTerminating({ metadata }: Definition): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}

export type ConditionType =
  | "Established"
  | "KubernetesAPIApprovalPolicyConformant"
  | "NamesAccepted"
  | "NonStructuralSchema"
  | "Terminating";

type Conditions = NonNullable<NonNullable<Definition["status"]>["conditions"]>;

export function conditionsOf({ status }: Definition): Conditions {
  return status?.conditions ?? [];
}

/**
 * The conditions with this one set; without it if `facts` is undefined. A new condition comes last, and
 * lastTransitionTime changes only with the status. Returns the same list if nothing changes.
 */
export function withCondition(
  conditions: Conditions,
  type: ConditionType,
  facts: ConditionFacts | undefined,
  now: number,
): Conditions {
  const before = conditions.find((condition) => condition.type === type);
  if (facts === undefined) return before === undefined ? conditions : conditions.filter((it) => it !== before);
  const { status, reason, message } = facts;
  if (before !== undefined && before.status === status && before.reason === reason && before.message === message) {
    return conditions;
  }
  const lastTransitionTime =
    before?.status === status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : formatTime(instantOf(now));
  const after = { type, status, lastTransitionTime, reason, message };
  if (before === undefined) return [...conditions, after];
  return conditions.map((condition) => (condition === before ? after : condition));
}
