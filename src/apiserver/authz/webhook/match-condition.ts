/**
 * Match conditions of authorization webhooks: expressions over `request`, the spec of the SubjectAccessReview that
 * would be sent.
 *
 * 1. All strings are set, if only to "", so that conditions can compare without `has()`. Selectors are set only if
 *    there are any.
 */
import { cel, celLibraries, type authorization as review } from "#api";
import { AuthorizationConfigError } from "../config-error.ts";
import type { MatchCondition } from "./webhook.ts";

const { types } = cel;
const texts = types.list(types.string);
const selector = (name: string) =>
  record(name, {
    rawSelector: types.string,
    requirements: types.list(
      record("kubernetes.SelectorRequirement", { key: types.string, operator: types.string, values: texts }),
    ),
  });

const REQUEST = record("kubernetes.SubjectAccessReviewSpec", {
  resourceAttributes: record("kubernetes.ResourceAttributes", {
    namespace: types.string,
    verb: types.string,
    group: types.string,
    version: types.string,
    resource: types.string,
    subresource: types.string,
    name: types.string,
    fieldSelector: selector("kubernetes.FieldSelectorAttributes"),
    labelSelector: selector("kubernetes.LabelSelectorAttributes"),
  }),
  nonResourceAttributes: record("kubernetes.NonResourceAttributes", { path: types.string, verb: types.string }),
  user: types.string,
  groups: texts,
  extra: types.map(types.string, texts),
  uid: types.string,
});

/** Throws AuthorizationConfigError for an invalid expression. The condition throws if it cannot be evaluated. */
export function matchCondition(expression: string): MatchCondition {
  const environment = celLibraries.baseEnvironment().extend({ variables: { request: REQUEST } });
  const compilation = environment.compile(expression);
  if (!compilation.ok) throw wrong(expression, `compilation failed: ${compilation.issues}`);
  const { type, program } = compilation;
  if (type.kind !== "bool") throw wrong(expression, `must evaluate to bool but got ${types.formatType(type)}`);
  return (spec) => {
    const evaluation = program.evaluate({ request: requestOf(spec) }, { budget: celLibraries.celLimits.perCall });
    if (evaluation.ok) return evaluation.value === true;
    throw new Error(`cel evaluation error: expression '${expression}' resulted in error: ${evaluation.error}`);
  };
}

function wrong(expression: string, why: string): AuthorizationConfigError {
  return new AuthorizationConfigError(`The match condition ${JSON.stringify(expression)} cannot be used: ${why}`);
}

function requestOf(spec: review.SubjectAccessReviewSpec): cel.Binding {
  const { resourceAttributes: about, nonResourceAttributes: path } = spec;
  const request = {
    user: spec.user ?? "",
    groups: spec.groups ?? [],
    uid: spec.uid ?? "",
    extra: spec.extra ?? {},
    ...(about !== undefined && { resourceAttributes: { ...NO_RESOURCE, ...about } }),
    ...(path !== undefined && { nonResourceAttributes: { path: "", verb: "", ...path } }),
  };
  return request as unknown as cel.Binding;
}

const NO_RESOURCE = { namespace: "", verb: "", group: "", version: "", resource: "", subresource: "", name: "" };

function record(name: string, fields: Readonly<Record<string, cel.types.Type>>): cel.types.Type {
  return types.object(name, new Map(Object.entries(fields).map(([json, type]) => [json, { json, type }])));
}
