/** Validation of admission policies, their bindings and their expressions. */
import { fits, isUnset } from "../definition/field-checks.ts";
import { isReserved } from "../machinery/cel/values/escape.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import {
  checkCIdentifier,
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkQualifiedName,
} from "../machinery/names/names.ts";
import type {
  AuditAnnotation,
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBindingSpec,
  Mutation,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  Validation,
  Variable,
} from "../types/admissionregistration-v1.ts";
import { expressionFaults } from "./expression-validation.ts";
import { Composition } from "./expressions/index.ts";
import { validateRule } from "./rule-validation.ts";
import {
  choiceFaults,
  failurePolicies,
  matchPolicies,
  reinvocationPolicies,
  validateMatchConditions,
} from "./webhook-validation.ts";

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const mutableOperations = ["*", "CONNECT", "CREATE", "UPDATE"];
const maxExpressionBytes = 5 * 1024;
const maxAuditAnnotations = 20;

export function validateValidatingPolicy(policy: ValidatingAdmissionPolicy, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const spec = policy.spec ?? {};
  const { validations = [], auditAnnotations = [] } = spec;
  const composition = compositionOf(spec);
  const errors = [...validateShared(spec, composition, where)];
  if (validations.length + auditAnnotations.length === 0) {
    const why = "validations or auditAnnotations must contain at least one item";
    return [...errors, required(where.child("validations"), why), required(where.child("auditAnnotations"), why)];
  }
  for (const [i, one] of validations.entries())
    errors.push(...validateValidation(one, composition, where.child("validations").index(i)));
  const name = policy.metadata.name ?? "";
  return [...errors, ...validateAnnotations(auditAnnotations, name, composition, where.child("auditAnnotations"))];
}

function validateAnnotations(
  annotations: readonly AuditAnnotation[],
  policy: string,
  composition: Composition,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (annotations.length > maxAuditAnnotations) {
    const given = annotations.map(({ key, valueExpression }) => ({ key, valueExpression }));
    errors.push(invalid(path, given, `must not have more than ${maxAuditAnnotations} auditAnnotations`));
  }
  const seen = new Set<string>();
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    const where = path.index(i);
    if (policy === "") errors.push(invalid(where.child("key"), key, "requires metadata.name be non-empty"));
    else errors.push(...fits(checkQualifiedName, `${policy}/${key}`, where.child("key")));
    const text = valueExpression.trim();
    const at = where.child("valueExpression");
    if (text === "") errors.push(required(at, "valueExpression is not specified"));
    else if (new TextEncoder().encode(text).length > maxExpressionBytes)
      errors.push(required(at, `must not exceed ${maxExpressionBytes} bytes in length`));
    else errors.push(...expressionFaults(composition.compile(text, "stringOrNull"), at, valueExpression));
    if (seen.has(key)) errors.push(duplicate(where.child("key"), key));
    seen.add(key);
  }
  return errors;
}

export function validateMutatingPolicy({ spec = {} }: MutatingAdmissionPolicy, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const composition = compositionOf(spec);
  const errors = [
    ...validateShared(spec, composition, where),
    ...operationFaults(spec.matchConstraints, where.child("matchConstraints")),
  ];
  const mutations = spec.mutations ?? [];
  if (mutations.length === 0)
    errors.push(required(where.child("mutations"), "mutations must contain at least one item"));
  for (const [i, one] of mutations.entries())
    errors.push(...validateMutation(one, composition, where.child("mutations").index(i)));
  if (!spec.reinvocationPolicy) errors.push(required(where.child("reinvocationPolicy")));
  else errors.push(...choiceFaults(spec.reinvocationPolicy, reinvocationPolicies, where.child("reinvocationPolicy")));
  return errors;
}

/** What is deleted cannot be mutated. */
function operationFaults(match: MatchResources | undefined, path: FieldPath): readonly FieldError[] {
  const where = path.child("resourceRules", "operations");
  return (match?.resourceRules ?? []).flatMap(({ operations = [] }) =>
    operations
      .filter((operation) => !mutableOperations.includes(operation))
      .map((operation) => notSupported(where, operation, mutableOperations)),
  );
}

