/**
 * Who makes a request: the client certificate that TLS has verified, or a token of the static file. Tried in order; a credential that is
 * presented and not known is refused, none at all is anonymous.
 */
import { unauthorized } from "#api";
import type { ApiRequest } from "../http/exchange.ts";
import { ANONYMOUS, AUTHENTICATED, type UserInfo } from "./user.ts";

export type Authenticator = (request: ApiRequest) => Promise<UserInfo>;

export function authenticator(tokens: ReadonlyMap<string, UserInfo>): Authenticator {
  return async (request) => {
    if (request.user !== undefined) return withAuthenticated(request.user);
    const header = request.headers.authorization;
    if (header === undefined || header === "") return ANONYMOUS;
    const [scheme = "", token = ""] = header.trim().split(/\s+/, 2);
    // Another scheme is no credential that is known here, as if there were none.
    if (scheme.toLowerCase() !== "bearer" || token === "") return ANONYMOUS;
    const user = tokens.get(token);
    if (user === undefined) throw unauthorized();
    return withAuthenticated(user);
  };
}

function withAuthenticated(user: UserInfo): UserInfo {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
