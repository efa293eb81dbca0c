/** Rules of a schema: that they are said properly, that they compile, and that they cannot cost too much. */
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import type { JSONSchemaProps, ValidationRule } from "../../types/apiextensions-v1.ts";
import type { RuleScope } from "../rules/rule-scope.ts";
import { FieldReferenceError, fieldReference } from "../schema/field-reference.ts";
import { compiledRuleFaults } from "./rule-costs.ts";

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const lineBreak = /[\n\r]/;

export interface RuleContext {
  /** Undefined where rules are not to be compiled. */
  readonly scope: RuleScope | undefined;
  readonly uncorrelated: FieldPath | undefined;
  readonly anyCost: boolean;
}

/** `clean` is asked when all that is said has been looked at: whether the schema is fit to compile rules from. */
export function ruleFaults(
  schema: JSONSchemaProps,
  path: FieldPath,
  context: RuleContext,
  clean: () => boolean,
  found: { readonly schema: FieldError[]; readonly rules: FieldError[] },
): void {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0) return;
  const where = path.child("x-kubernetes-validations");
  for (const [i, rule] of rules.entries()) found.schema.push(...saidFaults(rule, schema, where.index(i)));
  const { scope } = context;
  if (scope !== undefined && clean())
    found.rules.push(...compiledRuleFaults(scope, where, context.uncorrelated, context.anyCost));
}

function saidFaults(
  { rule = "", message = "", messageExpression = "", reason, fieldPath = "" }: ValidationRule,
  schema: JSONSchemaProps,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [trimmed, told] = [rule.trim(), message.trim()];
  if (trimmed === "") errors.push(required(path.child("rule"), "rule is not specified"));
  else if (message !== "" && told === "")
    errors.push(invalid(path.child("message"), message, "must be non-empty if specified"));
  else if (lineBreak.test(told)) errors.push(invalid(path.child("message"), message, "must not contain line breaks"));
  else if (lineBreak.test(trimmed) && told === "")
    errors.push(required(path.child("message"), "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(required(path.child("messageExpression"), "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !reasons.includes(reason))
    errors.push(notSupported(path.child("reason"), reason, reasons));
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "")
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must be non-empty if specified"));
  if (lineBreak.test(fieldPath))
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must not contain line breaks"));
  if (!leadsSomewhere(fieldPath, schema))
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must be a valid path"));
  return errors;
}

function leadsSomewhere(fieldPath: string, schema: JSONSchemaProps): boolean {
  try {
    fieldReference(fieldPath, schema);
    return true;
  } catch (error) {
    if (error instanceof FieldReferenceError) return false;
    throw error;
  }
}