/** `actions`: only bindings of validating policies have them. */
export function validateBinding(
  spec: MutatingAdmissionPolicyBindingSpec,
  actions: readonly string[] | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const name = spec.policyName ?? "";
  if (name === "") errors.push(required(path.child("policyName")));
  else {
    const wrong = checkDns1123Subdomain(name);
    if (wrong.length > 0) errors.push(invalid(path.child("policyName"), name, wrong.join(",")));
  }
  errors.push(...validateParamRef(spec.paramRef, path.child("paramRef")));
  if (spec.matchResources !== undefined)
    errors.push(...validateMatch(spec.matchResources, path.child("matchResources")));
  if (actions === undefined) errors.push(...operationFaults(spec.matchResources, path.child("matchResources")));
  else errors.push(...validateActions(actions, path.child("validationActions")));
  return errors;
}

type SharedSpec = Omit<NonNullable<MutatingAdmissionPolicy["spec"]>, "mutations" | "reinvocationPolicy">;

/** Without an expression there is nothing to compose. */
function compositionOf({ variables = [], paramKind }: SharedSpec): Composition {
  const stated = variables.filter(({ expression }) => expression.trim() !== "");
  return new Composition(stated, paramKind !== undefined);
}

function validateShared(spec: SharedSpec, composition: Composition, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isUnset(spec.failurePolicy)) errors.push(required(path.child("failurePolicy")));
  else errors.push(...choiceFaults(spec.failurePolicy, failurePolicies, path.child("failurePolicy")));
  if (spec.paramKind !== undefined) errors.push(...validateParamKind(spec.paramKind, path.child("paramKind")));
  const match = path.child("matchConstraints");
  if (spec.matchConstraints === undefined) errors.push(required(match));
  else {
    errors.push(...validateMatch(spec.matchConstraints, match));
    if ((spec.matchConstraints.resourceRules ?? []).length === 0) errors.push(required(match.child("resourceRules")));
  }
  const params = spec.paramKind !== undefined;
  errors.push(...validateMatchConditions(spec.matchConditions ?? [], path.child("matchConditions"), params));
  for (const [i, one] of (spec.variables ?? []).entries())
    errors.push(...validateVariable(one, composition, path.child("variables").index(i)));
  return errors;
}

function validateMatch(match: MatchResources, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isUnset(match.matchPolicy)) errors.push(required(path.child("matchPolicy")));
  else errors.push(...choiceFaults(match.matchPolicy, matchPolicies, path.child("matchPolicy")));
  errors.push(...validateLabelSelector(match.namespaceSelector, path.child("namespaceSelector")));
  errors.push(...validateLabelSelector(match.objectSelector, path.child("objectSelector")));
  for (const field of ["resourceRules", "excludeResourceRules"] as const) {
    for (const [i, rule] of (match[field] ?? []).entries()) {
      const where = path.child(field).index(i);
      for (const [j, name] of (rule.resourceNames ?? []).entries()) {
        const nameAt = where.child("resourceNames").index(j);
        for (const why of checkPathSegmentName(name)) errors.push(invalid(nameAt, name, why));
        if (rule.resourceNames?.indexOf(name) !== j) errors.push(duplicate(nameAt, name));
      }
      errors.push(...validateRule(rule, where));
    }
  }
  return errors;
}

