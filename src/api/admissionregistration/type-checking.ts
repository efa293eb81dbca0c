/**
 * Type checking of a ValidatingAdmissionPolicy against the schemas of the resources that it matches. The result is
 * warnings in its status; they do not change what the policy does.
 *
 *     policy ──► resourcesToCheck ──► (resolved by the caller) ──► types ──► expressionWarnings
 *
 * 1. Rules with wildcards match too much to be checked, and subresources have no schema of their own.
 */
import { types } from "../machinery/cel/index.ts";
import { admission } from "../machinery/cel/libraries/index.ts";
import { at } from "../machinery/errors/field-error.ts";
import type { ExpressionWarning, ValidatingAdmissionPolicy } from "../types/admissionregistration-v1.ts";
import { base, composed } from "./expressions/index.ts";

/** For each rule. */
const maxTypes = 10;

/** The group "" stands for all groups that have the resource in this version. */
export interface ResourceToCheck {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface CheckedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly type: types.Type;
}

export function resourcesToCheck({ spec }: ValidatingAdmissionPolicy): readonly ResourceToCheck[] {
  return (spec?.matchConstraints?.resourceRules ?? []).flatMap(
    ({ apiGroups = [], apiVersions = [], resources = [] }) => {
      if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) return [];
      const whole = resources.filter((name) => !/[*/]/.test(name));
      return sorted(apiGroups)
        .flatMap((group) =>
          sorted(apiVersions).flatMap((version) => sorted(whole).map((resource) => ({ group, version, resource }))),
        )
        .slice(0, maxTypes);
    },
  );
}

/** `params`: the type of the policy's parameters; undefined where it is not known. */
export function expressionWarnings(
  { spec = {} }: ValidatingAdmissionPolicy,
  kinds: readonly CheckedKind[],
  params?: types.Type,
): readonly ExpressionWarning[] {
  const environments = distinct(kinds).map((kind) => {
    const typed = { object: kind.type, oldObject: kind.type, ...(spec.paramKind && { params: params ?? types.dyn }) };
    const known = new Map<string, types.Field>();
    const environment = () => admission(base(), { variables: known }).extend({ variables: typed });
    for (const { name, expression } of spec.variables ?? []) {
      const variable = environment().compile(expression);
      known.set(name, { json: name, type: variable.ok ? composed(variable.type) : types.dyn });
    }
    return { kind, environment: environment() };
  });
  const warningsOf = (text: string): string =>
    environments
      .flatMap(({ kind: { group, version, kind }, environment }) => {
        const compilation = environment.compile(text);
        return compilation.ok ? [] : [`${group}/${version}, Kind=${kind}: ${compilation.issues}\n`];
      })
      .join("\n");
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, i) => {
    const where = at("spec").child("validations").index(i);
    return [
      { fieldRef: where.child("expression").toString(), warning: warningsOf(expression) },
      {
        fieldRef: where.child("messageExpression").toString(),
        warning: messageExpression ? warningsOf(messageExpression) : "",
      },
    ].filter(({ warning }) => warning !== "");
  });
}

function sorted(names: readonly string[]): readonly string[] {
  return [...names].sort();
}

/** By group, version and kind, each once. */
function distinct(kinds: readonly CheckedKind[]): readonly CheckedKind[] {
  const byName = new Map(kinds.map((kind) => [`${kind.group}\n${kind.version}\n${kind.kind}`, kind]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}
