/** Which roles would allow a request. */
import type { rbac } from "#api";

export interface Wanted {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** "": any name. */
  readonly name: string;
}

type Role = rbac.Role | rbac.ClusterRole;

/** Well-known roles first, narrow ones before wide ones. */
const KNOWN = ["view", "edit", "admin", "cluster-admin"];

export function rolesThatGrant<T extends Role>(roles: readonly T[], wanted: Wanted): T[] {
  const rank = ({ metadata: { name = "" } }: Role) => {
    const known = KNOWN.indexOf(name);
    if (known !== -1) return known;
    return name.startsWith("system:") ? 100 : 50;
  };
  return roles
    .filter(({ rules }) => (rules ?? []).some((rule) => grants(rule, wanted)))
    .sort((a, b) => rank(a) - rank(b));
}

function grants(
  { verbs, apiGroups = [], resources = [], resourceNames = [] }: rbac.PolicyRule,
  wanted: Wanted,
): boolean {
  const covers = (words: readonly string[], word: string) => words.includes("*") || words.includes(word);
  return (
    covers(verbs, wanted.verb) &&
    covers(apiGroups, wanted.group) &&
    covers(resources, wanted.resource) &&
    (resourceNames.length === 0 || resourceNames.includes(wanted.name))
  );
}
