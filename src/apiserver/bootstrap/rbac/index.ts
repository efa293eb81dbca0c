/** Roles and bindings of a fresh cluster, as objects to ensure. */
import type { KubeObject, rbac } from "#api";
import type { Wanted } from "../../loopback/ensure.ts";
import { type BindingData, clusterBindings, namespacedBindings } from "./bindings.ts";
import { clusterRoles } from "./cluster-roles.ts";
import { controllerRoles } from "./controller-roles.ts";
import { type GatedRoles, gatedRoles } from "./gated-roles.ts";
import { namespacedRoles } from "./namespaced-roles.ts";
import { AUTO_UPDATE, missing } from "./reconcile.ts";
import { parseRoles, type RoleData } from "./role-text.ts";

const GROUP = "rbac.authorization.k8s.io";
const NODE = "system:node";

/** Whether a feature gate is on. */
export type Enabled = (gate: string) => boolean;
const none: Enabled = () => false;

/** What every node may do, as the role for it says. */
export function nodeRules(enabled = none): readonly rbac.PolicyRule[] {
  return ownRoles(openRoles(enabled)).find(({ name }) => name === NODE)?.rules ?? [];
}

export function rbacObjects(enabled = none): readonly Wanted[] {
  const open = openRoles(enabled);
  const texts = [controllerRoles, ...open.map(({ controllers = "" }) => controllers)];
  const controllers = texts
    .flatMap((text) => parseRoles(text, { prefix: "system:controller:" }))
    .map((role) => extended(role, open));
  const all = [...ownRoles(open), ...controllers];
  const groups = new Map(open.flatMap((roles) => Object.entries(roles.groups ?? {})));
  return [
    ...all.map((role) => roleObject("clusterroles", role)),
    ...clusterBindings(controllers, groups).map((binding) => bindingObject("clusterrolebindings", binding)),
    ...parseRoles(namespacedRoles, { namespaced: true }).map((role) => roleObject("roles", role)),
    ...namespacedBindings().map((binding) => bindingObject("rolebindings", binding)),
  ];
}

function openRoles(enabled: Enabled): readonly GatedRoles[] {
  return gatedRoles.filter(({ gate }) => enabled(gate));
}

/** All but those of controllers. */
function ownRoles(open: readonly GatedRoles[]): readonly RoleData[] {
  const roles = parseRoles(clusterRoles).map((role) => extended(role, open));
  return [...roles, ...open.flatMap(({ cluster = "" }) => parseRoles(cluster))];
}

/** With the rules that open gates add. */
function extended(role: RoleData, open: readonly GatedRoles[]): RoleData {
  const lines = open.flatMap(({ rules = {} }) => (Object.hasOwn(rules, role.name) ? [rules[role.name]] : []));
  const more = lines.flatMap((text) => parseRoles(role.name + text).flatMap(({ rules }) => rules ?? []));
  return more.length === 0 ? role : { ...role, rules: [...(role.rules ?? []), ...more] };
}

function roleObject(plural: string, { namespace, name, labels, rules, aggregationRule }: RoleData): Wanted {
  const object = {
    metadata: metadataOf(namespace, name, labels),
    rules,
    ...(aggregationRule !== undefined && { aggregationRule }),
  } as unknown as rbac.ClusterRole;
  return { group: GROUP, plural, object, revise: (found) => missing(object, found as rbac.ClusterRole) };
}

function bindingObject(plural: string, { namespace, name, roleRef, subjects }: BindingData): Wanted {
  const object: rbac.ClusterRoleBinding = {
    metadata: metadataOf(namespace, name, {}),
    ...(subjects.length > 0 && { subjects }),
    roleRef,
  };
  return {
    group: GROUP,
    plural,
    object,
    revise: (found) => missing(object, found as rbac.ClusterRoleBinding),
    // A binding's role cannot be changed.
    replace: (found) => {
      const { roleRef: other, metadata } = found as rbac.ClusterRoleBinding;
      return (
        metadata.annotations?.[AUTO_UPDATE] !== "false" && (other.kind !== roleRef.kind || other.name !== roleRef.name)
      );
    },
  };
}

function metadataOf(
  namespace: string | undefined,
  name: string,
  labels: Readonly<Record<string, string>>,
): KubeObject["metadata"] {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
    annotations: { [AUTO_UPDATE]: "true" },
  };
}
