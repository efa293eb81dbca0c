/**
 * Which rights of some rules other rules do not cover: users may grant only what they hold.
 *
 * A right is one verb on one resource of one group, with one name or with any, or one verb on one path. It is covered
 * if one rule covers it whole.
 */
import { goQuote, type rbac } from "#api";

type Rule = rbac.PolicyRule;

/** The rights among `wanted` that no rule of `held` covers, each as a rule of its own. */
export function uncovered(held: readonly Rule[], wanted: readonly Rule[]): readonly Rule[] {
  return wanted.flatMap(rights).filter((right) => !held.some((rule) => covers(rule, right)));
}

function rights({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): readonly Rule[] {
  const found: Rule[] = [];
  for (const group of apiGroups ?? []) {
    for (const resource of resources ?? []) {
      for (const verb of verbs ?? []) {
        const right = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if ((resourceNames ?? []).length === 0) found.push(right);
        for (const name of resourceNames ?? []) found.push({ ...right, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs ?? []) {
    for (const verb of verbs ?? []) found.push({ nonResourceURLs: [url], verbs: [verb] });
  }
  return found;
}

function covers(rule: Rule, right: Rule): boolean {
  return (
    all(right.verbs, (verb) => hasOrStar(rule.verbs, verb)) &&
    all(right.apiGroups, (group) => hasOrStar(rule.apiGroups, group)) &&
    all(right.resources, (resource) => coversResource(rule.resources ?? [], resource)) &&
    all(right.nonResourceURLs, (url) => (rule.nonResourceURLs ?? []).some((own) => coversPath(own, url))) &&
    coversNames(rule.resourceNames ?? [], right.resourceNames ?? [])
  );
}

function all(wanted: readonly string[] | undefined, has: (value: string) => boolean): boolean {
  return (wanted ?? []).every(has);
}

function hasOrStar(list: readonly string[] | undefined, value: string): boolean {
  return list?.includes("*") === true || list?.includes(value) === true;
}

function coversResource(own: readonly string[], resource: string): boolean {
  if (hasOrStar(own, resource)) return true;
  const slash = resource.indexOf("/");
  return slash !== -1 && own.includes(`*${resource.slice(slash)}`);
}

function coversPath(own: string, path: string): boolean {
  return own === path || (own.endsWith("*") && path.startsWith(own.replace(/\*+$/, "")));
}

/** A right without a name is one for every name. */
function coversNames(own: readonly string[], wanted: readonly string[]): boolean {
  return own.length === 0 || (wanted.length > 0 && wanted.every((name) => own.includes(name)));
}

/** Rights as in a refusal: verbs of one resource together, sorted, each line once. */
export function describeRights(missing: readonly Rule[]): string {
  const verbsOf = new Map<string, string[]>();
  const lines: Rule[] = [];
  for (const right of missing) {
    const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs } = right;
    if (resourceNames.length > 0 || nonResourceURLs.length > 0) {
      lines.push(right);
      continue;
    }
    const key = `${apiGroups[0]}/${resources[0]}`;
    const known = verbsOf.get(key);
    if (known === undefined) {
      const together = [...verbs];
      verbsOf.set(key, together);
      lines.push({ apiGroups, resources, verbs: together });
    } else known.push(...verbs);
  }
  return [...new Set(lines.map(describeRule))].sort().join("\n");
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Rule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  const shown = parts.filter(([, values]) => (values ?? []).length > 0);
  return `{${shown.map(([name, values]) => `${name}:${quoted(values ?? [])}`).join(", ")}}`;
}

/** Like Go's %q of a string slice. */
export function quoted(words: readonly string[]): string {
  return `[${words.map(goQuote).join(" ")}]`;
}
