/** ABAC: a file with a policy in each line, read at the start. A request is allowed if a policy matches. */
import { isObject, type Json, type JsonObject } from "#api";
import { AUTHENTICATED, type UserInfo } from "../identity/user.ts";
import type { Attributes } from "./attributes.ts";
import { AuthorizationConfigError } from "./config-error.ts";
import type { Mode } from "./mode.ts";
import { ALLOW, noOpinion } from "./verdict.ts";

export interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const API_GROUP = "abac.authorization.kubernetes.io";
const READING = ["get", "list", "watch"];
const FIELDS = new Set(["user", "group", "readonly", "apiGroup", "resource", "namespace", "nonResourcePath"]);

export function abac(policies: readonly Policy[], name = "abac"): Mode {
  const refusal = noOpinion("No policy matched.");
  return {
    type: "ABAC",
    name,
    authorize: (attributes) => (policies.some((policy) => allows(policy, attributes)) ? ALLOW : refusal),
    rulesFor: (user, namespace) => {
      const own = policies.filter((policy) => isFor(policy, user) && star(policy.namespace, namespace));
      const verbs = (policy: Policy) => (policy.readonly ? READING : ["*"]);
      return {
        resourceRules: own
          .filter(({ resource }) => resource !== "")
          .map((policy) => ({ verbs: verbs(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
        nonResourceRules: own
          .filter(({ nonResourcePath }) => nonResourcePath !== "")
          .map((policy) => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false,
      };
    },
  };
}

function allows(policy: Policy, attributes: Attributes): boolean {
  const { user, verb, isResourceRequest, path, namespace, resource, apiGroup } = attributes;
  if (!isFor(policy, user) || (policy.readonly && !READING.includes(verb))) return false;
  if (isResourceRequest) {
    return star(policy.namespace, namespace) && star(policy.resource, resource) && star(policy.apiGroup, apiGroup);
  }
  const { nonResourcePath: own } = policy;
  return own === path || (own.endsWith("*") && path.startsWith(own.replace(/\*+$/, "")));
}

function star(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}

/** A policy without user and group matches nobody. */
function isFor({ user, group }: Policy, { name, groups }: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || star(user, name)) && (group === "" || group === "*" || groups.includes(group));
}

export function parsePolicyFile(text: string, file: string): readonly Policy[] {
  return text.split(/\r?\n/).flatMap((line, i): readonly Policy[] => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    const fault = (why: string) => new AuthorizationConfigError(`${file}, line ${i + 1}: ${why}`);
    let value: Json;
    try {
      value = JSON.parse(trimmed) as Json;
    } catch (error) {
      throw fault(`this is not JSON: ${(error as Error).message}.`);
    }
    if (!isObject(value)) throw fault("a policy is a JSON object.");
    return [value.kind === undefined && value.apiVersion === undefined ? unversioned(value) : versioned(value, fault)];
  });
}

function versioned({ apiVersion, kind, spec }: JsonObject, fault: (why: string) => Error): Policy {
  if (kind !== "Policy" || apiVersion !== `${API_GROUP}/v1beta1`) {
    throw fault(`a policy has the kind Policy and the apiVersion ${API_GROUP}/v1beta1.`);
  }
  if (!isObject(spec ?? null)) throw fault("a policy has a spec.");
  const fields = spec as JsonObject;
  const unknown = Object.keys(fields).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) throw fault(`a policy has no field "${unknown}".`);
  const policy = read(fields);
  return policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: AUTHENTICATED } : policy;
}

/** Policies of the first format, which has no version: omitted fields match everything. */
function unversioned(fields: JsonObject): Policy {
  const policy = read(fields);
  const everyone = (policy.user === "" && policy.group === "") || policy.user === "*" || policy.group === "*";
  return {
    ...policy,
    ...(everyone && { user: "", group: AUTHENTICATED }),
    namespace: policy.namespace === "" ? "*" : policy.namespace,
    resource: policy.resource === "" ? "*" : policy.resource,
    apiGroup: "*",
    nonResourcePath: policy.namespace === "" && policy.resource === "" ? "*" : "",
  };
}

function read(fields: JsonObject): Policy {
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  return {
    user: text("user"),
    group: text("group"),
    readonly: fields.readonly === true,
    apiGroup: text("apiGroup"),
    resource: text("resource"),
    namespace: text("namespace"),
    nonResourcePath: text("nonResourcePath"),
  };
}
