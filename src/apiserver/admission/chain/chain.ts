/**
 * The admission chain. The rules that match a resource, subresource and operation are looked up once and kept as a
 * plan.
 *
 *     write ──► plan of (resource, subresource, operation) ──► its rules in order
 *                                                                     ▲     │
 *                                                                     └─────┘ once, if the object was changed
 */
import type { Kind } from "#api";
import { andThen, isPending, type Maybe } from "#base";
import type { Resource } from "../../rest/resource.ts";
import type { Admission, AdmissionAttributes } from "../../rest/server-context.ts";
import type { AdmissionPlugin, Admit, ClusterView, Rule } from "./plugin.ts";
import { Rounds } from "./rounds.ts";

interface Plan {
  readonly mutates: Phase;
  readonly validates: Phase;
}

interface Phase {
  readonly rules: readonly Admit[];
  /** The plugin of each rule. */
  readonly owners: readonly string[];
}

export function admissionChain(plugins: readonly AdmissionPlugin[], view: ClusterView): Admission {
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
            .map(({ admit }) => ({ admit, owner: plugin.name })),
        );
        return { rules: found.map(({ admit }) => admit), owners: found.map(({ owner }) => owner) };
      };
      plan = { mutates: phase("mutates"), validates: phase("validates") };
      known.set(key, plan);
    }
    return plan;
  };
  return {
    mutate: (attributes) => {
      const { mutates } = planFor(attributes);
      attributes.witness?.asked(mutates.owners);
      const rounds = new Rounds();
      const second = () => (rounds.next() ? inOrder(mutates, attributes, view, rounds) : undefined);
      return andThen(inOrder(mutates, attributes, view, rounds), second);
    },
    validate: (attributes) => {
      const { validates } = planFor(attributes);
      attributes.witness?.asked(validates.owners);
      return inOrder(validates, attributes, view, new Rounds());
    },
  };
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
): Maybe<void> {
  const { rules, owners } = phase;
  const { witness } = attributes;
  let at = from;
  try {
    for (; at < rules.length; at++) {
      const admitted = rules[at]?.(attributes, view, rounds);
      if (!isPending(admitted)) {
        witness?.passed();
        continue;
      }
      const [owner, next] = [owners[at], at + 1];
      return admitted.then(
        () => {
          witness?.passed();
          return inOrder(phase, attributes, view, rounds, next);
        },
        (error: unknown) => refused(attributes, owner, error),
      );
    }
  } catch (error) {
    refused(attributes, owners[at], error);
  }
}

function refused({ witness }: AdmissionAttributes, plugin: string | undefined, error: unknown): never {
  witness?.refused(plugin ?? "");
  throw error;
}
