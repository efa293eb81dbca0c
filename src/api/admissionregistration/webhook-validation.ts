/** Validation of webhooks. */
import { isUnset } from "../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPortNumber,
  checkQualifiedName,
} from "../machinery/names/names.ts";
import type {
  MatchCondition,
  MutatingWebhook,
  ServiceReference,
  ValidatingWebhook,
  WebhookClientConfig,
} from "../types/admissionregistration-v1.ts";
import { expressionFaults } from "./expression-validation.ts";
import { compileExpression } from "./expressions/index.ts";
import { validateRule } from "./rule-validation.ts";

export const failurePolicies = ["Fail", "Ignore"];
export const matchPolicies = ["Equivalent", "Exact"];
export const reinvocationPolicies = ["IfNeeded", "Never"];
const reviewVersions = ["v1", "v1beta1"];
const form = "; desired format: https://host[/path]";

export function validateWebhooks(
  webhooks: readonly (ValidatingWebhook | MutatingWebhook)[],
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, webhook] of webhooks.entries()) {
    errors.push(...validateWebhook(webhook, path.index(i)));
    if (webhook.name !== "" && seen.has(webhook.name))
      errors.push(duplicate(path.index(i).child("name"), webhook.name));
    seen.add(webhook.name);
    errors.push(
      ...validateReviewVersions(webhook.admissionReviewVersions ?? [], path.index(i).child("admissionReviewVersions")),
    );
  }
  return errors;
}

function validateWebhook(webhook: ValidatingWebhook | MutatingWebhook, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [...nameFaults(webhook.name, path.child("name"))];
  for (const [i, rule] of (webhook.rules ?? []).entries())
    errors.push(...validateRule(rule, path.child("rules").index(i)));
  errors.push(...choiceFaults(webhook.failurePolicy, failurePolicies, path.child("failurePolicy")));
  errors.push(...choiceFaults(webhook.matchPolicy, matchPolicies, path.child("matchPolicy")));
  const effects = path.child("sideEffects");
  if (isUnset(webhook.sideEffects)) errors.push(required(effects, "must specify one of None, NoneOnDryRun"));
  else errors.push(...choiceFaults(webhook.sideEffects, ["None", "NoneOnDryRun"], effects));
  const seconds = webhook.timeoutSeconds;
  if (seconds !== undefined && (seconds < 1 || seconds > 30)) {
    errors.push(invalid(path.child("timeoutSeconds"), seconds, "the timeout value must be between 1 and 30 seconds"));
  }
  errors.push(...validateLabelSelector(webhook.namespaceSelector, path.child("namespaceSelector")));
  errors.push(...validateLabelSelector(webhook.objectSelector, path.child("objectSelector")));
  if ("reinvocationPolicy" in webhook) {
    errors.push(...choiceFaults(webhook.reinvocationPolicy, reinvocationPolicies, path.child("reinvocationPolicy")));
  }
  errors.push(...validateClient(webhook.clientConfig, path.child("clientConfig")));
  errors.push(...validateMatchConditions(webhook.matchConditions ?? [], path.child("matchConditions")));
  return errors;
}

export function choiceFaults(
  choice: string | undefined,
  choices: readonly string[],
  path: FieldPath,
): readonly FieldError[] {
  return choice === undefined || choices.includes(choice) ? [] : [notSupported(path, choice, choices)];
}

/** `params`: conditions of a policy with a paramKind may read `params`. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: FieldPath,
  params = false,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > 64) errors.push(tooMany(path, conditions.length, 64));
  const seen = new Set<string>();
  for (const [i, { name, expression }] of conditions.entries()) {
    const where = path.index(i);
    const text = expression.trim();
    if (text === "") errors.push(required(where.child("expression")));
    else errors.push(...expressionFaults(compileExpression(text, "bool", { params }), where.child("expression")));
    if (name === "") errors.push(required(where.child("name")));
    else for (const why of checkQualifiedName(name)) errors.push(invalid(where.child("name"), name, why));
    if (name !== "" && seen.has(name)) errors.push(duplicate(where.child("name"), name));
    seen.add(name);
  }
  return errors;
}

function nameFaults(name: string, path: FieldPath): readonly FieldError[] {
  if (name === "") return [required(path)];
  const wrong = checkDns1123Subdomain(name);
  if (wrong.length > 0) return [invalid(path, name, wrong.join(","))];
  if (name.split(".").length < 3)
    return [invalid(path, name, "should be a domain with at least three segments separated by dots")];
  return [];
}

function validateReviewVersions(versions: readonly string[], path: FieldPath): readonly FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(", ")}`)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(path.index(i), version, "duplicate version"));
    seen.add(version);
    const wrong = checkDns1035Label(version);
    if (wrong.length > 0) errors.push(invalid(path.index(i), version, wrong.join(",")));
  }
  if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(", ")}`));
  }
  return errors;
}

function validateClient({ url, service }: WebhookClientConfig, path: FieldPath): readonly FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(path, "exactly one of url or service is required")];
  if (service !== undefined) return validateService(service, path.child("service"));
  return validateUrl(url ?? "", path.child("url"));
}

export function validateUrl(text: string, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [, scheme = "", rest = ""] = /^(?:([^:/?#]+):)?(.*)$/.exec(text) ?? [];
  const [, authority = "", query = "", fragment = ""] =
    /^(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(rest) ?? [];
  const [user, host] = authority.includes("@") ? authority.split(/@(?=[^@]*$)/) : [undefined, authority];
  if (scheme !== "https") errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${form}`));
  if (!host) errors.push(invalid(path, host ?? "", `host must be specified${form}`));
  if (user !== undefined) errors.push(invalid(path, user, "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

/** Kubernetes swaps the two names here. */
export function validateService(
  { name, namespace, port, path: urlPath }: ServiceReference,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (namespace === "") errors.push(required(path.child("name")));
  if (name === "") errors.push(required(path.child("namespace")));
  if (port !== undefined) {
    const wrong = checkPortNumber(port);
    if (wrong.length > 0) errors.push(invalid(path.child("port"), port, `port is not valid: ${wrong.join(",")}`));
  }
  return urlPath === undefined ? errors : [...errors, ...urlPathFaults(urlPath, path.child("path"))];
}

function urlPathFaults(urlPath: string, path: FieldPath): readonly FieldError[] {
  if (urlPath === "/" || urlPath === "") return [];
  if (urlPath === "//") return [invalid(path, urlPath, "segment[0] may not be empty")];
  const errors = urlPath.startsWith("/") ? [] : [invalid(path, urlPath, "must start with a '/'")];
  const steps = urlPath.slice(1).replace(/\/$/, "").split("/");
  for (const [i, step] of steps.entries()) {
    if (step === "") errors.push(invalid(path, urlPath, `segment[${i}] may not be empty`));
    else for (const why of checkDns1123Subdomain(step)) errors.push(invalid(path, urlPath, `segment[${i}]: ${why}`));
  }
  return errors;
}
