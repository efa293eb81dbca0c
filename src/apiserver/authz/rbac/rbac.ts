/**
 * RBAC: roles and bindings from the caches, as tables that are updated with each object.
 *
 *     roles, cluster roles        --► Roles    ◄── Bindings ◄── a decision
 *     bindings, cluster bindings  --► Bindings
 *
 * 1. A decision is synchronous. Its cost depends on the roles of the user alone.
 * 2. Rights are additive. A binding to a role that does not exist grants nothing, and a refusal mentions it.
 */
import { goQuote, type rbac } from "#api";
import type { UserInfo } from "../../identity/user.ts";
import { follow } from "../../loopback/follow.ts";
import type { Resource } from "../../rest/resource.ts";
import type { Attributes } from "../attributes.ts";
import { joinErrors, type Mode, type Rules } from "../mode.ts";
import { NO_OPINION, noOpinion, type Verdict } from "../verdict.ts";
import { type Binding, type BindingKind, Bindings } from "./bindings.ts";
import { type RoleKind, type RoleSlot, Roles } from "./roles.ts";

export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The rules of a user's bindings, and the roles of bindings that do not exist. */
export interface Held {
  readonly rules: readonly rbac.PolicyRule[];
  readonly missing: readonly RoleSlot[];
}

export class Rbac implements Mode {
  readonly type = "RBAC";
  readonly name: string;
  readonly roles = new Roles();
  readonly bindings = new Bindings(this.roles);

  constructor(name = "rbac") {
    this.name = name;
  }

  /** Follows the four resources, from their present state on. */
  follow(served: (plural: string) => Resource, revision: number): void {
    const roles = (kind: RoleKind, plural: string) =>
      follow(served(plural), revision, {
        clear: () => this.roles.clear(kind),
        set: (key, object) => this.roles.set(kind, key, object),
        delete: (key) => this.roles.delete(kind, key),
      });
    const bindings = (kind: BindingKind, plural: string) =>
      follow(served(plural), revision, {
        clear: () => this.bindings.clear(kind),
        set: (key, object) => this.bindings.set(kind, key, object),
        delete: (key) => this.bindings.delete(kind, key),
      });
    roles("ClusterRole", "clusterroles");
    roles("Role", "roles");
    bindings("ClusterRoleBinding", "clusterrolebindings");
    bindings("RoleBinding", "rolebindings");
  }

  readonly authorize = (attributes: Attributes): Verdict => {
    const { user, isResourceRequest, path, verb, apiGroup, subresource, namespace, name } = attributes;
    const resource = subresource === "" ? attributes.resource : `${attributes.resource}/${subresource}`;
    const ofAny = subresource === "" ? "" : `*/${subresource}`;
    let allowed: Verdict | undefined;
    let missing: RoleSlot[] | undefined;
    this.bindings.visit(user, isResourceRequest ? namespace : "", (role, grants) => {
      const table = this.roles.meaning(role)?.table;
      if (table === undefined) {
        missing = [...(missing ?? []), role];
        return false;
      }
      const allows = isResourceRequest
        ? table.allowsResource(apiGroup, resource, ofAny, verb, name)
        : table.allowsPath(path, verb);
      if (!allows) return false;
      for (const grant of grants) {
        allowed = grant.allows;
        return true;
      }
      return false;
    });
    return allowed ?? (missing === undefined ? NO_OPINION : noOpinion(`RBAC: ${joinErrors(missing.map(notFound))}`));
  };

  rulesFor(user: UserInfo, namespace: string): Rules {
    const { rules, missing } = this.held(user, namespace);
    const evaluationError = joinErrors(missing.map(notFound));
    return {
      resourceRules: rules
        .filter(({ resources = [] }) => resources.length > 0)
        .map(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames.length > 0 && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(evaluationError !== undefined && { evaluationError }),
    };
  }

  held(user: UserInfo, namespace: string): Held {
    const seen = new Set<Binding>();
    const rules: rbac.PolicyRule[] = [];
    const missing: RoleSlot[] = [];
    this.bindings.visit(user, namespace, (role, grants) => {
      const meaning = this.roles.meaning(role);
      if (meaning === undefined) missing.push(role);
      else {
        // A binding counts once, whichever of its subjects match the user.
        for (const { binding } of grants) {
          if (!seen.has(binding)) rules.push(...meaning.rules);
          seen.add(binding);
        }
      }
      return false;
    });
    return { rules, missing };
  }
}

function notFound({ kind, name }: RoleSlot): string {
  return `${kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(name)} not found`;
}
