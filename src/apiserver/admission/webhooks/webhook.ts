/** A compiled webhook of a configuration: which requests it handles, and how it is called. */
import {
  Activation,
  type admissionregistration,
  compileExpression,
  type Expression,
  type KubeObject,
  matchConditions,
} from "#api";
import type { Resource } from "../../rest/resource.ts";
import type { Resources } from "../../rest/resources.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { type AdmissionMetrics, outcomeOf, type StepType } from "../chain/metrics.ts";
import { type Operation, refused } from "../chain/plugin.ts";
import {
  choices,
  type Deciding,
  inputsOf,
  type Selectors,
  selectorsOf,
  type Target,
  type Versioned,
} from "../dynamic/index.ts";

export type WebhookSpec = admissionregistration.ValidatingWebhook &
  Pick<admissionregistration.MutatingWebhook, "reinvocationPolicy">;
type Configuration = KubeObject & { readonly webhooks?: readonly WebhookSpec[] };

export interface Webhook {
  readonly spec: WebhookSpec;
  readonly configuration: string;
  /** Unique among all webhooks. */
  readonly id: string;
  /** Its index among all mutating or all validating webhooks, for audit annotations. */
  readonly index: number;
  readonly selectors: Selectors;
  /** Compiled when a request first needs them. */
  conditions(metrics?: AdmissionMetrics): readonly Expression[];
}

/** A webhook whose rules match a request, and the version in which it gets the object. */
export interface Concerned {
  readonly webhook: Webhook;
  readonly target: Target;
}

/** The webhooks of all configurations, sorted by the names of these. */
export function webhooksIn(resource: Resource): readonly Webhook[] {
  const found: Webhook[] = [];
  for (const stored of resource.readable()) {
    const { metadata, webhooks = [] } = resource.read(stored) as Configuration;
    const seen = new Map<string, number>();
    for (const spec of webhooks) {
      const before = seen.get(spec.name) ?? 0;
      seen.set(spec.name, before + 1);
      found.push({
        spec,
        configuration: metadata.name ?? "",
        id: `${metadata.name}/${spec.name}/${before}`,
        index: found.length,
        selectors: selectorsOf(spec),
        conditions: compiledLater(spec),
      });
    }
  }
  return found;
}

function compiledLater({ matchConditions = [] }: WebhookSpec): Webhook["conditions"] {
  let compiled: readonly Expression[] | undefined;
  return (metrics) => {
    if (compiled !== undefined) return compiled;
    const startMs = metrics?.now() ?? 0;
    compiled = matchConditions.map(({ expression }) => compileExpression(expression, "bool"));
    metrics?.compiled(startMs);
    return compiled;
  };
}

export function concernedBy(
  webhooks: readonly Webhook[],
  target: Target,
  operation: Operation,
  resources: Resources,
): readonly Concerned[] {
  return webhooks.flatMap((webhook) => {
    const { rules = [], matchPolicy } = webhook.spec;
    const [choice] = choices(rules, matchPolicy, target, operation, resources);
    return choice === undefined ? [] : [{ webhook, target: choice.target }];
  });
}

/** Throws the error for the client if a condition fails and the failure policy does not ignore that. */
export function meetsConditions(
  { conditions: compiled, spec }: Webhook,
  attributes: AdmissionAttributes,
  versioned: Versioned,
  deciding: Deciding,
  type: StepType,
  metrics: AdmissionMetrics | undefined,
): boolean | Promise<boolean> {
  if ((spec.matchConditions ?? []).length === 0) return true;
  const conditions = compiled(metrics);
  const input = inputsOf(attributes, versioned, deciding).conditions;
  const owner = { name: spec.name, kind: "webhook", type, operation: attributes.operation } as const;
  const settle = () => {
    const startMs = metrics?.now() ?? 0;
    const matched = matchConditions(conditions, new Activation(input), spec.failurePolicy ?? "Fail");
    metrics?.conditionsEvaluated(owner, startMs, outcomeOf(matched));
    if ("error" in matched) throw refused(attributes, matched.error);
    return matched.matches;
  };
  return deciding.run(settle);
}
