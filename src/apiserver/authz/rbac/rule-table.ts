/**
 * The rules of a role, compiled so that a decision is a few look-ups, however many rules there are.
 *
 *     API group ──► resource ──► verb ──► names        path, or beginning of paths ──► verbs
 *
 * `*` is an entry of these tables, looked up besides the requested value: every group, every resource with its
 * subresources, every verb. A star, a slash and `scale` are that subresource of every resource.
 */
import type { rbac } from "#api";

/** True: any name. */
type Names = true | Set<string>;
type Verbs = Map<string, Names>;

export class RuleTable {
  readonly #groups = new Map<string, Map<string, Verbs>>();
  readonly #paths = new Map<string, Set<string>>();
  readonly #beginnings = new Map<string, Set<string>>();

  constructor(rules: readonly rbac.PolicyRule[]) {
    for (const rule of rules) {
      this.#addResources(rule);
      this.#addPaths(rule);
    }
  }

  /** `resource`: with its subresource, if there is one; `ofAny` is that subresource of every resource, or "". */
  allowsResource(group: string, resource: string, ofAny: string, verb: string, name: string): boolean {
    return (
      allowsIn(this.#groups.get(group), resource, ofAny, verb, name) ||
      allowsIn(this.#groups.get("*"), resource, ofAny, verb, name)
    );
  }

  allowsPath(path: string, verb: string): boolean {
    if (hasVerb(this.#paths.get(path), verb)) return true;
    for (const [beginning, verbs] of this.#beginnings) {
      if (path.startsWith(beginning) && hasVerb(verbs, verb)) return true;
    }
    return false;
  }

  #addResources({ verbs, apiGroups, resources, resourceNames }: rbac.PolicyRule): void {
    for (const group of apiGroups ?? []) {
      const inGroup = at(this.#groups, group, () => new Map<string, Verbs>());
      for (const resource of resources ?? []) {
        const ofResource = at(inGroup, resource, () => new Map<string, Names>());
        for (const verb of verbs ?? []) addNames(ofResource, verb, resourceNames ?? []);
      }
    }
  }

  #addPaths({ verbs, nonResourceURLs }: rbac.PolicyRule): void {
    for (const url of nonResourceURLs ?? []) {
      add(
        at(this.#paths, url, () => new Set<string>()),
        verbs,
      );
      if (url.endsWith("*"))
        add(
          at(this.#beginnings, url.replace(/\*+$/, ""), () => new Set<string>()),
          verbs,
        );
    }
  }
}

function allowsIn(
  resources: Map<string, Verbs> | undefined,
  resource: string,
  ofAny: string,
  verb: string,
  name: string,
): boolean {
  if (resources === undefined) return false;
  return (
    allowsVerb(resources.get(resource), verb, name) ||
    allowsVerb(resources.get("*"), verb, name) ||
    (ofAny !== "" && allowsVerb(resources.get(ofAny), verb, name))
  );
}

function allowsVerb(verbs: Verbs | undefined, verb: string, name: string): boolean {
  return verbs !== undefined && (allowsName(verbs.get(verb), name) || allowsName(verbs.get("*"), name));
}

function allowsName(names: Names | undefined, name: string): boolean {
  return names === true || names?.has(name) === true;
}

function hasVerb(verbs: ReadonlySet<string> | undefined, verb: string): boolean {
  return verbs !== undefined && (verbs.has(verb) || verbs.has("*"));
}

function addNames(verbs: Verbs, verb: string, names: readonly string[]): void {
  const known = verbs.get(verb);
  if (known === true) return;
  verbs.set(verb, names.length === 0 ? true : add(known ?? new Set(), names));
}

function add(to: Set<string>, values: readonly string[] | undefined): Set<string> {
  for (const value of values ?? []) to.add(value);
  return to;
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
