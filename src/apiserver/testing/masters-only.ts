/**
 * An authorizer for tests of other things: system:masters may do everything, everyone may read public paths and ask
 * about themselves.
 */

import type { Authorizer } from "../authz/authorizer.ts";
import { ALLOW, NO_OPINION } from "../authz/verdict.ts";
import { AUTHENTICATED, MASTERS } from "../identity/user.ts";

const PUBLIC_PATHS = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);
const SELF_REVIEWS = new Set(["selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"]);

export const mastersOnly: Authorizer = ({ user, verb, isResourceRequest, resource, path }) => {
  const allowed =
    user.groups.includes(MASTERS) ||
    (verb === "create" && SELF_REVIEWS.has(resource) && user.groups.includes(AUTHENTICATED)) ||
    (!isResourceRequest && PUBLIC_PATHS.has(path) && (verb === "get" || verb === "head"));
  return allowed ? ALLOW : NO_OPINION;
};
