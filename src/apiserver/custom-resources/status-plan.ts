/**
 * What the status of a definition should say: pure, from the definition and all others.
 *
 * 1. What is true already is not written again: the status that comes out is the one that went in if nothing differs, so that several servers
 *    on one store come to rest.
 * 2. Once established, a definition stays so, under the names that it has been given.
 */
import {
  acceptNames,
  apiApproval,
  type ConditionFacts,
  equalJson,
  isConditionTrue,
  type Json,
  nonStructuralSchema,
} from "#api";
import { conditionsOf, withCondition } from "./conditions.ts";
import type { Definition } from "./definition.ts";

type Status = NonNullable<Definition["status"]>;

export interface StatusFacts {
  /** Every definition that there is. */
  readonly all: Iterable<Definition>;
  readonly now: number;
  /** Whether the certificates of a conversion webhook can be read. */
  hasValidCaBundle(definition: Definition): boolean;
}

const ESTABLISHED: ConditionFacts = {
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};
const NOT_ACCEPTED: ConditionFacts = {
  status: "False",
  reason: "NotAccepted",
  message: "not all names are accepted",
};
const INVALID_CA_BUNDLE: ConditionFacts = {
  status: "False",
  reason: "InvalidCABundle",
  message: "The conversion webhook CABundle is invalid",
};

export function planStatus(definition: Definition, { all, now, hasValidCaBundle }: StatusFacts): Status {
  const { names, condition } = acceptNames(definition, all);
  const before = definition.status ?? {};
  let conditions = conditionsOf(definition);
  conditions = withCondition(conditions, "NonStructuralSchema", nonStructuralSchema(definition), now);
  const approval = apiApproval(definition);
  if (approval !== undefined) {
    conditions = withCondition(conditions, "KubernetesAPIApprovalPolicyConformant", approval, now);
  }
  conditions = withCondition(conditions, "NamesAccepted", condition, now);
  if (!isConditionTrue(definition, "Established")) {
    const established =
      condition.status !== "True" ? NOT_ACCEPTED : hasValidCaBundle(definition) ? ESTABLISHED : INVALID_CA_BUNDLE;
    conditions = withCondition(conditions, "Established", established, now);
  }
  const same = conditions === before.conditions && isSame(names, before.acceptedNames);
  return same ? before : { ...before, conditions, acceptedNames: names };
}

function isSame(a: object, b: object | undefined): boolean {
  return equalJson(a as unknown as Json, (b ?? null) as unknown as Json);
}

/** Whether there is nothing to plan: it has all its names, and is not about to lose them. Most are, most of the time. */
export function isSettled(definition: Definition): boolean {
  return (
    definition.metadata.deletionTimestamp === undefined &&
    isConditionTrue(definition, "NamesAccepted") &&
    isConditionTrue(definition, "Established") &&
    isSame(definition.spec.names, definition.status?.acceptedNames)
  );
}

/** Whether its kinds can be served: it has names, and at some time had all of them. */
export function isServable(definition: Definition): boolean {
  const { plural = "", kind = "" } = definition.status?.acceptedNames ?? {};
  if (plural === "" || kind === "") return false;
  return isConditionTrue(definition, "NamesAccepted") || isConditionTrue(definition, "Established");
}
