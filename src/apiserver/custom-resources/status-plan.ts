/**
 * The status that a definition should have: pure, from the definition and all others.
 *
 * 1. Returns the same status object if nothing differs: nothing is written then, so several servers on one store come
 *    to rest.
 * 2. Once established, a definition stays established, under its accepted names.
 */
import { X509Certificate } from "node:crypto";
import {
  acceptNames,
  apiApproval,
  type ConditionFacts,
  equalJson,
  isConditionTrue,
  type Json,
  nonStructuralSchema,
} from "#api";
import { caBundleOf } from "../outbound/webhook-client.ts";
import { conditionsOf, type Definition, withCondition } from "./definition.ts";

type Status = NonNullable<Definition["status"]>;

export interface StatusFacts {
  /** All definitions of the group, this one included. */
  readonly all: Iterable<Definition>;
  readonly now: number;
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

export function planStatus(definition: Definition, { all, now }: StatusFacts): Status {
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

/**
 * Whether there is nothing to plan: all its names are accepted, and it is not being deleted. True of most, most of the
 * time.
 */
export function isSettled(definition: Definition): boolean {
  return (
    definition.metadata.deletionTimestamp === undefined &&
    isConditionTrue(definition, "NamesAccepted") &&
    isConditionTrue(definition, "Established") &&
    isSame(definition.spec.names, definition.status?.acceptedNames)
  );
}

/** Whether its kinds can be served: it has accepted names, and at some time had all that it asks for. */
export function isServable(definition: Definition): boolean {
  const { plural = "", kind = "" } = definition.status?.acceptedNames ?? {};
  if (plural === "" || kind === "") return false;
  return isConditionTrue(definition, "NamesAccepted") || isConditionTrue(definition, "Established");
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Whether every certificate of its conversion webhook can be parsed; true without a webhook or a bundle. */
function hasValidCaBundle({ spec }: Definition): boolean {
  const config = spec.conversion?.webhook?.clientConfig;
  const pem = config === undefined ? undefined : caBundleOf(config);
  if (pem === undefined) return true;
  const blocks = pem.match(BLOCK) ?? [];
  return blocks.length > 0 && blocks.every(isReadable);
}

function isReadable(block: string): boolean {
  try {
    new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}
