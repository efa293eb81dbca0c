/** The compiled form of a node. */
import { costs } from "../functions/cost.ts";
import { none, type Outcome, type Value } from "../values/value.ts";
import type { Frame, Step } from "./frame.ts";

export interface Node {
  /** Charges the full cost. */
  readonly run: Step;
  /** For attributes: without the unit for the attribute itself. */
  readonly resolve?: Step;
  /** For literals, and values computed from them. */
  readonly constant?: { readonly value: Value };
}

export function constant(value: Value): Node {
  return { run: () => value, constant: { value } };
}

export function constants(nodes: readonly Node[]): readonly Value[] | undefined {
  const values: Value[] = [];
  for (const { constant: known } of nodes) {
    if (known === undefined) return undefined;
    values.push(known.value);
  }
  return values;
}

export function attribute(resolve: Step): Node {
  return {
    resolve,
    run: (frame) => {
      const value = resolve(frame);
      frame.charge(costs.select);
      return value;
    },
  };
}

/** A look-up of an optional field that finds nothing costs nothing. */
export function found(frame: Frame, outcome: Outcome): Outcome {
  if (outcome !== none) frame.charge(costs.select);
  return outcome;
}

export function resolver(node: Node): Step {
  return node.resolve ?? node.run;
}
