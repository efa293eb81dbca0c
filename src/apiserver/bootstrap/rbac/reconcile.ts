/**
 * What a role or a binding that is there lacks of what this version wants: more is added, nothing is taken away.
 * Whoever sets `rbac.authorization.kubernetes.io/autoupdate` to `false` is left alone.
 */
import { equalJson, type Json, type KubeObject, type rbac } from "#api";

export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

type Role = rbac.ClusterRole;
type Binding = rbac.ClusterRoleBinding;

/** The object as it should be; undefined if it is. */
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
  // The rules of an aggregated role are the aggregation's.
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

/** Whether every single right of a rule is given by some rule. */
export function covers(rules: readonly rbac.PolicyRule[], wanted: rbac.PolicyRule): boolean {
  if (rules.some((rule) => same(rule, wanted))) return true;
  return single(wanted).every((right) => rules.some((rule) => gives(rule, right)));
}

interface Right {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly url?: string;
}

function single({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: rbac.PolicyRule): readonly Right[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((url) => ({ verb, url })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        names.map((name) => ({ verb, group, resource, ...(name !== undefined && { name }) })),
      ),
    ),
  ]);
}

function gives(rule: rbac.PolicyRule, { verb, group, resource, name, url }: Right): boolean {
  const has = (list: readonly string[] | undefined, value: string) =>
    list?.includes(value) === true || list?.includes("*") === true;
  if (!has(rule.verbs, verb)) return false;
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((path) => path === url || matchesPrefix(path, url));
  if (!has(rule.apiGroups, group ?? "")) return false;
  const [, part] = (resource ?? "").split("/");
  if (!has(rule.resources, resource ?? "") && !(part !== undefined && rule.resources?.includes(`*/${part}`)))
    return false;
  const names = rule.resourceNames ?? [];
  return names.length === 0 || (name !== undefined && names.includes(name));
}

function matchesPrefix(pattern: string, path: string): boolean {
  return pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1));
}

function same(a: unknown, b: unknown): boolean {
  return equalJson(a as Json, b as Json);
}
