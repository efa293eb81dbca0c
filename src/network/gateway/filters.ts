/** What the filters of a rule change about a request and its response, as documented by the Gateway API. Pure. */
import { validateHeaderName, validateHeaderValue } from "node:http";
import type { HeaderChanges, RequestInfo } from "../http/route.ts";
import type { Mirror, PathChange, Redirect, RouteFilter, RouteMatch, RouteRule } from "./kinds.ts";

export interface Filters {
  readonly requestHeaders: readonly HeaderChanges[];
  readonly responseHeaders: readonly HeaderChanges[];
  readonly redirect?: Redirect | undefined;
  readonly rewrite?: RouteFilter["urlRewrite"];
  readonly mirrors: readonly Mirror[];
}

const OF_RULES = new Set([
  "RequestHeaderModifier",
  "ResponseHeaderModifier",
  "RequestRedirect",
  "URLRewrite",
  "RequestMirror",
]);
const OF_BACKENDS = new Set(["RequestHeaderModifier", "ResponseHeaderModifier"]);
const PATH_CHANGES = new Set(["ReplaceFullPath", "ReplacePrefixMatch"]);

export function filtersOf(filters: readonly RouteFilter[] = []): Filters {
  return {
    requestHeaders: filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier ?? []),
    responseHeaders: filters.flatMap(({ responseHeaderModifier }) => responseHeaderModifier ?? []),
    mirrors: filters.flatMap(({ requestMirror }) => requestMirror ?? []),
    redirect: filters.find(({ requestRedirect }) => requestRedirect)?.requestRedirect,
    rewrite: filters.find(({ urlRewrite }) => urlRewrite)?.urlRewrite,
  };
}

/** Why a rule's filters cannot be served; undefined if they can. */
export function filterProblem({ filters = [], backendRefs = [], timeouts = {} }: RouteRule): string | undefined {
  for (const [allowed, all] of [
    [OF_RULES, filters],
    [OF_BACKENDS, backendRefs.flatMap((each) => each.filters ?? [])],
  ] as const) {
    const odd = all.find(({ type }) => !allowed.has(type));
    if (odd !== undefined) return `the filter ${odd.type} is not supported`;
    for (const { requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite } of all) {
      const problem = headerProblem(requestHeaderModifier) ?? headerProblem(responseHeaderModifier);
      if (problem !== undefined) return problem;
      for (const path of [requestRedirect?.path, urlRewrite?.path])
        if (path !== undefined && !PATH_CHANGES.has(path.type))
          return `the path modifier ${path.type} is not supported`;
    }
  }
  const odd = Object.values(timeouts).find((text) => text !== undefined && durationMs(text) === undefined);
  return odd === undefined ? undefined : `${odd} is not a duration`;
}

function headerProblem({ set = [], add = [] }: HeaderChanges = {}): string | undefined {
  try {
    for (const { name, value } of [...set, ...add]) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The Location of a redirect. */
export function locationOf(
  { scheme, hostname, path, port }: Redirect,
  request: RequestInfo,
  match: RouteMatch,
  served: "http" | "https",
): string {
  const protocol = scheme ?? served;
  const host = hostname ?? request.host.replace(/:\d+$/, "");
  // The default port of the redirect's scheme; without a scheme, the port of the request.
  const at = port ?? (scheme === undefined ? request.port : protocol === "https" ? 443 : 80);
  const isDefault = at === (protocol === "https" ? 443 : 80);
  return `${protocol}://${host}${isDefault ? "" : `:${at}`}${changedPath(path, request.path, match)}${request.query}`;
}

export function changedPath(change: PathChange | undefined, path: string, match: RouteMatch): string {
  if (change === undefined) return path;
  if (change.type === "ReplaceFullPath") return rooted(change.replaceFullPath ?? "");
  const { type = "PathPrefix", value = "/" } = match.path ?? {};
  // ReplacePrefixMatch needs a match of type PathPrefix.
  if (type !== "PathPrefix") return path;
  const rest = path.slice(withoutSlash(value).length);
  const prefix = withoutSlash(change.replacePrefixMatch ?? "");
  return rooted(`${prefix}${rest === "/" && prefix !== "" && value.endsWith("/") ? "" : rest}`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function rooted(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}

/** Undefined if there is none. A duration of 0 means none. */
export function timeoutMs({ request, backendRequest }: NonNullable<RouteRule["timeouts"]> = {}): number | undefined {
  const all = [request, backendRequest].map((text) => (text === undefined ? 0 : (durationMs(text) ?? 0)));
  const set = all.filter((ms) => ms > 0);
  return set.length === 0 ? undefined : Math.min(...set);
}

const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

/** `1h30m`, `500ms`; up to four parts of at most five digits. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d{1,5}(h|m|s|ms)){1,4}$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d{1,5})(ms|h|m|s)/g))
    sum += Number(amount) * UNITS[unit as keyof typeof UNITS];
  return sum;
}
