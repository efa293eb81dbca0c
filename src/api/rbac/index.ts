/** The public surface of rbac.authorization.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { ClusterRole, Role } from "./role.ts";
import { ClusterRoleBinding, RoleBinding } from "./role-binding.ts";

export const rbacKinds: readonly Kind[] = [ClusterRoleBinding, ClusterRole, RoleBinding, Role];
