/**
 * Roles as text:
 *
 *     system:aggregate-to-edit to=edit            a role; what it is a part of
 *       read,edit apps deployments                verbs, API groups, resources
 *       update core configmaps cluster-info       … and the names of objects
 *       get /healthz,/livez                       verbs, paths
 *     admin from=admin                            a role that is made of others
 *
 * `core` is the group without a name, `read` and `edit` stand for their verbs, `record-events` for what everyone needs who tells of events.
 */
import type { Draft, rbac } from "#api";

export interface RoleData {
  readonly namespace?: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Null as the original writes it where there are none. */
  readonly rules: readonly rbac.PolicyRule[] | null;
  readonly aggregationRule?: rbac.AggregationRule;
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  read: ["get", "list", "watch"],
  edit: ["create", "delete", "deletecollection", "patch", "update"],
};
const AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-";

export function parseRoles(text: string, { namespaced = false, prefix = "" } = {}): readonly RoleData[] {
  const roles: (Omit<Draft<RoleData>, "rules"> & { rules: rbac.PolicyRule[] | null })[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const words = line.trim().split(" ");
    if (line.startsWith("  "))
      (roles[roles.length - 1] ?? fail(line)).rules = [...(roles.at(-1)?.rules ?? []), rule(words)];
    else roles.push({ ...role(words, namespaced, prefix), rules: null });
  }
  return roles;
}

function role(words: readonly string[], namespaced: boolean, prefix: string): Omit<Draft<RoleData>, "rules"> {
  const [first = "", ...others] = words;
  const [namespace, name, options] = namespaced
    ? [first, others[0] ?? "", others.slice(1)]
    : [undefined, first, others];
  const part = (key: string) => options.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
  const [to, from] = [part("to"), part("from")];
  return {
    ...(namespace !== undefined && { namespace }),
    name: prefix + name,
    labels: to === undefined ? {} : { [AGGREGATE + to]: "true" },
    ...(from !== undefined && {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [AGGREGATE + from]: "true" } }] },
    }),
  };
}

function rule(words: readonly string[]): rbac.PolicyRule {
  const [verbs = "", groups = "", resources = "", names] = words;
  if (verbs === "record-events")
    return { verbs: ["create", "patch", "update"], apiGroups: ["", "events.k8s.io"], resources: ["events"] };
  const all = verbs
    .split(",")
    .flatMap((verb) => VERBS[verb] ?? verb)
    .sort();
  if (resources === "") return { verbs: all, nonResourceURLs: groups.replace("url:", "").split(",") };
  return {
    verbs: all,
    apiGroups: groups.split(",").map((group) => (group === "core" ? "" : group)),
    resources: resources.split(","),
    ...(names !== undefined && { resourceNames: names.split(",") }),
  };
}

function fail(line: string): never {
  throw new Error(`a rule without a role: ${line}`);
}
