/**
 * Where a request goes by HTTPRoutes.
 *
 * 1. The host decides first: the very name, then the longest wildcard. Then the path: an exact one, then the longest regular expression, then the longest
 *    prefix. Then whoever asks for a method, then who asks for more headers, then for more parameters. Of what is left, the older route counts, then its name,
 *    then its first rule.
 * 2. A rule's backends share its requests by their weights. A part that leads to no Service is refused, not given to the others.
 */
import type { Random } from "#base";
import { objectKey } from "#client";
import { type Backend, hostOf, type Route, type RouteChanges } from "../ingress/routes.ts";
import type { AttachedRoute, BackendOf } from "./attach.ts";
import { changedPath, type Filters, filterProblem, filtersOf, locationOf, timeoutMs } from "./filters.ts";
import { bySpecificity, covers } from "./hosts.ts";
import type { BackendReference, HttpRoute, Mirror, RouteMatch, RouteRule } from "./kinds.ts";
import { MatchError, type Matcher, matcherOf } from "./matches.ts";

export interface Asked {
  readonly port: number;
  /** As the request has it, a port included. */
  readonly host: string;
  readonly path: string;
  /** With the question mark, if there is one. */
  readonly query: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface Weighed {
  readonly backend: Backend | undefined;
  readonly weight: number;
  readonly filters: Filters;
}

interface Entry {
  readonly port: number;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly match: RouteMatch;
  readonly fits: Matcher;
  readonly route: HttpRoute;
  readonly rule: number;
  readonly name: string;
  readonly filters: Filters;
  readonly timeoutMs: number | undefined;
  readonly backends: readonly Weighed[];
  readonly mirrors: readonly { readonly backend: Backend; readonly mirror: Mirror }[];
}

const ANYTHING: RouteMatch = {};
const FOUND = 302;
const LEADS_NOWHERE = 500;

export class GatewayRoutes {
  readonly #entries: readonly Entry[];
  readonly #random: Random;

  constructor(attached: readonly AttachedRoute[], random: Random) {
    this.#entries = attached.flatMap(entriesOf).sort(byPrecedence);
    this.#random = random;
  }

  get size(): number {
    return this.#entries.length;
  }

  find(asked: Asked): Route | undefined {
    const host = hostOf(asked.host);
    const found = this.#entries.find(
      (entry) => entry.port === asked.port && covers(entry.host, host) && entry.fits(asked),
    );
    return found && this.#routeOf(found, asked);
  }

  #routeOf({ name, filters, backends, mirrors, match, scheme, timeoutMs: limit }: Entry, asked: Asked): Route {
    const { redirect, rewrite } = filters;
    if (redirect !== undefined) {
      const answer = { status: redirect.statusCode ?? FOUND, location: locationOf(redirect, asked, match, scheme) };
      return { ingress: name, backend: undefined, changes: { answer } };
    }
    const chosen = this.#choose(backends);
    if (chosen?.backend === undefined)
      return { ingress: name, backend: undefined, changes: { answer: { status: LEADS_NOWHERE } } };
    const copied = mirrors.filter(({ mirror }) => this.#isMirrored(mirror)).map(({ backend }) => backend);
    const changes: RouteChanges = {
      requestHeaders: [...filters.requestHeaders, ...chosen.filters.requestHeaders],
      responseHeaders: [...filters.responseHeaders, ...chosen.filters.responseHeaders],
      ...(rewrite?.path !== undefined && { path: changedPath(rewrite.path, asked.path, match) }),
      ...(rewrite?.hostname !== undefined && { host: rewrite.hostname }),
      ...(limit !== undefined && { timeoutMs: limit }),
      mirrors: copied,
    };
    return { ingress: name, backend: chosen.backend, changes };
  }

  #isMirrored({ percent, fraction }: Mirror): boolean {
    const { numerator, denominator = 100 } = fraction ?? { numerator: percent ?? 100 };
    return numerator >= denominator || this.#random.integer(denominator) < numerator;
  }

  #choose(backends: Entry["backends"]): Weighed | undefined {
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

/** What of a route is not served here: a sentence. */
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
      backends: backendRefs.map((each) => weighed(each, backendOf)),
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

function weighed(reference: BackendReference, backendOf: BackendOf): Weighed {
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
    byText(a.route.metadata.creationTimestamp ?? "", b.route.metadata.creationTimestamp ?? "") ||
    byText(a.name, b.name) ||
    a.rule - b.rule
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
