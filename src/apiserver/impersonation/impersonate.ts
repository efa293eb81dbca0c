/**
 * Impersonation: a request in another's name, by the Impersonate-* headers, if its own user may do that for each part
 * of the identity asked for.
 *
 *     headers ──► wanted user ──► modes, one after the other ──► the user in whose name the request goes on
 *
 * 1. The modes that constrain most are tried first; the one that last succeeded for a user comes before all, so that it
 *    costs no more than needed.
 * 2. When all fail, the caller is told what the first one lacked.
 */
import { badRequest, goQuote, isStatusError, type StatusError } from "#api";
import { LruMap } from "#base";
import type { Attributes } from "../authz/attributes.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { headerValue, headerValues, prefixedValues } from "../http/header-values.ts";
import { type Impersonated, MODES, type WantedUser } from "./impersonation-modes.ts";

const PREFIX = "impersonate-";
const EXTRA = "impersonate-extra-";
const MAX_USERS = 10_000;

/** `attributes` of the request as its own user makes it. Undefined: no other user is asked for. */
export type Impersonator = (request: ApiRequest, attributes: Attributes) => Promise<Impersonated> | undefined;

export function impersonator(authorize: Authorizer): Impersonator {
  const succeeded = new LruMap<string, number>(MAX_USERS);

  const tryModes = async (wanted: WantedUser, attributes: Attributes): Promise<Impersonated> => {
    const { name } = attributes.user;
    const last = succeeded.get(name);
    const order = [...MODES.keys()];
    if (last !== undefined) order.sort((a, b) => Number(b === last) - Number(a === last));
    let first: StatusError | undefined;
    for (const index of order) {
      try {
        const impersonated = await MODES[index]?.(wanted, attributes, authorize);
        if (impersonated === undefined) continue;
        succeeded.set(name, index);
        return impersonated;
      } catch (error) {
        if (!isStatusError(error)) throw error;
        first ??= error;
      }
    }
    throw first ?? new Error("all impersonation modes failed");
  };

  return (request, attributes) => {
    const wanted = wantedUser(request);
    return wanted && tryModes(wanted, attributes);
  };
}

/** What the headers ask for, word by word. */
function wantedUser(request: ApiRequest): WantedUser | undefined {
  let asked = false;
  for (const header in request.headers) asked ||= header.startsWith(PREFIX);
  if (!asked) return undefined;
  const wanted: WantedUser = {
    name: headerValue(request, "impersonate-user") ?? "",
    uid: headerValue(request, "impersonate-uid") ?? "",
    groups: headerValues(request, "impersonate-group"),
    extra: prefixedValues(request, EXTRA),
  };
  if (wanted.name !== "") return wanted;
  if (wanted.uid === "" && wanted.groups.length === 0 && wanted.extra.size === 0) return undefined;
  throw badRequest(`requested ${goText(wanted)} without impersonating a user name`);
}

/** As Go prints it. */
function goText({ name, uid, groups, extra }: WantedUser): string {
  const list = (values: readonly string[]) => `[]string{${values.map(goQuote).join(", ")}}`;
  const keys = [...extra.keys()].sort();
  const entries = keys.map((key) => `${goQuote(key)}:${list(extra.get(key) ?? [])}`);
  const groupsText = groups.length === 0 ? "[]string(nil)" : list(groups);
  const extraText = keys.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${groupsText}, Extra:${extraText}}`;
}
