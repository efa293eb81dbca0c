/**
 * FlowSchemas, compiled: which requests they match, and which flow a request belongs to.
 *
 * 1. A list with `*` has nothing else, as validation demands: it matches without a look at the request.
 */
import type { flowcontrol } from "#api";
import type { RequestInfo } from "../http/request-info.ts";
import { serviceAccountUser } from "../identity/service-account-name.ts";
import type { UserInfo } from "../identity/user.ts";

type Matcher = (info: RequestInfo) => boolean;
export type SubjectMatcher = (user: UserInfo) => boolean;

interface Rule {
  readonly subject: SubjectMatcher;
  readonly resource: readonly Matcher[];
  readonly path: readonly Matcher[];
}

export class CompiledSchema {
  readonly name: string;
  readonly uid: string;
  readonly precedence: number;
  readonly level: string;
  readonly #method: string | undefined;
  readonly #rules: readonly Rule[];

  constructor({ metadata, spec }: flowcontrol.FlowSchema) {
    this.name = metadata.name ?? "";
    this.uid = metadata.uid ?? "";
    this.precedence = spec?.matchingPrecedence ?? 1000;
    this.level = spec?.priorityLevelConfiguration?.name ?? "";
    this.#method = spec?.distinguisherMethod?.type;
    this.#rules = (spec?.rules ?? []).map(compileRule);
  }

  matches(user: UserInfo, info: RequestInfo): boolean {
    for (const { subject, resource, path } of this.#rules) {
      const matchers = info.isResourceRequest ? resource : path;
      if (matchers.length === 0 || !subject(user)) continue;
      for (const matches of matchers) if (matches(info)) return true;
    }
    return false;
  }

  /** Of the rules that match such requests, the subjects. Names of objects do not matter. */
  subjects(info: RequestInfo): readonly SubjectMatcher[] {
    return this.#rules
      .filter(({ resource, path }) => (info.isResourceRequest ? resource : path).some((matches) => matches(info)))
      .map(({ subject }) => subject);
  }

  /** Requests with the same distinguisher are one flow. */
  distinguisher(user: UserInfo, info: RequestInfo): string {
    if (this.#method === "ByUser") return user.name;
    return this.#method === "ByNamespace" ? info.namespace : "";
  }
}

/** The order in which schemas are tried. */
export function byPrecedence(a: CompiledSchema, b: CompiledSchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : Number(a.name > b.name));
}

function compileRule({ subjects, resourceRules, nonResourceRules }: flowcontrol.PolicyRulesWithSubjects): Rule {
  return {
    subject: compileSubjects(subjects ?? []),
    resource: (resourceRules ?? []).map(compileResourceRule),
    path: (nonResourceRules ?? []).map(compilePathRule),
  };
}

function compileSubjects(subjects: readonly flowcontrol.Subject[]): SubjectMatcher {
  const users = new Set<string>();
  const groups = new Set<string>();
  const accountPrefixes: string[] = [];
  for (const { kind, user, group, serviceAccount } of subjects) {
    if (kind === "User" && user !== undefined) users.add(user.name);
    else if (kind === "Group" && group !== undefined) groups.add(group.name);
    else if (kind !== "ServiceAccount" || serviceAccount === undefined) continue;
    else if (serviceAccount.name === "*") accountPrefixes.push(serviceAccountUser({ ...serviceAccount, name: "" }));
    else users.add(serviceAccountUser(serviceAccount));
  }
  if (users.has("*") || groups.has("*")) return () => true;
  return (user) => {
    if (users.size > 0 && users.has(user.name)) return true;
    if (groups.size > 0) for (const group of user.groups) if (groups.has(group)) return true;
    for (const prefix of accountPrefixes) if (user.name.startsWith(prefix)) return true;
    return false;
  };
}

function compileResourceRule(rule: flowcontrol.ResourcePolicyRule): Matcher {
  const verb = oneOf(rule.verbs);
  const group = oneOf(rule.apiGroups);
  const resource = oneOf(rule.resources);
  const namespace = oneOf(rule.namespaces);
  const clusterScope = rule.clusterScope === true;
  return (info) =>
    verb(info.verb) &&
    group(info.apiGroup) &&
    resource(info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`) &&
    (info.namespace === "" ? clusterScope : namespace(info.namespace));
}

function compilePathRule({ verbs, nonResourceURLs = [] }: flowcontrol.NonResourcePolicyRule): Matcher {
  const verb = oneOf(verbs);
  if (nonResourceURLs.includes("*")) return (info) => verb(info.verb);
  const exact = new Set(nonResourceURLs);
  const prefixes = nonResourceURLs.map((url) => {
    const prefix = url.endsWith("*") ? url.slice(0, -1) : url;
    return prefix.endsWith("/") ? prefix : `${prefix}/`;
  });
  return (info) => verb(info.verb) && (exact.has(info.path) || prefixes.some((prefix) => info.path.startsWith(prefix)));
}

const ANY = () => true;

function oneOf(values: readonly string[] | undefined): (value: string) => boolean {
  if (values === undefined || values.length === 0) return () => false;
  if (values.includes("*")) return ANY;
  const [only] = values;
  if (values.length === 1) return (value) => value === only;
  const set = new Set(values);
  return (value) => set.has(value);
}
