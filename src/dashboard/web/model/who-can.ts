/**
 * "Who can VERB RESOURCE [in NAMESPACE]": from roles and bindings, by RBAC's rules. Other authorizers and the members
 * of groups are not known here.
 */
import type { rbac } from "#api";

export interface Wanted {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, such as `pods/log`. */
  readonly resource: string;
  /** Empty: in all namespaces. */
  readonly namespace: string;
  /** Empty: any, or those that are not created yet. */
  readonly name: string;
}

export interface Rules {
  readonly roles: readonly rbac.Role[];
  readonly clusterRoles: readonly rbac.ClusterRole[];
  readonly roleBindings: readonly rbac.RoleBinding[];
  readonly clusterRoleBindings: readonly rbac.ClusterRoleBinding[];
}

export interface Holder {
  readonly kind: string;
  readonly name: string;
  /** Of a service account. */
  readonly namespace: string;
  readonly through: readonly Grant[];
}

export interface Grant {
  readonly binding: string;
  readonly role: string;
  /** The namespace it applies to; empty: all. */
  readonly namespace: string;
}

export function whoCan(wanted: Wanted, rules: Rules): Holder[] {
  const holders = new Map<string, Holder & { through: Grant[] }>();
  const grant = (subjects: readonly rbac.Subject[] = [], given: Grant) => {
    for (const { kind = "", name = "", namespace = "" } of subjects) {
      const key = `${kind} ${namespace} ${name}`;
      const known = holders.get(key);
      if (known === undefined) holders.set(key, { kind, name, namespace, through: [given] });
      else known.through.push(given);
    }
  };
  for (const { metadata, roleRef, subjects } of rules.clusterRoleBindings) {
    const role = rules.clusterRoles.find((each) => each.metadata?.name === roleRef?.name);
    if (role?.rules?.some((rule) => covers(rule, wanted))) {
      grant(subjects, {
        binding: `ClusterRoleBinding ${metadata?.name}`,
        role: `ClusterRole ${roleRef?.name}`,
        namespace: "",
      });
    }
  }
  for (const { metadata, roleRef, subjects } of rules.roleBindings) {
    const namespace = metadata?.namespace ?? "";
    if (wanted.namespace !== namespace) continue;
    const isCluster = roleRef?.kind === "ClusterRole";
    const role = isCluster
      ? rules.clusterRoles.find((each) => each.metadata?.name === roleRef?.name)
      : rules.roles.find((each) => each.metadata?.name === roleRef?.name && each.metadata?.namespace === namespace);
    if (role?.rules?.some((rule) => covers(rule, wanted))) {
      grant(subjects, {
        binding: `RoleBinding ${metadata?.name}`,
        role: `${roleRef?.kind} ${roleRef?.name}`,
        namespace,
      });
    }
  }
  return [...holders.values()].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

/** `deployments.apps/scale` is `deployments/scale` of the group `apps`, as rules write it. */
export function resourceNamed(name: string): { readonly plural: string; readonly group: string } {
  const [whole = "", subresource] = name.split("/", 2);
  const [plural = "", ...group] = whole.split(".");
  return { plural: subresource === undefined ? plural : `${plural}/${subresource}`, group: group.join(".") };
}

/** Verbs of authorization that no request of a resource has, each with the resources that it is about. */
const BEYOND_REQUESTS: Readonly<Record<string, RegExp>> = {
  bind: /^(cluster)?roles\.rbac\.authorization\.k8s\.io$/,
  escalate: /^(cluster)?roles\.rbac\.authorization\.k8s\.io$/,
  impersonate: /^(users|groups|serviceaccounts|uids\.authentication\.k8s\.io|userextras\.authentication\.k8s\.io\/.+)$/,
  approve: /^signers\.certificates\.k8s\.io$/,
  sign: /^signers\.certificates\.k8s\.io$/,
  attest: /^signers\.certificates\.k8s\.io$/,
};

/** Why nobody can ask this of the server, whatever the rules say; undefined if somebody can. */
export function doubtAbout(
  verb: string,
  resource: string,
  accessible: readonly { readonly name: string; readonly verbs: readonly string[] }[],
): string | undefined {
  if (verb === "*" || resource === "*" || BEYOND_REQUESTS[verb]?.test(resource)) return undefined;
  const found = accessible.find(({ name }) => name === resource);
  if (found === undefined) {
    const near = accessible.find(({ name }) => name.startsWith(`${resource}.`));
    return `The server has no resource “${resource}”${near === undefined ? "" : `: “${near.name}”?`}`;
  }
  if (found.verbs.includes(verb)) return undefined;
  return `“${resource}” has no verb “${verb}”: it has ${found.verbs.join(", ")}.`;
}

function nameOf({ kind, namespace, name }: Holder): string {
  return `${kind} ${namespace} ${name}`;
}

export function covers(
  { verbs = [], apiGroups = [], resources = [], resourceNames = [] }: rbac.PolicyRule,
  wanted: Wanted,
): boolean {
  const { verb, group, resource, name } = wanted;
  return (
    (verbs.includes("*") || verbs.includes(verb)) &&
    (apiGroups.includes("*") || apiGroups.includes(group)) &&
    resources.some((each) => coversResource(each, resource)) &&
    (resourceNames.length === 0 || (name !== "" && resourceNames.includes(name)))
  );
}

function coversResource(written: string, resource: string): boolean {
  if (written === "*" || written === resource) return true;
  const slash = resource.indexOf("/");
  return slash !== -1 && written === `*${resource.slice(slash)}`;
}
