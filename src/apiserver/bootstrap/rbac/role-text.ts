/**
 * Roles as text:
 *
 *     system:aggregate-to-edit to=edit            a role; the roles that it aggregates to
 *       read,edit apps deployments                verbs, API groups, resources
 *       update core configmaps cluster-info       … and the names of objects
 *       get /healthz,/livez                       verbs, paths
 *     admin from=admin                            a role that aggregates others
 *
 * `core` is the group without a name, `read` and `edit` stand for their verbs, `record-events` for what recorders of
 * Events need.
 */

import type { rbac } from "#api";
import { table } from "#base";

export interface RoleData {
  readonly namespace?: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Null where there are none, as Kubernetes writes it. */
  readonly rules: readonly rbac.PolicyRule[] | null;
  readonly aggregationRule?: rbac.AggregationRule;
}

const VERBS: Readonly<Record<string, readonly string[]>> = table({
  read: ["get", "list", "watch"],
  edit: ["create", "delete", "deletecollection", "patch", "update"],
});
const AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-";

export function parseRoles(text: string, { namespaced = false, prefix = "" } = {}): readonly RoleData[] {
  if (text.trim() === "") return [];
  return text
    .trim()
    .split(/\n(?! )/)
    .map((block) => {
      const [head = "", ...lines] = block.split("\n");
      const rules = lines.map((line) => rule(line.trim().split(" ")));
      return { ...role(head.split(" "), namespaced, prefix), rules: rules.length === 0 ? null : rules };
    });
}

function role(words: readonly string[], namespaced: boolean, prefix: string): Omit<RoleData, "rules"> {
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
