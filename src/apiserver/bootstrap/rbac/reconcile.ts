/**
 * Adds what a stored role or binding lacks of this version's defaults, and removes nothing. Objects with
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` are left unchanged.
 */
import { equalJson, type Json, type KubeObject, type rbac } from "#api";
import { uncovered } from "../../authz/rbac/covers.ts";

export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

type Role = rbac.ClusterRole;
type Binding = rbac.ClusterRoleBinding;

/** The object as it should be; undefined if it is complete. */
export function missing<T extends Role | Binding>(wanted: T, found: T): T | undefined {
  if (found.metadata.annotations?.[AUTO_UPDATE] === "false") return undefined;
  const metadata = withMetadata(wanted, found);
  const next = {
    ...found,
    metadata,
    ...("roleRef" in wanted ? moreSubjects(wanted, found as Binding) : moreRules(wanted, found as Role)),
  };
  return equalJson(next as unknown as Json, found as unknown as Json) ? undefined : (next as T);
}

function withMetadata({ metadata: wanted }: KubeObject, { metadata }: KubeObject): KubeObject["metadata"] {
  return {
    ...metadata,
    labels: { ...metadata.labels, ...wanted.labels },
    annotations: { ...wanted.annotations, ...metadata.annotations },
  };
}

function moreRules(wanted: Role, found: Role): Partial<Role> {
  const selectors = [...(found.aggregationRule?.clusterRoleSelectors ?? [])];
  for (const selector of wanted.aggregationRule?.clusterRoleSelectors ?? []) {
    if (!selectors.some((one) => same(one, selector))) selectors.push(selector);
  }
  // The rules of an aggregated role are set by the aggregation.
  if (selectors.length > 0) return { aggregationRule: { ...found.aggregationRule, clusterRoleSelectors: selectors } };
  const rules = found.rules ?? [];
  const lacking = (wanted.rules ?? []).filter((rule) => !covers(rules, rule));
  return lacking.length === 0 ? {} : { rules: [...rules, ...lacking] };
}

function moreSubjects(wanted: Binding, found: Binding): Partial<Binding> {
  const subjects = found.subjects ?? [];
  const lacking = (wanted.subjects ?? []).filter((subject) => !subjects.some((one) => same(one, subject)));
  return lacking.length === 0 ? {} : { subjects: [...subjects, ...lacking] };
}

/** Whether the rules together grant everything that a rule grants. */
export function covers(rules: readonly rbac.PolicyRule[], wanted: rbac.PolicyRule): boolean {
  return uncovered(rules, [wanted]).length === 0;
}

function same(a: unknown, b: unknown): boolean {
  return equalJson(a as Json, b as Json);
}