function validateParamKind({ apiVersion = "", kind = "" }: ParamKind, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (apiVersion === "") errors.push(required(path.child("apiVersion")));
  else if (apiVersion.split("/").length > 2) {
    errors.push(invalid(path.child("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const [group, version = group] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    if (group)
      for (const why of checkDns1123Subdomain(group)) errors.push(invalid(path.child("apiVersion"), group, why));
    for (const why of checkDns1035Label(version ?? ""))
      errors.push(invalid(path.child("apiVersion"), version ?? "", why));
  }
  if (kind === "") errors.push(required(path.child("kind")));
  else {
    const wrong = checkDns1035Label(kind.toLowerCase());
    if (wrong.length > 0) {
      errors.push(
        invalid(path.child("kind"), kind, `may have mixed case, but should otherwise match: ${wrong.join(",")}`),
      );
    }
  }
  return errors;
}

function validateParamRef(ref: ParamRef | undefined, path: FieldPath): readonly FieldError[] {
  if (ref === undefined) return [];
  const { name = "", selector, parameterNotFoundAction: action } = ref;
  const errors: FieldError[] = [];
  if (name !== "") {
    for (const why of checkPathSegmentName(name)) errors.push(invalid(path.child("name"), name, why));
    if (selector !== undefined) errors.push(forbidden(path.child("name"), "name and selector are mutually exclusive"));
  }
  if (selector !== undefined) {
    errors.push(...validateLabelSelector(selector, path.child("selector")));
    if (name !== "") errors.push(forbidden(path.child("selector"), "name and selector are mutually exclusive"));
  }
  if (name === "" && selector === undefined) errors.push(required(path, "one of name or selector must be specified"));
  if (isUnset(action)) errors.push(required(path.child("parameterNotFoundAction")));
  else errors.push(...choiceFaults(action, ["Allow", "Deny"], path.child("parameterNotFoundAction")));
  return errors;
}

function validateActions(actions: readonly string[], path: FieldPath): readonly FieldError[] {
  if (actions.length === 0) return [required(path)];
  const known = ["Audit", "Deny", "Warn"];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, action] of actions.entries()) {
    if (!known.includes(action)) errors.push(notSupported(path.index(i), action, known));
    if (seen.has(action)) errors.push(duplicate(path.index(i), action));
    seen.add(action);
  }
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const why =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalid(path, actions, why));
  }
  return errors;
}

function validateVariable(
  { name, expression }: Variable,
  { variables }: Composition,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(required(path.child("name"), "name is not specified"));
  else if (checkCIdentifier(name).length > 0 || isReserved(name))
    errors.push(invalid(path.child("name"), name, "must be a valid CEL identifier"));
  const compiled = variables.get(name);
  if (expression.trim() === "") errors.push(required(path.child("expression"), "expression is not specified"));
  else if (compiled !== undefined) errors.push(...expressionFaults(compiled, path.child("expression"), expression));
  return errors;
}

function validateValidation(
  { expression, message = "", messageExpression = "", reason }: Validation,
  composition: Composition,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (expression.trim() === "") errors.push(required(path.child("expression"), "expression is not specified"));
  else errors.push(...expressionFaults(composition.compile(expression, "bool"), path.child("expression")));
  const where = path.child("messageExpression");
  if (messageExpression.trim() !== "") {
    errors.push(...expressionFaults(composition.compile(messageExpression, "string", { authorizer: false }), where));
  } else if (messageExpression !== "") {
    errors.push(invalid(where, messageExpression, "must be non-empty if specified"));
  }
  if (message !== "" && message.trim() === "")
    errors.push(invalid(path.child("message"), message, "message must be non-empty if specified"));
  else if (/[\n\r]/.test(message.trim()))
    errors.push(invalid(path.child("message"), message, "message must not contain line breaks"));
  return [...errors, ...choiceFaults(reason, reasons, path.child("reason"))];
}

function validateMutation(
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  composition: Composition,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const forms = {
    ApplyConfiguration: ["applyConfiguration", applyConfiguration],
    JSONPatch: ["jsonPatch", jsonPatch],
  } as const;
  if (!patchType) return [required(path.child("patchType"))];
  if (!Object.hasOwn(forms, patchType)) return [notSupported(path.child("patchType"), patchType, Object.keys(forms))];
  for (const [type, [field, form]] of Object.entries(forms)) {
    if (type === patchType && form === undefined)
      errors.push(required(path.child(field), `must be specified when patchType is ${type}`));
    else if (type === patchType) {
      const [text, at] = [form?.expression ?? "", path.child(field, "expression")];
      const returns = type === "JSONPatch" ? "patches" : "object";
      if (text.trim() === "") errors.push(required(at));
      else errors.push(...expressionFaults(composition.compile(text, returns, { patches: true }), at));
    } else if (form !== undefined) {
      errors.push(invalid(path.child(field), `{${field}}`, `must not be specified when patchType is ${patchType}`));
    }
  }
  return errors;
}
