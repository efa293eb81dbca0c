/**
 * Where a request goes by HTTPRoutes.
 *
 * 1. The host decides first: the very name, then the longest wildcard. Then the path: an exact one, then the longest prefix. Then whoever asks for a method,
 *    then who asks for more headers, then for more parameters. Of what is left, the older route counts, then its name, then its first rule.
 * 2. A rule's backends share its requests by their weights. A part that leads to no Service is refused, not given to the others.
 */
import type { Random } from "#base";
import { objectKey } from "#client";
import { type Backend, hostOf, type Route } from "../ingress/routes.ts";
import type { AttachedRoute } from "./attach.ts";
import { bySpecificity, covers } from "./hosts.ts";
import type { BackendReference, HttpRoute, RouteMatch, RouteRule, ValueMatch } from "./kinds.ts";

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

interface Entry {
  readonly port: number;
  readonly host: string;
  readonly match: RouteMatch;
  readonly route: HttpRoute;
  readonly rule: number;
  readonly name: string;
  readonly backends: readonly { readonly backend: Backend | undefined; readonly weight: number }[];
}

const ANYTHING: RouteMatch = {};

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
      (entry) => entry.port === asked.port && covers(entry.host, host) && fits(entry, asked),
    );
    return found && { ingress: found.name, backend: this.#choose(found.backends) };
  }

  #choose(backends: Entry["backends"]): Backend | undefined {
    const total = backends.reduce((sum, { weight }) => sum + weight, 0);
    if (total === 0) return undefined;
    let left = this.#random.integer(total);
    for (const { backend, weight } of backends) {
      if (left < weight) return backend;
      left -= weight;
    }
    return undefined;
  }
}

/** What of a route is not served here: a sentence. */
export function problemOf({ spec }: HttpRoute): string | undefined {
  for (const { filters = [], matches = [] } of spec?.rules ?? []) {
    if (filters[0] !== undefined) return `filters are not served here: ${filters[0].type}`;
    for (const { path, headers = [], queryParams = [] } of matches) {
      const types = [...headers, ...queryParams].map(({ type = "Exact" }) => type);
      if (path?.type === "RegularExpression" || types.some((type) => type !== "Exact"))
        return "regular expressions are not served here";
    }
  }
  return undefined;
}

function entriesOf({ route, port, hosts }: AttachedRoute): Entry[] {
  const rules: readonly RouteRule[] = route.spec?.rules ?? [];
  return rules.flatMap(({ matches = [], backendRefs = [] }, rule) =>
    (matches.length === 0 ? [ANYTHING] : matches).flatMap((match) =>
      hosts.map((host) => ({
        ...{ port, host, match, route, rule },
        name: objectKey(route),
        backends: backendRefs.map((each) => ({ backend: backendOf(each, route), weight: each.weight ?? 1 })),
      })),
    ),
  );
}

function backendOf(reference: BackendReference, { metadata }: HttpRoute): Backend | undefined {
  const { group = "", kind = "Service", name, namespace = metadata.namespace, port } = reference;
  if (group !== "" || kind !== "Service" || namespace !== metadata.namespace || port === undefined) return undefined;
  return { service: `${namespace}/${name}`, port };
}

function fits({ match: { path, method, headers = [], queryParams = [] } }: Entry, asked: Asked): boolean {
  if (method !== undefined && method !== asked.method) return false;
  if (!pathFits(path, asked.path)) return false;
  const header = ({ name, value }: ValueMatch) => [asked.headers[name.toLowerCase()] ?? []].flat().join(", ") === value;
  if (!headers.every(header)) return false;
  if (queryParams.length === 0) return true;
  const query = new URLSearchParams(asked.query);
  return queryParams.every(({ name, value }) => query.get(name) === value);
}

/** Prefixes match whole elements. */
function pathFits({ type, value = "/" }: NonNullable<RouteMatch["path"]> = {}, path: string): boolean {
  if (type === "Exact") return path === value;
  const prefix = value.endsWith("/") ? value.slice(0, -1) : value;
  return path === prefix || path.startsWith(`${prefix}/`);
}

function byPrecedence(a: Entry, b: Entry): number {
  return (
    bySpecificity(a.host, b.host) ||
    Number(isExact(b)) - Number(isExact(a)) ||
    pathOf(b).length - pathOf(a).length ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    (b.match.headers ?? []).length - (a.match.headers ?? []).length ||
    (b.match.queryParams ?? []).length - (a.match.queryParams ?? []).length ||
    byText(a.route.metadata.creationTimestamp ?? "", b.route.metadata.creationTimestamp ?? "") ||
    byText(a.name, b.name) ||
    a.rule - b.rule
  );
}

function isExact({ match }: Entry): boolean {
  return match.path?.type === "Exact";
}

function pathOf({ match }: Entry): string {
  return match.path?.value ?? "/";
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
