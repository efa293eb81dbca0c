/**
 * Where HTTPRoutes send a request.
 *
 * 1. Precedence: the exact host, then the longest wildcard; the exact path, then the longest regular expression, then
 *    the longest prefix; a match with a method; more headers; more query parameters; the older route; its name; its
 *    first rule.
 * 2. Backends share requests by their weights. The share of a backend without a Service is refused, not given to the
 *    others.
 */
import type { Random } from "#base";
import { objectKey } from "#client";
import { type Backend, hostOf, type RequestInfo, type Route, type RouteChanges } from "../http/route.ts";
import type { AttachedRoute, BackendOf } from "./attach.ts";
import { changedPath, type Filters, filterProblem, filtersOf, locationOf, timeoutMs } from "./filters.ts";
import { bySpecificity, covers } from "./hosts.ts";
import type { BackendReference, HttpRoute, Mirror, RouteMatch, RouteRule } from "./kinds.ts";
import { MatchError, type Matcher, matcherOf } from "./matches.ts";

interface WeightedBackend {
  readonly backend: Backend | undefined;
  readonly weight: number;
  readonly filters: Filters;
}

interface Entry {
  readonly port: number;
  readonly scheme: AttachedRoute["scheme"];
  readonly host: string;
  readonly match: RouteMatch;
  readonly fits: Matcher;
  readonly route: HttpRoute;
  readonly rule: number;
  readonly name: string;
  readonly filters: Filters;
  readonly timeoutMs: number | undefined;
  readonly backends: readonly WeightedBackend[];
  readonly mirrors: readonly { readonly backend: Backend; readonly mirror: Mirror }[];
}

const ANYTHING: RouteMatch = {};
const FOUND = 302;
const NO_BACKEND = 500;

export class GatewayRoutes {
  readonly #entries: readonly Entry[];
  readonly #random: Random;

  constructor(attached: readonly AttachedRoute[], random: Random) {
    const http = attached.filter(({ scheme }) => scheme === "http" || scheme === "https");
    this.#entries = http.flatMap(entriesOf).sort(byPrecedence);
    this.#random = random;
  }

  get size(): number {
    return this.#entries.length;
  }

  find(request: RequestInfo): Route | undefined {
    const host = hostOf(request.host);
    const found = this.#entries.find(
      (entry) => entry.port === request.port && covers(entry.host, host) && entry.fits(request),
    );
    return found && this.#routeOf(found, request);
  }

  #routeOf({ name, filters, backends, mirrors, match, scheme, timeoutMs: limit }: Entry, request: RequestInfo): Route {
    const { redirect, rewrite } = filters;
    if (redirect !== undefined) {
      const answer = {
        status: redirect.statusCode ?? FOUND,
        location: locationOf(redirect, request, match, scheme === "https" ? "https" : "http"),
      };
      return { owner: name, backend: undefined, changes: { answer } };
    }
    const chosen = this.#choose(backends);
    if (chosen?.backend === undefined)
      return { owner: name, backend: undefined, changes: { answer: { status: NO_BACKEND } } };
    const copied = mirrors.filter(({ mirror }) => this.#isMirrored(mirror)).map(({ backend }) => backend);
    const changes: RouteChanges = {
      requestHeaders: [...filters.requestHeaders, ...chosen.filters.requestHeaders],
      responseHeaders: [...filters.responseHeaders, ...chosen.filters.responseHeaders],
      path: rewrite?.path === undefined ? undefined : changedPath(rewrite.path, request.path, match),
      host: rewrite?.hostname,
      timeoutMs: limit,
      mirrors: copied,
    };
    return { owner: name, backend: chosen.backend, changes };
  }

  #isMirrored({ percent, fraction }: Mirror): boolean {
    const { numerator, denominator = 100 } = fraction ?? { numerator: percent ?? 100 };
    return numerator >= denominator || this.#random.integer(denominator) < numerator;
  }

  #choose(backends: Entry["backends"]): WeightedBackend | undefined {
    const total = backends.reduce((sum, { weight }) => sum + weight, 0);
    if (total === 0) return undefined;
    let left = this.#random.integer(total);
    for (const each of backends) {
      if (left < each.weight) return each;
      left -= each.weight;
    }
    return undefined;
  }
}

/** Why a route cannot be served; undefined if it can. */
export function problemOf({ spec }: HttpRoute): string | undefined {
  for (const rule of spec?.rules ?? []) {
    const problem = filterProblem(rule);
    if (problem !== undefined) return problem;
    try {
      for (const match of rule.matches ?? []) matcherOf(match);
    } catch (error) {
      if (!(error instanceof MatchError)) throw error;
      return error.message;
    }
  }
  return undefined;
}

function entriesOf({ route, port, scheme, hosts, backendOf }: AttachedRoute): Entry[] {
  const rules: readonly RouteRule[] = route.spec?.rules ?? [];
  return rules.flatMap(({ matches = [], backendRefs = [], ...more }, rule) => {
    const filters = filtersOf(more.filters);
    const shared = {
      ...{ port, scheme, route, rule, filters, name: objectKey(route), timeoutMs: timeoutMs(more.timeouts) },
      backends: backendRefs.map((each) => weighted(each, backendOf)),
      mirrors: filters.mirrors.flatMap((mirror) => {
        const backend = backendOf(mirror.backendRef);
        return backend === undefined ? [] : [{ backend, mirror }];
      }),
    };
    return (matches.length === 0 ? [ANYTHING] : matches).flatMap((match) => {
      const fits = matcherOf(match);
      return hosts.map((host) => ({ ...shared, host, match, fits }));
    });
  });
}

function weighted(reference: BackendReference, backendOf: BackendOf): WeightedBackend {
  return { backend: backendOf(reference), weight: reference.weight ?? 1, filters: filtersOf(reference.filters) };
}

function byPrecedence(a: Entry, b: Entry): number {
  return (
    bySpecificity(a.host, b.host) ||
    pathRank(b) - pathRank(a) ||
    pathOf(b).length - pathOf(a).length ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    (b.match.headers ?? []).length - (a.match.headers ?? []).length ||
    (b.match.queryParams ?? []).length - (a.match.queryParams ?? []).length ||
    byAge(a.route, b.route) ||
    a.rule - b.rule
  );
}

/** The older one first, then by name. */
export function byAge(a: HttpRoute, b: HttpRoute): number {
  return (
    byText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") || byText(objectKey(a), objectKey(b))
  );
}

function pathRank({ match }: Entry): number {
  return match.path?.type === "Exact" ? 2 : match.path?.type === "RegularExpression" ? 1 : 0;
}

function pathOf({ match }: Entry): string {
  return match.path?.value ?? "/";
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
