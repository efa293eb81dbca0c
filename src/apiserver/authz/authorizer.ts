/** Who may do what: the first authorizer. It lets system:masters do everything, everyone read the paths of public information, and denies the rest. */
import { forbidden, type StatusError } from "#api";
import type { UserInfo } from "../authn/user.ts";
import type { RequestInfo } from "../http/request-info.ts";

const MASTERS = "system:masters";
const PUBLIC_PATHS = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

export type Authorizer = (user: UserInfo, info: RequestInfo) => Promise<boolean>;

/** What everyone may ask about themselves. */
const SELF_REVIEWS = new Set(["selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"]);

export const mastersOnly: Authorizer = async (user, info) =>
  user.groups.includes(MASTERS) ||
  (info.verb === "create" && SELF_REVIEWS.has(info.resource) && user.groups.includes("system:authenticated")) ||
  (!info.isResourceRequest && PUBLIC_PATHS.has(info.path) && (info.verb === "get" || info.verb === "head"));

export function denied(user: UserInfo, info: RequestInfo): StatusError {
  if (!info.isResourceRequest) {
    return forbidden({ group: "", resource: "" }, "", `User "${user.name}" cannot ${info.verb} path "${info.path}"`);
  }
  const resource = info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`;
  const where = info.namespace === "" ? "at the cluster scope" : `in the namespace "${info.namespace}"`;
  return forbidden(
    { group: info.apiGroup, resource: info.resource },
    info.name,
    `User "${user.name}" cannot ${info.verb} resource "${resource}" in API group "${info.apiGroup}" ${where}`,
  );
}
