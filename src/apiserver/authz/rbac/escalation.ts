/**
 * Users cannot grant rights that they do not have: checks of writes to roles and bindings, besides the right to write
 * them.
 *
 *     role     the user must hold its rules               unless the user may `escalate` it
 *     binding  the user must hold the rules of its role   unless the user may `bind` it
 *
 * 1. Rules are held by RBAC, in the namespace of the object, or in the whole cluster for cluster-scoped objects.
 * 2. An aggregated role may get any rule: setting or changing its aggregation requires all rights.
 * 3. Members of system:masters pass. So does a change of owner references and finalizers alone: it must not block
 *    garbage collection.
 */

import {
  equalJson,
  forbidden,
  type GroupResource,
  goQuote,
  type Json,
  type KubeObject,
  notFound,
  parseJson,
  type rbac,
  writeJson,
} from "#api";
import { MASTERS, type UserInfo } from "../../identity/user.ts";
import type { GuardedWrite, WriteGuard } from "../../rest/server-context.ts";
import { resourceAttributes } from "../attributes.ts";
import { type Authorizer, isAllowed } from "../authorizer.ts";
import { joinErrors } from "../mode.ts";
import { describeRights, quoted, uncovered } from "./covers.ts";
import { RBAC_GROUP, type Rbac } from "./rbac.ts";

const EVERYTHING: readonly rbac.PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** By `group/plural`. */
export function escalationGuards(rules: Rbac, authorize: Authorizer): ReadonlyMap<string, WriteGuard> {
  const role: WriteGuard = (write) => guardRole(write, rules, authorize);
  const binding: WriteGuard = (write) => guardBinding(write, rules, authorize);
  return new Map([
    [`${RBAC_GROUP}/roles`, role],
    [`${RBAC_GROUP}/clusterroles`, role],
    [`${RBAC_GROUP}/rolebindings`, binding],
    [`${RBAC_GROUP}/clusterrolebindings`, binding],
  ]);
}

async function guardRole(write: GuardedWrite, rules: Rbac, authorize: Authorizer): Promise<void> {
  const { request, object, old } = write;
  const { user, namespace, name, resource } = request;
  if (isExempt(write)) return;
  const { group: apiGroup, resource: plural } = resource.groupResource;
  const escalate = { apiGroup, apiVersion: "*", resource: plural, namespace, name };
  if (await isAllowed(authorize, resourceAttributes(user, "escalate", escalate))) return;
  const role = object as rbac.ClusterRole;
  const why = notHeld(rules, user, namespace, role.rules ?? [], resource.groupResource);
  if (why !== undefined) throw forbidden(resource.groupResource, role.metadata.name ?? "", why);
  if (!aggregates(role) && !aggregates(old as rbac.ClusterRole | undefined)) return;
  if (uncovered(rules.held(user, namespace).rules, EVERYTHING).length > 0) {
    const message = "must have cluster-admin privileges to use the aggregationRule";
    throw forbidden(resource.groupResource, role.metadata.name ?? "", message);
  }
}

async function guardBinding(write: GuardedWrite, rules: Rbac, authorize: Authorizer): Promise<void> {
  const { request, object } = write;
  const { user, namespace, resource } = request;
  if (isExempt(write)) return;
  const { roleRef, metadata } = object as rbac.RoleBinding;
  // Validation decides which kinds a binding may name.
  if (roleRef.kind !== "Role" && roleRef.kind !== "ClusterRole") return;
  const plural = roleRef.kind === "Role" ? "roles" : "clusterroles";
  const bind = { apiGroup: roleRef.apiGroup ?? "", apiVersion: "*", resource: plural, namespace, name: roleRef.name };
  if (await isAllowed(authorize, resourceAttributes(user, "bind", bind))) return;
  const slot = rules.roles.find(roleRef.kind, roleRef.kind === "Role" ? `${namespace}/${roleRef.name}` : roleRef.name);
  const meaning = slot && rules.roles.meaning(slot);
  if (meaning === undefined) throw notFound(resource.groupResource, roleRef.name);
  const why = notHeld(rules, user, namespace, meaning.rules, resource.groupResource);
  if (why !== undefined) throw forbidden(resource.groupResource, metadata.name ?? "", why);
}

function isExempt({ request, object, old }: GuardedWrite): boolean {
  return request.user.groups.includes(MASTERS) || (old !== undefined && changesOwnersOnly(object, old));
}

/** A change for garbage collection or a storage migration, or none at all. */
export function changesOwnersOnly(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = old.metadata;
  const kept = { ...object, metadata: { ...object.metadata, ownerReferences, finalizers, managedFields } };
  return equalJson(plain(kept), plain(old));
}

/** Without undefined fields. */
function plain(object: object): Json {
  return parseJson(writeJson(object));
}

function aggregates(role: rbac.ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

/** The rules that a user does not hold, as text; undefined if the user holds them all. */
function notHeld(
  rbacRules: Rbac,
  user: UserInfo,
  namespace: string,
  rules: readonly rbac.PolicyRule[],
  resource: GroupResource,
): string | undefined {
  const { rules: held, missing } = rbacRules.held(user, namespace);
  const lacking = uncovered(held, rules);
  if (lacking.length === 0) return undefined;
  const errors = joinErrors(missing.map(({ name }) => notFound(resource, name).message));
  const unresolved = errors === undefined ? "" : `; resolution errors: [${errors}]`;
  const who = `user ${goQuote(user.name)} (groups=${quoted(user.groups)})`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${describeRights(lacking)}${unresolved}`;
}
