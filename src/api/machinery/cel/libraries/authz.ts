/**
 * `authorizer`: authorization checks from within an expression.
 *
 *     authorizer.group("apps").resource("deployments").namespace("web").check("delete").allowed()
 *
 * 1. The value of the variable `authorizer` holds the function that decides, synchronously.
 * 2. Checks are immutable: each step gives a new one. The authorizer is called only by `check`.
 * 3. A malformed selector is dropped and reported as malformed: the check is then the wider one.
 */
import type { FieldTerm } from "../../names/field-selector.ts";
import { FieldSelectorError, parseFieldSelector } from "../../names/field-selector.ts";
import { parseLabelSelector } from "../../names/label-syntax.ts";
import { type LabelRequirement, LabelSelectorError } from "../../names/labels.ts";
import { checkDns1123Label, checkDns1123Subdomain } from "../../names/names.ts";
import { type Costs, costSize, nominal, sizeRange } from "../functions/call-costs.ts";
import { addRanges, costs, type Range, range, scaleRange } from "../functions/cost.ts";
import { fixedCost, fn, type Library, member, type Overload } from "../functions/function.ts";
import { bool, type OpaqueType, opaque, string, type Type } from "../values/type.ts";
import { CelError, Opaque, type Outcome } from "../values/value.ts";
import { trim } from "./text/characters.ts";

/** The user. */
export interface AuthorizerUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The attributes of the check. */
export interface AuthorizerAttributes {
  readonly user: AuthorizerUser;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly selectors: {
    readonly field: readonly FieldTerm[];
    readonly label: readonly LabelRequirement[];
    readonly unreadable: readonly ("fieldSelector" | "labelSelector")[];
  };
}

export interface AuthorizerVerdict {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
  readonly error?: string | undefined;
}

export type Authorize = (attributes: AuthorizerAttributes) => AuthorizerVerdict;

export const authorizerType = opaque("kubernetes.authorization.Authorizer");
export const pathCheckType = opaque("kubernetes.authorization.PathCheck");
export const groupCheckType = opaque("kubernetes.authorization.GroupCheck");
export const resourceCheckType = opaque("kubernetes.authorization.ResourceCheck");
export const decisionType = opaque("kubernetes.authorization.Decision");

/** A value that has only functions; it equals only itself. */
abstract class Receiver extends Opaque {
  override equals(other: Opaque): boolean {
    return other === this;
  }
}

export class AuthorizerValue extends Receiver {
  override readonly type: OpaqueType = authorizerType;
  readonly user: AuthorizerUser;
  readonly authorize: Authorize;

  constructor(user: AuthorizerUser, authorize: Authorize) {
    super();
    this.user = user;
    this.authorize = authorize;
  }
}

