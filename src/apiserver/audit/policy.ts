/**
 * Which requests are audited at which level: the first matching rule decides.
 *
 * 1. A request that matches no rule is not audited.
 * 2. Empty lists match everything. A rule with namespaces or resources matches resource requests only, one with URLs
 *    only other requests.
 */

import type { RequestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";

export const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
export const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type Level = (typeof LEVELS)[number];
export type Stage = (typeof STAGES)[number];

export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
}

export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
  /** Absent: as in the policy. */
  readonly omitManagedFields?: boolean | undefined;
}

export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** How a request is audited. */
export interface Verdict {
  readonly level: Level;
  /** Whose bodies are recorded. */
  readonly objects: "none" | "request" | "both";
  readonly omitted: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export type Decide = (user: UserInfo | undefined, info: RequestInfo) => Verdict;

export function compilePolicy(policy: Policy): Decide {
  const rules = policy.rules.map((rule) => ({ matches: compileRule(rule), verdict: verdictOf(rule, policy) }));
  const otherwise = verdictOf({ level: "None", omitStages: [] }, policy);
  return (user, info) => {
    for (const { matches, verdict } of rules) if (matches(user, info)) return verdict;
    return otherwise;
  };
}

function verdictOf(
  { level, omitStages, omitManagedFields }: Pick<PolicyRule, "level" | "omitStages" | "omitManagedFields">,
  policy: Policy,
): Verdict {
  return {
    level,
    objects: level === "RequestResponse" ? "both" : level === "Request" ? "request" : "none",
    omitted: new Set([...policy.omitStages, ...omitStages]),
    omitManagedFields: omitManagedFields ?? policy.omitManagedFields,
  };
}

type RuleMatcher = (user: UserInfo | undefined, info: RequestInfo) => boolean;

function compileRule(rule: PolicyRule): RuleMatcher {
  const users = new Set(rule.users);
  const groups = new Set(rule.userGroups);
  const verbs = new Set(rule.verbs);
  const about = aboutOf(rule);
  return (user, info) =>
    (users.size === 0 || (user !== undefined && users.has(user.name))) &&
    (groups.size === 0 || user?.groups.some((group) => groups.has(group)) === true) &&
    (verbs.size === 0 || verbs.has(info.verb)) &&
    about(info);
}

function aboutOf({ namespaces, resources, nonResourceURLs }: PolicyRule): (info: RequestInfo) => boolean {
  if (namespaces.length > 0 || resources.length > 0) {
    const places = new Set(namespaces);
    return (info) =>
      info.isResourceRequest &&
      (places.size === 0 || places.has(info.namespace)) &&
      (resources.length === 0 || resources.some((one) => namesResource(one, info)));
  }
  if (nonResourceURLs.length === 0) return () => true;
  return (info) => !info.isResourceRequest && nonResourceURLs.some((url) => matchesPath(info.path, url));
}

function namesResource({ group, resources, resourceNames }: GroupResources, info: RequestInfo): boolean {
  if (group !== "*" && group !== info.apiGroup) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === "*" ||
      one === whole ||
      (subresource !== "" && one === `*/${subresource}`) ||
      (one.endsWith("/*") && one.slice(0, -2) === resource),
  );
}

function matchesPath(path: string, url: string): boolean {
  if (url === "*" || url === path) return true;
  return url.endsWith("*") && path.startsWith(url.replace(/\*+$/, ""));
}
