/**
 * Impersonation by the Impersonate-* headers: the user must be allowed each part of the requested identity.
 *
 *     headers ──► wanted user ──► modes, one after the other ──► the user in whose name the request is answered
 *
 * 1. The most constrained modes are tried first. The mode that last succeeded for a user is tried before all others.
 * 2. When all fail, the error is that of the first.
 */
import { badRequest, goQuote, isStatusError, type StatusError } from "#api";
import { LruMap } from "#base";
import type { Attributes } from "../authz/attributes.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { headerValue, headerValues, prefixedValues } from "../http/header-values.ts";
import type { ImpersonationMetrics } from "./impersonation-metrics.ts";
import { type Impersonated, MODE_NAMES, MODES, type ModeName, type WantedUser } from "./impersonation-modes.ts";

const PREFIX = "impersonate-";
const EXTRA = "impersonate-extra-";
const MAX_USERS = 10_000;

/** `attributes`: of the request with its own user. Undefined: nobody is impersonated. */
export type Impersonator = (request: ApiRequest, attributes: Attributes) => Promise<Impersonated> | undefined;

/** Without `metrics`, nothing is measured. */
export function impersonator(authorize: Authorizer, metrics?: ImpersonationMetrics): Impersonator {
  const succeeded = new LruMap<string, number>(MAX_USERS);

  const tryModes = async (wanted: WantedUser, attributes: Attributes): Promise<Impersonated> => {
    const { name } = attributes.user;
    const last = succeeded.get(name);
    const order = [...MODES.keys()];
    if (last !== undefined) order.sort((a, b) => Number(b === last) - Number(a === last));
    const startMs = metrics?.now() ?? 0;
    let first: { readonly error: StatusError; readonly mode: ModeName } | undefined;
    for (const index of order) {
      const mode = MODE_NAMES[index] ?? "legacy";
      try {
        const impersonated = await MODES[index]?.(wanted, attributes, metrics?.asking(authorize, mode) ?? authorize);
        if (impersonated === undefined) continue;
        succeeded.set(name, index);
        metrics?.attempted(mode, true, startMs);
        return impersonated;
      } catch (error) {
        if (!isStatusError(error)) throw error;
        first ??= { error, mode };
      }
    }
    if (first === undefined) throw new Error("all impersonation modes failed");
    metrics?.attempted(first.mode, false, startMs);
    throw first.error;
  };

  return (request, attributes) => {
    const wanted = wantedUser(request);
    return wanted && tryModes(wanted, attributes);
  };
}

/** The requested identity, as the headers have it. */
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
