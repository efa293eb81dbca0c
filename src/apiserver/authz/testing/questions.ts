/** Attributes for authorizers, and objects of RBAC, for tests. */
import type { KubeObject, rbac } from "#api";
import { requestInfo } from "../../http/request-info.ts";
import type { UserInfo } from "../../identity/user.ts";
import { type Attributes, RequestAttributes } from "../attributes.ts";
import type { Authorizer } from "../authorizer.ts";
import type { Verdict } from "../verdict.ts";

export function user(name: string, ...groups: string[]): UserInfo {
  return { name, groups: [...groups, "system:authenticated"] };
}

/** As a request asks it: `GET /api/v1/pods?watch=1`. */
export function asking(who: UserInfo, request: string): Attributes {
  const [method = "", target = ""] = request.split(" ");
  const [path = "", search = ""] = target.split("?");
  const query = new URLSearchParams(search);
  return new RequestAttributes(who, requestInfo(method, path, query), query);
}

/** `allow`, `deny` or `noOpinion`, and the reason if there is one. */
export async function answer(authorize: Authorizer, attributes: Attributes): Promise<string> {
  return brief(await authorize(attributes));
}

export function brief({ decision, reason, error }: Verdict): string {
  return [decision, reason, error].filter((part) => part !== undefined && part !== "").join(": ");
}

export function role(name: string, rules: readonly rbac.PolicyRule[], namespace?: string): KubeObject {
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  return { kind: namespace === undefined ? "ClusterRole" : "Role", apiVersion: API, metadata, rules } as KubeObject;
}

/**
 * `subjects`: `User ann`, `Group dev`, `ServiceAccount ns/name`, or `ServiceAccount name` of the binding's namespace.
 */
export function binding(
  name: string,
  roleRef: `${"Role" | "ClusterRole"} ${string}`,
  subjects: readonly string[],
  namespace?: string,
): KubeObject {
  const [kind = "", of = ""] = roleRef.split(" ");
  return {
    kind: namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
    apiVersion: API,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: GROUP, kind, name: of },
    subjects: subjects.map(subject),
  } as KubeObject;
}

const GROUP = "rbac.authorization.k8s.io";
const API = `${GROUP}/v1`;

function subject(text: string): rbac.Subject {
  const [kind = "", whole = ""] = text.split(" ");
  const [namespace, name] = whole.includes("/") ? whole.split("/") : [undefined, whole];
  if (kind !== "ServiceAccount") return { kind, apiGroup: GROUP, name: whole };
  return { kind, name: name ?? "", ...(namespace !== undefined && { namespace }) };
}
