/**
 * The admission chain. The rules that match a resource, subresource and operation are looked up once and kept as a
 * plan.
 *
 *     write ──► plan of (resource, subresource, operation) ──► its rules in order
 *                                                                     ▲     │
 *                                                                     └─────┘ once, if the object was changed
 */
import type { Kind } from "#api";
import { andThen, isPending, type Maybe, settle } from "#base";
import type { Resource } from "../../rest/resource.ts";
import type { Admission, AdmissionAttributes } from "../../rest/server-context.ts";
import type { AdmissionMetrics, Durations, StepType } from "./metrics.ts";
import type { AdmissionPlugin, Admit, ClusterView, Looks, Rule } from "./plugin.ts";
import { Rounds } from "./rounds.ts";

interface Plan {
  readonly mutates: Phase;
  readonly validates: Phase;
}

interface Phase {
  readonly rules: readonly Admit[];
  /** The plugin of each rule. */
  readonly owners: readonly string[];
  /** Of the plugin of each rule, at its last rule. Undefined: nothing is measured. */
  readonly durations?: readonly (Durations | undefined)[] | undefined;
  readonly whole?: Durations | undefined;
  /** Of the rules that tell; undefined: one of them always looks at the whole object. */
  readonly looks: readonly Looks[] | undefined;
}

/** Without `metrics` nothing is measured. */
export function admissionChain(
  plugins: readonly AdmissionPlugin[],
  view: ClusterView,
  metrics?: AdmissionMetrics,
): Admission {
  const plans = new WeakMap<Resource, Map<string, Plan>>();
  const planFor = ({ resource, subresource, operation }: AdmissionAttributes): Plan => {
    let known = plans.get(resource);
    if (known === undefined) {
      known = new Map();
      plans.set(resource, known);
    }
    const key = `${operation} ${subresource}`;
    let plan = known.get(key);
    if (plan === undefined) {
      const phase = (part: "mutates" | "validates"): Phase => {
        const found = plugins.flatMap((plugin) =>
          (plugin[part] ?? [])
            .filter((rule) => isAbout(rule, resource.kind, subresource, operation))
            .map(({ admit, looks }) => ({ admit, looks, owner: plugin.name })),
        );
        const owners = found.map(({ owner }) => owner);
        const telling = found.flatMap(({ looks }) => looks ?? []);
        const looks = telling.length === found.length ? telling : undefined;
        return {
          rules: found.map(({ admit }) => admit),
          owners,
          looks,
          ...measuredBy(metrics, part, operation, owners),
        };
      };
      plan = { mutates: phase("mutates"), validates: phase("validates") };
      known.set(key, plan);
    }
    return plan;
  };
  return {
    looks: (attributes, phase) => {
      const plan = planFor(attributes);
      const { looks } = phase === "mutate" ? plan.mutates : plan.validates;
      return looks?.some((look) => look(attributes)) !== false;
    },
    mutate: (attributes) => {
      const { mutates } = planFor(attributes);
      attributes.witness?.asked(mutates.owners);
      const rounds = new Rounds();
      const second = () => (rounds.next() ? inOrder(mutates, attributes, view, rounds) : undefined);
      return measured(mutates, view, () => andThen(inOrder(mutates, attributes, view, rounds), second));
    },
    validate: (attributes) => {
      const { validates } = planFor(attributes);
      attributes.witness?.asked(validates.owners);
      return measured(validates, view, () => inOrder(validates, attributes, view, new Rounds()));
    },
  };
}

function measuredBy(
  metrics: AdmissionMetrics | undefined,
  part: "mutates" | "validates",
  operation: AdmissionAttributes["operation"],
  owners: readonly string[],
): Pick<Phase, "durations" | "whole"> {
  if (metrics === undefined) return {};
  const type: StepType = part === "mutates" ? "admit" : "validate";
  return {
    durations: owners.map((owner, i) => (owners[i + 1] === owner ? undefined : metrics.plugin(owner, type, operation))),
    whole: metrics.step(type, operation),
  };
}

function measured({ whole }: Phase, { clock }: ClusterView, run: () => Maybe<void>): Maybe<void> {
  if (whole === undefined) return run();
  const startMs = clock.monotonic();
  return settle(
    run,
    () => whole.passed.observe((clock.monotonic() - startMs) / 1000),
    (error) => {
      whole.rejected.observe((clock.monotonic() - startMs) / 1000);
      throw error;
    },
  );
}

export function isAbout(
  { operations, resources, scope }: Omit<Rule, "admit">,
  { group, names, scope: ofKind }: Pick<Kind, "group" | "names" | "scope">,
  subresource: string,
  operation: AdmissionAttributes["operation"],
): boolean {
  if (!operations.includes(operation) || (scope !== undefined && scope !== ofKind)) return false;
  const name = group === "" ? names.plural : `${names.plural}.${group}`;
  return resources.some((pattern) => {
    const [resource = "", part = ""] = pattern.split("/");
    if (resource !== "*" && resource !== name) return false;
    return part === subresource || (part === "*" && (resource === "*" || subresource !== ""));
  });
}

/** Returns a promise only if a rule does. */
function inOrder(
  phase: Phase,
  attributes: AdmissionAttributes,
  view: ClusterView,
  rounds: Rounds,
  from = 0,
  begunMs = phase.durations === undefined ? 0 : view.clock.monotonic(),
): Maybe<void> {
  const { rules, durations } = phase;
  const { witness } = attributes;
  /** When the plugin of the current rule began. */
  let startMs = begunMs;
  const passed = (rule: number): void => {
    witness?.passed();
    const sample = durations?.[rule]?.passed;
    if (sample === undefined) return;
    const nowMs = view.clock.monotonic();
    sample.observe((nowMs - startMs) / 1000);
    startMs = nowMs;
  };
  let at = from;
  try {
    for (; at < rules.length; at++) {
      const admitted = rules[at]?.(attributes, view, rounds);
      if (!isPending(admitted)) {
        passed(at);
        continue;
      }
      const waited = at;
      return admitted.then(
        () => {
          passed(waited);
          return inOrder(phase, attributes, view, rounds, waited + 1, startMs);
        },
        (error: unknown) => refused(phase, waited, attributes, view, startMs, error),
      );
    }
  } catch (error) {
    refused(phase, at, attributes, view, startMs, error);
  }
}

function refused(
  { owners, durations }: Phase,
  rule: number,
  { witness }: AdmissionAttributes,
  { clock }: ClusterView,
  startMs: number,
  error: unknown,
): never {
  const owner = owners[rule];
  witness?.refused(owner ?? "");
  if (durations !== undefined) {
    durations[owners.lastIndexOf(owner ?? "")]?.rejected.observe((clock.monotonic() - startMs) / 1000);
  }
  throw error;
}
