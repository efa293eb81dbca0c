/**
 * Where Ingresses send a request, by its host and path, as documented by Kubernetes.
 *
 * 1. A rule with the exact host goes before one with a wildcard, and that before one without a host. A wildcard matches
 *    one label.
 * 2. The longest matching path wins; of two with the same length, the exact one. Prefixes match whole path elements,
 *    and ImplementationSpecific means Prefix here.
 * 3. Without a matching path, the default backend of an Ingress with a rule for the host gets the request, then that of
 *    any other, Ingresses without rules first.
 * 4. If two Ingresses claim the same host and path, the older one gets it.
 * 5. With local hosts, each Ingress has a host of its own, `NAME.NAMESPACE.localhost`, with the paths of all of its
 *    rules; a host that another one names is that one's.
 */
import type { networking } from "#api";
import { objectKey } from "#client";
import { hostOf, type Route, wildcardOf } from "../http/route.ts";

export interface RouteProblem {
  readonly ingress: string;
  readonly reason: string;
  readonly message: string;
}

/** The rules of one host, or those for all hosts. */
interface HostRoutes {
  readonly exact: Map<string, Route>;
  /** Keys without a trailing slash. */
  readonly prefixes: Map<string, Route>;
  fallback: Route | undefined;
}

type Ingress = networking.Ingress;

export class Routes {
  readonly #hosts: ReadonlyMap<string, HostRoutes>;
  readonly #fallback: Route | undefined;
  readonly problems: readonly RouteProblem[];

  private constructor(
    hosts: ReadonlyMap<string, HostRoutes>,
    fallback: Route | undefined,
    problems: readonly RouteProblem[],
  ) {
    this.#hosts = hosts;
    this.#fallback = fallback;
    this.problems = problems;
  }

  static of(ingresses: readonly Ingress[], { localHosts = false }: { readonly localHosts?: boolean } = {}): Routes {
    const hosts = new Map<string, HostRoutes>();
    const problems: RouteProblem[] = [];
    const oldestFirst = ingresses.toSorted(byAge);
    for (const ingress of oldestFirst) addIngress(hosts, ingress, problems);
    if (localHosts) for (const ingress of oldestFirst) addLocalHost(hosts, ingress);
    const withDefault = oldestFirst.filter(({ spec }) => spec?.defaultBackend !== undefined);
    const catching = withDefault.find(({ spec }) => (spec?.rules ?? []).length === 0) ?? withDefault[0];
    return new Routes(hosts, catching && routeTo(catching, catching.spec?.defaultBackend ?? {}), problems);
  }

  get size(): number {
    let count = this.#fallback === undefined ? 0 : 1;
    for (const { exact, prefixes } of this.#hosts.values()) count += exact.size + prefixes.size;
    return count;
  }

  /** `host`: may include a port. `path`: without the query. */
  find(host: string, path: string): Route | undefined {
    const candidates = this.#candidates(hostOf(host));
    for (const routes of candidates) {
      const found = findPath(routes, path);
      if (found !== undefined) return found;
    }
    return candidates.find(({ fallback }) => fallback !== undefined)?.fallback ?? this.#fallback;
  }

  #candidates(host: string): HostRoutes[] {
    return [host, wildcardOf(host), ""].flatMap((name) => (name === undefined ? [] : (this.#hosts.get(name) ?? [])));
  }
}

function findPath({ exact, prefixes }: HostRoutes, path: string): Route | undefined {
  const whole = exact.get(path);
  if (whole !== undefined) return whole;
  for (let prefix = withoutSlash(path); ; prefix = prefix.slice(0, prefix.lastIndexOf("/"))) {
    const found = prefixes.get(prefix);
    if (found !== undefined || prefix === "") return found;
  }
}

function addIngress(hosts: Map<string, HostRoutes>, ingress: Ingress, problems: RouteProblem[]): void {
  const { rules = [], defaultBackend } = ingress.spec ?? {};
  const problem = (reason: string, message: string) => problems.push({ ingress: objectKey(ingress), reason, message });
  const refused = (backend: networking.IngressBackend) => {
    if (backend.resource !== undefined)
      problem("UnsupportedBackend", `the backend ${backend.resource.kind} ${backend.resource.name} is not a Service`);
  };
  if (defaultBackend !== undefined) refused(defaultBackend);
  for (const { host = "", http } of rules) {
    const routes = routesOf(hosts, host.toLowerCase());
    for (const { path = "/", pathType, backend } of http?.paths ?? []) {
      refused(backend);
      const [paths, key] =
        pathType === "Exact" ? [routes.exact, path] : [routes.prefixes, withoutSlash(path === "" ? "/" : path)];
      const known = paths.get(key);
      if (known === undefined) paths.set(key, routeTo(ingress, backend));
      else problem("Conflict", `${host === "" ? "" : `host ${host} `}path ${path} belongs to ${known.owner}`);
    }
    if (defaultBackend !== undefined) routes.fallback ??= routeTo(ingress, defaultBackend);
  }
}

/** The host of an Ingress that needs no DNS. */
export function localHostOf({ metadata }: Ingress): string {
  return `${metadata.name}.${metadata.namespace}.localhost`;
}

function addLocalHost(hosts: Map<string, HostRoutes>, ingress: Ingress): void {
  const own = localHostOf(ingress);
  if (hosts.has(own)) return;
  const { spec = {}, ...rest } = ingress;
  const rules = (spec.rules ?? []).map((rule) => ({ ...rule, host: own }));
  // Two rules may have the same path for different hosts: the first one gets it.
  addIngress(hosts, { ...rest, spec: { ...spec, rules: rules.length === 0 ? [{ host: own }] : rules } }, []);
}

function routesOf(hosts: Map<string, HostRoutes>, host: string): HostRoutes {
  const known = hosts.get(host);
  if (known !== undefined) return known;
  const made: HostRoutes = { exact: new Map(), prefixes: new Map(), fallback: undefined };
  hosts.set(host, made);
  return made;
}

function routeTo(ingress: Ingress, { service }: networking.IngressBackend): Route {
  const { namespace = "" } = ingress.metadata;
  const port = service?.port?.name ?? service?.port?.number;
  const isUsable = service !== undefined && port !== undefined && port !== "";
  const backend = isUsable ? { service: `${namespace}/${service.name}`, port } : undefined;
  return { owner: objectKey(ingress), backend };
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

function byAge(a: Ingress, b: Ingress): number {
  const [first = "", second = ""] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return objectKey(a) < objectKey(b) ? -1 : 1;
}