class PathCheck extends Receiver {
  override readonly type: OpaqueType = pathCheckType;
  readonly authorizer: AuthorizerValue;
  readonly path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends Receiver {
  override readonly type: OpaqueType = groupCheckType;
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

export interface CheckedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** Also the variable `authorizer.requestResource`: the resource of the request. */
export class ResourceCheck extends Receiver {
  override readonly type: OpaqueType = resourceCheckType;
  readonly authorizer: AuthorizerValue;
  readonly about: CheckedResource;

  constructor(authorizer: AuthorizerValue, about: CheckedResource) {
    super();
    this.authorizer = authorizer;
    this.about = about;
  }
}

class DecisionValue extends Receiver {
  override readonly type: OpaqueType = decisionType;
  readonly verdict: AuthorizerVerdict;

  constructor(verdict: AuthorizerVerdict) {
    super();
    this.verdict = verdict;
  }
}

const checking = fixedCost(350_000);

export const authz: Library = {
  name: "kubernetes.authz",
  types: [authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType].map((type) => ({
    type,
    equality: () => range(1),
  })),
  functions: [
    fn("path", member("authorizer_path", [authorizerType, string], pathCheckType, path, nominal)),
    fn("group", member("authorizer_group", [authorizerType, string], groupCheckType, group, nominal)),
    fn(
      "serviceAccount",
      member("authorizer_serviceaccount", [authorizerType, string, string], authorizerType, serviceAccount, nominal),
    ),
    fn("resource", member("groupcheck_resource", [groupCheckType, string], resourceCheckType, resource, nominal)),
    fn("subresource", narrowing("resourcecheck_subresource", "subresource", nominal)),
    fn("namespace", narrowing("resourcecheck_namespace", "namespace", nominal)),
    fn("name", narrowing("resourcecheck_name", "name", nominal)),
    fn(
      "check",
      member("pathcheck_check", [pathCheckType, string], decisionType, checkPath, checking),
      member("resourcecheck_check", [resourceCheckType, string], decisionType, checkResource, checking),
    ),
    fn(
      "allowed",
      reading("decision_allowed", bool, ({ decision }) => decision === "allow"),
    ),
    fn(
      "reason",
      reading("decision_reason", string, ({ reason }) => reason),
    ),
    fn(
      "errored",
      reading("decision_errored", bool, ({ error }) => error !== undefined),
    ),
    fn(
      "error",
      reading("decision_error", string, ({ error }) => error ?? ""),
    ),
  ],
};

const selecting: Costs = {
  cost: ([, selector]) => selectorCost(range(costSize(selector))).max,
  estimate: ([, selector]) => ({ cost: selectorCost(sizeRange(selector)) }),
};

export const authzSelectors: Library = {
  name: "kubernetes.authzSelectors",
  types: [{ type: resourceCheckType, equality: () => range(1) }],
  functions: [
    fn("fieldSelector", narrowing("authorizer_fieldselector", "fieldSelector", selecting)),
    fn("labelSelector", narrowing("authorizer_labelselector", "labelSelector", selecting)),
  ],
};

/** A requirement may be as short as two characters, and costs a structure and a list. */
function selectorCost(length: Range): Range {
  const requirements = scaleRange(length, 0.5);
  const parsed = addRanges(range(costs.listCreate), scaleRange(length, costs.stringTraversal));
  return addRanges(parsed, scaleRange(requirements, costs.listCreate + costs.structCreate));
}

function narrowing(id: string, part: Exclude<keyof CheckedResource, "group" | "resource">, cost: Costs): Overload {
  const narrowed = ({ authorizer, about }: ResourceCheck, value: string) =>
    new ResourceCheck(authorizer, { ...about, [part]: value });
  return member(id, [resourceCheckType, string], resourceCheckType, narrowed, cost);
}

function reading(id: string, result: Type, read: (verdict: AuthorizerVerdict) => boolean | string): Overload {
  return member(id, [decisionType], result, ({ verdict }: DecisionValue) => read(verdict), nominal);
}

function path(authorizer: AuthorizerValue, text: string): Outcome {
  return trim(text) === "" ? new CelError("path must not be empty") : new PathCheck(authorizer, text);
}

function group(authorizer: AuthorizerValue, name: string): Outcome {
  return new GroupCheck(authorizer, name);
}

function serviceAccount({ authorize }: AuthorizerValue, namespace: string, name: string): Outcome {
  if (checkDns1123Subdomain(name).length > 0) return new CelError("Invalid service account name");
  if (checkDns1123Label(namespace).length > 0) return new CelError("Invalid service account namespace");
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue({ name: `system:serviceaccount:${namespace}:${name}`, groups }, authorize);
}

function resource({ authorizer, group }: GroupCheck, name: string): Outcome {
  if (trim(name) === "") return new CelError("resource must not be empty");
  return new ResourceCheck(authorizer, { group, resource: name });
}

function checkPath({ authorizer, path }: PathCheck, verb: string): Outcome {
  return new DecisionValue(
    authorizer.authorize({
      user: authorizer.user,
      verb,
      isResourceRequest: false,
      path,
      apiGroup: "",
      apiVersion: "",
      resource: "",
      subresource: "",
      namespace: "",
      name: "",
      selectors: { field: [], label: [], unreadable: [] },
    }),
  );
}

function checkResource({ authorizer, about }: ResourceCheck, verb: string): Outcome {
  return new DecisionValue(
    authorizer.authorize({
      user: authorizer.user,
      verb,
      isResourceRequest: true,
      path: "",
      apiGroup: about.group,
      apiVersion: "*",
      resource: about.resource,
      subresource: about.subresource ?? "",
      namespace: about.namespace ?? "",
      name: about.name ?? "",
      selectors: selectorsOf(about),
    }),
  );
}

function selectorsOf({ fieldSelector = "", labelSelector = "" }: CheckedResource): AuthorizerAttributes["selectors"] {
  const unreadable: ("fieldSelector" | "labelSelector")[] = [];
  const readable = <T>(which: "fieldSelector" | "labelSelector", read: () => readonly T[]): readonly T[] => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FieldSelectorError || error instanceof LabelSelectorError)) throw error;
      unreadable.push(which);
      return [];
    }
  };
  const field = fieldSelector === "" ? [] : readable("fieldSelector", () => parseFieldSelector(fieldSelector).terms);
  const label =
    labelSelector === "" ? [] : readable("labelSelector", () => parseLabelSelector(labelSelector).requirements);
  return { field, label, unreadable };
}
