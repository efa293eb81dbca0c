/** The evaluator of each resource. */
import { claimQuota } from "./claims.ts";
import type { QuotaEvaluator } from "./evaluator.ts";
import { objectCount } from "./object-count.ts";
import { podQuota } from "./pods.ts";
import { resourceClaimQuota } from "./resource-claims.ts";
import { serviceQuota } from "./services.ts";

/** Resources with rules or names of their own. */
export const quotaEvaluators: readonly QuotaEvaluator[] = [
  podQuota,
  serviceQuota,
  claimQuota,
  resourceClaimQuota,
  objectCount("", "configmaps", "configmaps"),
  objectCount("", "resourcequotas", "resourcequotas"),
  objectCount("", "replicationcontrollers", "replicationcontrollers"),
  objectCount("", "secrets", "secrets"),
];

/** Resources that are not stored, or that quotas never counted. */
const IGNORED = new Set([
  "/bindings",
  "/componentstatuses",
  "authentication.k8s.io/tokenreviews",
  "authentication.k8s.io/selfsubjectreviews",
  "authorization.k8s.io/subjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "/events",
  "events.k8s.io/events",
]);

/** Undefined for resources that no quota can limit. */
export function evaluatorFor(group: string, plural: string): QuotaEvaluator | undefined {
  if (IGNORED.has(`${group}/${plural}`)) return undefined;
  return quotaEvaluators.find((each) => each.group === group && each.plural === plural) ?? objectCount(group, plural);
}
