/** The identities and permissions of controllers in tests: those of a new cluster, or everything. */
import type { InProcessUser } from "#client";
import { type Enabled, rbacObjects } from "../../apiserver/bootstrap/rbac/index.ts";
import { Ensure } from "../../apiserver/loopback/ensure.ts";
import type { TestServer } from "../../apiserver/testing/index.ts";

export type Rights = "roles" | "everything";

export interface Identities {
  readonly manager: InProcessUser;
  of(account: string): InProcessUser;
}

const MANAGER = "system:kube-controller-manager";
const NAMESPACE = "kube-system";
const ACCOUNT_GROUPS = ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
const MASTERS = ["system:masters"];

/** The RBAC objects of a new cluster only: tests create their own namespaces. */
export async function ensureRoles({ context, resources }: TestServer, enabled: Enabled): Promise<void> {
  await new Ensure(context, resources).all(rbacObjects(enabled));
}

/** Without RBAC objects they would be denied everything. */
export function rightsOn({ resources }: TestServer): Rights {
  const roles = resources.find("rbac.authorization.k8s.io", "v1", "clusterroles");
  return roles?.cache.get(MANAGER) === undefined ? "everything" : "roles";
}

export function identities(rights: Rights): Identities {
  const user = (name: string, groups: readonly string[]) => ({
    name,
    groups: rights === "roles" ? groups : MASTERS,
  });
  return {
    manager: user(MANAGER, ["system:authenticated"]),
    of: (account) => user(`system:serviceaccount:${NAMESPACE}:${account}`, ACCOUNT_GROUPS),
  };
}
