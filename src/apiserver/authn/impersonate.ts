/**
 * Impersonation: a request in another's name, by the Impersonate-* headers, if its own user may do that for each part of the identity asked for.
 */
import { badRequest } from "#api";
import { type Authorizer, denied } from "../authz/authorizer.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { type RequestInfo, requestInfo } from "../http/request-info.ts";
import type { UserInfo } from "./user.ts";

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
const EXTRA = "impersonate-extra-";
const SERVICE_ACCOUNT = "system:serviceaccount:";

/** The user in whose name the request goes on: its own where no header asks for another. */
export async function impersonate({ headers }: ApiRequest, user: UserInfo, authorize: Authorizer): Promise<UserInfo> {
  const name = headers["impersonate-user"];
  const groups = listOf(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"];
  const extra = Object.entries(headers).filter(([header]) => header.startsWith(EXTRA));
  if (name === undefined) {
    if (groups.length === 0 && uid === undefined && extra.length === 0) return user;
    throw badRequest("requested [] without impersonating a user");
  }
  const wanted: [resource: string, name: string, group: string][] = [
    isServiceAccount(name) ? ["serviceaccounts", name, ""] : ["users", name, ""],
    ...groups.map((group): [string, string, string] => ["groups", group, ""]),
    ...(uid === undefined ? [] : [["uids", uid, "authentication.k8s.io"] as [string, string, string]]),
    ...extra.map(([header, value]): [string, string, string] => [
      `userextras/${header.slice(EXTRA.length)}`,
      value ?? "",
      "authentication.k8s.io",
    ]),
  ];
  for (const [resource, each, group] of wanted) {
    const info = impersonation(resource, each, group);
    if (!(await authorize(user, info))) throw denied(user, info);
  }
  return {
    name,
    groups: withState(name, groups),
    ...(uid !== undefined && { uid }),
    ...(extra.length > 0 && {
      extra: Object.fromEntries(
        extra.map(([header, value]) => [decodeURIComponent(header.slice(EXTRA.length)), listOf(value)]),
      ),
    }),
  };
}

/** Service accounts bring the groups of their namespace; everyone but the anonymous is authenticated. */
function withState(name: string, groups: readonly string[]): readonly string[] {
  const [namespace] = isServiceAccount(name) ? name.slice(SERVICE_ACCOUNT.length).split(":") : [];
  const own =
    namespace === undefined || groups.length > 0
      ? groups
      : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  const state = name === "system:anonymous" ? UNAUTHENTICATED : AUTHENTICATED;
  return own.includes(AUTHENTICATED) || own.includes(UNAUTHENTICATED) ? own : [...own, state];
}

function isServiceAccount(name: string): boolean {
  return name.startsWith(SERVICE_ACCOUNT) && name.split(":").length === 4;
}

function impersonation(resource: string, name: string, apiGroup: string): RequestInfo {
  const [plural = "", subresource = ""] = resource.split("/");
  const none = requestInfo("GET", "/", new URLSearchParams());
  return { ...none, verb: "impersonate", isResourceRequest: true, apiGroup, resource: plural, subresource, name };
}

/** Node joins repeated headers with a comma and a space. */
function listOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(", ");
}
