/**
 * The roles of users and groups: the cost of a decision depends on the roles of its user, not on the number of
 * bindings.
 *
 *     cluster   ─┬► user  ──► role ──► its bindings
 *     namespace ──┴► group ──► role ──► …
 *
 * A ServiceAccount is the user of its name. Of a user's bindings, those of the whole cluster come first.
 */
import { goQuote, type KubeObject, type rbac } from "#api";
import type { UserInfo } from "../../identity/user.ts";
import type { Verdict } from "../verdict.ts";
import type { RoleKind, RoleSlot, Roles } from "./roles.ts";

export type BindingKind = "RoleBinding" | "ClusterRoleBinding";

export interface Binding {
  readonly kind: BindingKind;
  readonly name: string;
  readonly namespace: string;
  readonly role: RoleSlot;
  readonly roleKey: string;
  readonly grants: readonly Grant[];
}

/** One subject of one binding. */
export class Grant {
  readonly subject: rbac.Subject;
  readonly #binding: () => Binding;
  #verdict: Verdict | undefined;

  constructor(subject: rbac.Subject, binding: () => Binding) {
    this.subject = subject;
    this.#binding = binding;
  }

  get binding(): Binding {
    return this.#binding();
  }

  /** The reason of an allowed request, made once. */
  get allows(): Verdict {
    this.#verdict ??= { decision: "allow", reason: `RBAC: allowed by ${describe(this.binding, this.subject)}` };
    return this.#verdict;
  }
}

/** The bindings of a subject to a role: never empty. */
export type Grants = Set<Grant>;

interface Scope {
  readonly users: Map<string, Map<RoleSlot, Grants>>;
  readonly groups: Map<string, Map<RoleSlot, Grants>>;
}

/** Returns true to stop. */
export type Visitor = (role: RoleSlot, grants: Grants) => boolean;

const newScope = (): Scope => ({ users: new Map(), groups: new Map() });

export class Bindings {
  readonly #roles: Roles;
  readonly #everywhere = newScope();
  readonly #namespaces = new Map<string, Scope>();
  readonly #known: Readonly<Record<BindingKind, Map<string, Binding>>> = {
    RoleBinding: new Map(),
    ClusterRoleBinding: new Map(),
  };

  constructor(roles: Roles) {
    this.#roles = roles;
  }

  /** Visits each role of a user in a namespace; "": in the whole cluster. */
  visit({ name, groups }: UserInfo, namespace: string, see: Visitor): boolean {
    if (visitScope(this.#everywhere, name, groups, see)) return true;
    const scope = namespace === "" ? undefined : this.#namespaces.get(namespace);
    return scope !== undefined && visitScope(scope, name, groups, see);
  }

  set(kind: BindingKind, key: string, object: KubeObject): void {
    this.delete(kind, key);
    const binding = this.#bindingOf(kind, object as rbac.RoleBinding);
    if (binding === undefined) return;
    this.#known[kind].set(key, binding);
    binding.role.bindings++;
    const scope = this.#scopeOf(binding);
    for (const grant of binding.grants) addGrant(scope, binding, grant);
  }

  delete(kind: BindingKind, key: string): void {
    const binding = this.#known[kind].get(key);
    if (binding === undefined) return;
    this.#known[kind].delete(key);
    const scope = this.#scopeOf(binding);
    for (const grant of binding.grants) removeGrant(scope, binding, grant);
    if (binding.namespace !== "" && scope.users.size === 0 && scope.groups.size === 0)
      this.#namespaces.delete(binding.namespace);
    binding.role.bindings--;
    this.#roles.dropIfUnused(binding.role.kind, binding.roleKey);
  }

  clear(kind: BindingKind): void {
    for (const key of [...this.#known[kind].keys()]) this.delete(kind, key);
  }

  #scopeOf({ namespace }: Binding): Scope {
    if (namespace === "") return this.#everywhere;
    let scope = this.#namespaces.get(namespace);
    if (scope === undefined) {
      scope = newScope();
      this.#namespaces.set(namespace, scope);
    }
    return scope;
  }

  #bindingOf(kind: BindingKind, { metadata, roleRef, subjects }: rbac.RoleBinding): Binding | undefined {
    if (roleRef.kind !== "Role" && roleRef.kind !== "ClusterRole") return undefined;
    const { name = "", namespace = "" } = metadata;
    const roleKind: RoleKind = roleRef.kind;
    const roleKey = roleKind === "Role" ? `${namespace}/${roleRef.name}` : roleRef.name;
    const binding: Binding = {
      kind,
      name,
      namespace,
      roleKey,
      role: this.#roles.slot(roleKind, roleKey),
      grants: (subjects ?? []).map((subject) => new Grant(subject, () => binding)),
    };
    return binding;
  }
}

function visitScope({ users, groups }: Scope, name: string, memberOf: readonly string[], see: Visitor): boolean {
  const own = users.get(name);
  if (own !== undefined && visitRoles(own, see)) return true;
  for (const group of memberOf) {
    const ofGroup = groups.get(group);
    if (ofGroup !== undefined && visitRoles(ofGroup, see)) return true;
  }
  return false;
}

function visitRoles(roles: Map<RoleSlot, Grants>, see: Visitor): boolean {
  for (const [role, grants] of roles) if (see(role, grants)) return true;
  return false;
}

/** The entry of a subject; undefined for a subject that matches nobody. */
function placeOf({ kind, name, namespace }: rbac.Subject, inNamespace: string): [keyof Scope, string] | undefined {
  if (kind === "User") return ["users", name];
  if (kind === "Group") return ["groups", name];
  const home = namespace === undefined || namespace === "" ? inNamespace : namespace;
  if (kind !== "ServiceAccount" || home === "") return undefined;
  return ["users", `system:serviceaccount:${home}:${name}`];
}

function addGrant(scope: Scope, { namespace, role }: Binding, grant: Grant): void {
  const place = placeOf(grant.subject, namespace);
  if (place === undefined) return;
  const [kind, who] = place;
  const roles = scope[kind].get(who) ?? new Map<RoleSlot, Grants>();
  scope[kind].set(who, roles);
  roles.set(role, (roles.get(role) ?? new Set<Grant>()).add(grant));
}

function removeGrant(scope: Scope, { namespace, role }: Binding, grant: Grant): void {
  const place = placeOf(grant.subject, namespace);
  if (place === undefined) return;
  const [kind, who] = place;
  const roles = scope[kind].get(who);
  const grants = roles?.get(role);
  if (roles === undefined || grants === undefined) return;
  grants.delete(grant);
  if (grants.size === 0) roles.delete(role);
  if (roles.size === 0) scope[kind].delete(who);
}

function describe({ kind, name, namespace, role }: Binding, subject: rbac.Subject): string {
  const which = namespace === "" ? name : `${name}/${namespace}`;
  const home = subject.namespace === undefined || subject.namespace === "" ? namespace : subject.namespace;
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${home}` : subject.name;
  return `${kind} ${goQuote(which)} of ${role.kind} ${goQuote(role.name)} to ${subject.kind} ${goQuote(who)}`;
}
