/**
 * MutatingAdmissionPolicy: mutations that users write in CEL. Each sees the object as the ones before it left it.
 *
 *     object ──► conditions ──► expression ──► patch ──► decode, default ──► the next mutation
 */
import type { JsonObject, KubeObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { type AdmissionMetrics, type ExpressionFailure, failureOf, outcomeOf } from "../chain/metrics.ts";
import { type AdmissionPlugin, type ClusterView, rule } from "../chain/plugin.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { Reinvocation } from "../chain/reinvocation.ts";
import type { Rounds } from "../chain/rounds.ts";
import { Current, Deciding, decoded, inputsOf, isSame, namespaceFor, type Versioned } from "../dynamic/index.ts";
import { applications, type Usable as UsablePolicy, unconverted } from "./bound.ts";
import { type Denial, mutationDenial } from "./denial.ts";
import { isExempt } from "./exempt.ts";
import {
  compileMutatingPolicy,
  evaluateMutation,
  isMatched,
  type MutatingPolicy,
  type Mutation,
  MutationError,
} from "./mutating-policy.ts";
import { Params } from "./params.ts";
import { applyObject, applyPatches } from "./patches.ts";
import { type Concerned, PolicySet } from "./policy-set.ts";

type Usable = UsablePolicy<MutatingPolicy>;

export function mutatingAdmissionPolicy({ resources, authorize, metrics }: PluginServices): AdmissionPlugin {
  const params = new Params(resources);
  const policies = new PolicySet({
    resources,
    policies: "mutatingadmissionpolicies",
    bindings: "mutatingadmissionpolicybindings",
    compile: compileMutatingPolicy,
    metrics,
  });
  const mutate = async (
    concerned: readonly Concerned<MutatingPolicy>[],
    attributes: AdmissionAttributes,
    cluster: ClusterView,
    rounds: Rounds,
  ): Promise<void> => {
    const reinvocation = rounds.memory(policies, () => new Reinvocation());
    reinvocation.begin(rounds, attributes.object);
    const run = new Run(attributes, cluster, new Deciding(authorize), metrics);
    for await (const application of applications(concerned, attributes, cluster, params)) {
      if (!application.usable) run.denials.push(application.denial);
      else await invoke(run, application, reinvocation, rounds);
    }
    if (run.denials.length > 0) throw mutationDenial(attributes, run.denials);
    await run.current.settle();
    reinvocation.end(attributes.object);
  };
  return {
    name: "MutatingAdmissionPolicy",
    mutates: [
      rule(
        "CREATE UPDATE CONNECT",
        "*/*",
        (attributes, cluster, rounds) => {
          const concerned = policies.about(attributes);
          if (concerned.length > 0 && !isExempt(attributes)) return mutate(concerned, attributes, cluster, rounds);
        },
        { looks: (attributes) => policies.about(attributes).length > 0 },
      ),
    ],
  };
}

async function invoke(run: Run, application: Usable, reinvocation: Reinvocation, rounds: Rounds): Promise<void> {
  const { compiled } = application.concerned;
  const before = await run.convertible(application);
  if (before === undefined || !(await run.isMatched(application, before))) return;
  const id = idOf(application);
  if (!reinvocation.mayInvoke(rounds, id)) return;
  for (const mutation of compiled.mutations) await run.apply(application, mutation);
  if (!isSame(before.object, run.current.object)) reinvocation.changed(rounds);
  if (compiled.reinvoked) reinvocation.invoked(id);
}

/** Identifies a policy with a binding and a parameter. */
function idOf({ concerned, binding, params }: Usable): string {
  const { namespace = "", name = "" } = params?.metadata ?? {};
  return JSON.stringify([concerned.policy.metadata.name, binding.metadata.name, namespace, name]);
}

/** One request and the policies that mutate it. */
class Run {
  readonly current: Current;
  readonly denials: Denial[] = [];
  readonly #cluster: ClusterView;
  readonly #deciding: Deciding;
  readonly #metrics: AdmissionMetrics | undefined;

  constructor(
    attributes: AdmissionAttributes,
    cluster: ClusterView,
    deciding: Deciding,
    metrics: AdmissionMetrics | undefined,
  ) {
    this.current = new Current(attributes);
    this.#cluster = cluster;
    this.#deciding = deciding;
    this.#metrics = metrics;
  }

  async convertible(application: Usable): Promise<Versioned | undefined> {
    try {
      return await this.current.in(application.target);
    } catch (error) {
      const denial = unconverted(application, error);
      if (denial !== undefined) this.denials.push(denial);
      return undefined;
    }
  }

  async isMatched(application: Usable, versioned: Versioned): Promise<boolean> {
    const input = await this.#input(application, versioned);
    const { compiled, policy } = application.concerned;
    const startMs = this.#metrics?.now() ?? 0;
    const matched = await this.#deciding.run(() => isMatched(compiled, input));
    if (compiled.conditions.length > 0) {
      const { operation } = this.current.attributes;
      const owner = { name: policy.metadata.name ?? "", kind: "policy", type: "admit", operation } as const;
      this.#metrics?.conditionsEvaluated(owner, startMs, outcomeOf(matched));
    }
    if (!("error" in matched)) return matched.matches;
    this.#deny(application, matched.error);
    return false;
  }

  /** A request without an object, such as a connection without options, is skipped. */
  async apply(application: Usable, mutation: Mutation): Promise<void> {
    const versioned = await this.current.in(application.target);
    if (versioned.object === undefined) return;
    const { expressions } = await this.#input(application, versioned);
    const startMs = this.#metrics?.now() ?? 0;
    const counted = (failure: ExpressionFailure) => {
      const { concerned, binding } = application;
      const [policy, bound] = [concerned.policy.metadata.name ?? "", binding.metadata.name ?? ""];
      this.#metrics?.mutated(policy, bound, startMs, failure);
    };
    try {
      const { compiled } = application.concerned;
      const value = await this.#deciding.run(() => evaluateMutation(compiled, mutation, expressions));
      const object = versioned.object as unknown as JsonObject;
      const isPatch = mutation.type === "JSONPatch";
      const next = isPatch ? applyPatches(object, value) : applyObject(versioned.target.schema, object, value);
      this.current.set(decoded(versioned.target, next, isPatch));
      counted("no_error");
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      counted(failureOf(error.message));
      this.#deny(application, error.message);
    }
  }

  async #input({ params }: Usable, versioned: Versioned) {
    const { attributes } = this.current;
    const namespace: KubeObject | undefined = await namespaceFor(attributes, this.#cluster);
    return inputsOf(attributes, versioned, this.#deciding, { namespace, params });
  }

  #deny({ concerned: { policy, compiled }, binding }: Usable, message: string): void {
    if (compiled.failurePolicy !== "Ignore") this.denials.push({ policy, binding, message, reason: "Invalid" });
  }
}
