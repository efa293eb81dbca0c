/**
 * ValidatingAdmissionPolicy: validations that users write in CEL, and the actions of their bindings: deny, warn, audit.
 */

import { goJson, type Json } from "#api";
import { table } from "#base";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { type Action, type AdmissionMetrics, failureOf, outcomeOf } from "../chain/metrics.ts";
import { type AdmissionPlugin, type ClusterView, rule } from "../chain/plugin.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { Deciding, inputsOf, namespaceFor, targetOf, type Versioned, Versions } from "../dynamic/index.ts";
import { applications, type Usable, unconverted } from "./bound.ts";
import { type Denial, validationDenial } from "./denial.ts";
import { isExempt } from "./exempt.ts";
import { Params } from "./params.ts";
import { type AnyBinding, type Concerned, PolicySet } from "./policy-set.ts";
import { compileValidatingPolicy, type Decided, decide, type ValidatingPolicy } from "./validating-policy.ts";

const VALIDATION_FAILURE = "validation.policy.admission.k8s.io/validation_failure";
const MAX_ANNOTATION_BYTES = 10 * 1024;

export function validatingAdmissionPolicy({ resources, authorize, metrics }: PluginServices): AdmissionPlugin {
  const params = new Params(resources);
  const policies = new PolicySet({
    resources,
    policies: "validatingadmissionpolicies",
    bindings: "validatingadmissionpolicybindings",
    compile: compileValidatingPolicy,
    metrics,
  });
  return {
    name: "ValidatingAdmissionPolicy",
    validates: [
      rule(
        "CREATE UPDATE DELETE CONNECT",
        "*/*",
        (attributes, cluster) => {
          const concerned = policies.about(attributes);
          if (concerned.length === 0 || isExempt(attributes)) return;
          return validate(concerned, attributes, cluster, params, new Deciding(authorize), metrics);
        },
        { looks: (attributes) => policies.about(attributes).length > 0 },
      ),
    ],
  };
}

async function validate(
  concerned: readonly Concerned<ValidatingPolicy>[],
  attributes: AdmissionAttributes,
  cluster: ClusterView,
  params: Params,
  deciding: Deciding,
  metrics: AdmissionMetrics | undefined,
): Promise<void> {
  const versions = new Versions(targetOf(attributes), attributes.object, attributes.old);
  const denials: Denial[] = [];
  const annotations = new Annotations();
  for await (const application of applications(concerned, attributes, cluster, params)) {
    if (!application.usable) {
      denials.push(application.denial);
      continue;
    }
    const namespace = await namespaceFor(attributes, cluster);
    const { params: param, concerned: of } = application;
    const versioned = await convertedFor(application, versions);
    if ("denial" in versioned) {
      if (versioned.denial !== undefined) denials.push(versioned.denial);
      continue;
    }
    const input = inputsOf(attributes, versioned, deciding, { namespace, params: param });
    const decided = await deciding.run(() => decide(of.compiled, input, () => cluster.clock.monotonic()));
    if (metrics !== undefined) count(metrics, attributes, application, decided);
    denials.push(...act(attributes, application, decided));
    for (const { key, value } of decided.annotations) annotations.add(`${of.policy.metadata.name}/${key}`, value);
  }
  annotations.publish(attributes);
  const [first] = denials;
  if (first !== undefined) throw validationDenial(attributes, first);
}

async function convertedFor(
  application: Usable<ValidatingPolicy>,
  versions: Versions,
): Promise<Versioned | { readonly denial: Denial | undefined }> {
  try {
    return await versions.in(application.target);
  } catch (error) {
    return { denial: unconverted(application, error) };
  }
}

/** Adds warnings and audit annotations, and returns the denials. */
function act(
  attributes: AdmissionAttributes,
  { concerned: { policy }, binding }: Usable<ValidatingPolicy>,
  { decisions, faults }: Decided,
): readonly Denial[] {
  const denials: Denial[] = [];
  for (const [i, decision] of decisions.entries()) {
    if (decision.admit) continue;
    const { message, reason } = decision;
    for (const action of binding.spec?.validationActions ?? []) {
      if (action === "Deny") denials.push({ policy, binding, message, reason });
      else if (action === "Audit") attributes.annotate(VALIDATION_FAILURE, failureNote(binding, i, message));
      else if (action === "Warn") {
        const about = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
        attributes.warn(`Validation failed for ${about}: ${message}`);
      }
    }
  }
  return [...denials, ...faults.map((message) => ({ policy, binding, message, reason: "" }))];
}

const ACTIONS: Readonly<Record<string, Action>> = table({ Deny: "deny", Audit: "audit", Warn: "warn" });

/** Counts what Kubernetes counts: failures and what followed, not the validations that hold. */
function count(
  metrics: AdmissionMetrics,
  { operation }: AdmissionAttributes,
  { concerned: { policy }, binding }: Usable<ValidatingPolicy>,
  { decisions, matched }: Decided,
): void {
  const [name, bound] = [policy.metadata.name ?? "", binding.metadata.name ?? ""];
  if (matched !== undefined) {
    const owner = { name, kind: "policy", type: "validate", operation } as const;
    metrics.conditionsEvaluated(owner, matched.startMs, outcomeOf(matched));
  }
  for (const decision of decisions) {
    metrics.evaluated(decision.tookMs);
    if (!decision.admit) {
      const failure = failureOf(decision.message);
      for (const action of binding.spec?.validationActions ?? []) {
        metrics.validated(name, bound, decision.tookMs, failure, ACTIONS[action] ?? "deny");
      }
    } else if (decision.failure !== undefined) {
      metrics.validated(name, bound, decision.tookMs, failureOf(decision.failure), "allow");
    }
  }
}

function failureNote({ metadata, spec }: AnyBinding, expressionIndex: number, message: string): string {
  const validationActions = (spec?.validationActions ?? []) as unknown as Json;
  const { name = "" } = metadata;
  return goJson([{ message, policy: spec?.policyName ?? "", binding: name, expressionIndex, validationActions }]);
}

/** Audit annotations by key: values of several bindings are joined, each once. */
class Annotations {
  readonly #values = new Map<string, string[]>();

  add(key: string, value: string): void {
    const kept = cut(value);
    const values = this.#values.get(key) ?? [];
    if (!values.includes(kept)) values.push(kept);
    this.#values.set(key, values);
  }

  publish({ annotate }: AdmissionAttributes): void {
    for (const [key, values] of this.#values) annotate(key, values.join(", "));
  }
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= MAX_ANNOTATION_BYTES ? text : bytes.subarray(0, MAX_ANNOTATION_BYTES).toString("utf8");
}
