/** `format.named` and `format.dns1123Label()` etc.: the faults of a string, in the words of the API. */

import { type Costs, costSize, nominal, patternCost, sizeRange } from "../../functions/call-costs.ts";
import { costs, range, scaleRange } from "../../functions/cost.ts";
import { fn, global, type Library, member } from "../../functions/function.ts";
import { list, opaque, optional, string } from "../../values/type.ts";
import { ArrayList, none, Opaque, Optional, type Outcome } from "../../values/value.ts";
import { type NamedFormat, namedFormats } from "./named-formats.ts";

export const formatType = opaque("kubernetes.NamedFormat");

class FormatValue extends Opaque {
  override readonly type = formatType;
  readonly format: NamedFormat;

  constructor(format: NamedFormat) {
    super();
    this.format = format;
  }

  override equals(other: Opaque): boolean {
    return other instanceof FormatValue && other.format.name === this.format.name;
  }
}

/** The longest format name and the longest pattern that an estimate assumes. */
const longestName = 64;
const longestPattern = 128;

const validating: Costs = {
  cost: ([target, text]) =>
    target instanceof FormatValue ? patternCost(costSize(text), target.format.patternSize) : 1,
  estimate: ([, text]) => ({
    cost: scaleRange(scaleRange(sizeRange(text), costs.stringTraversal), longestPattern * costs.regexLength),
  }),
};

const values = new Map([...namedFormats].map(([name, format]) => [name, new FormatValue(format)]));

export const format: Library = {
  name: "kubernetes.format",
  types: [{ type: formatType, equality: () => scaleRange(range(1, longestName), costs.stringTraversal) }],
  functions: [
    fn("format.named", global("format-named", [string], optional(formatType), named, nominal)),
    fn("validate", member("format-validate", [formatType, string], optional(list(string)), validate, validating)),
    ...[...values].map(([name, value]) =>
      fn(
        `format.${name}`,
        global(`format.${name}`, [], formatType, () => value),
      ),
    ),
  ],
};

function named(name: string): Outcome {
  const value = values.get(name);
  return value === undefined ? none : new Optional(value);
}

function validate({ format }: FormatValue, text: string): Outcome {
  const faults = format.check(text);
  return faults.length === 0 ? none : new Optional(new ArrayList(faults));
}
