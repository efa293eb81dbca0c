/**
 * YAML as Kubernetes writes it: from the JSON of a value, keys sorted, lists not indented, nothing by reference, and
 * floating numbers as Go prints them.
 */
import { type ScalarTag, stringify, type Tags } from "yaml";
import { goFloat } from "./go-text.ts";
import { writeJson } from "./write-json.ts";

export function writeYaml(value: unknown): string {
  try {
    return stringify(value, {
      // Text that YAML 1.1 reads as something else has quotes: yes, 0777, 1e3.
      version: "1.1",
      lineWidth: 0,
      sortMapEntries: true,
      indentSeq: false,
      aliasDuplicateObjects: false,
      // The library does not indent a block that is the whole document: `!` at the start of a line is a tag.
      blockQuote: typeof value !== "string",
      customTags: (tags: Tags): Tags => [floating, ...tags],
    });
  } catch (error) {
    // Nested too deeply for the library: JSON is YAML, too.
    if (error instanceof RangeError)
      return `${writeJson(value)}
`;
    throw error;
  }
}

const floating: ScalarTag = {
  identify: (value) => typeof value === "number" && (!isYamlInteger(value) || Object.is(value, -0)),
  default: true,
  tag: "tag:yaml.org,2002:float",
  // Only written, never read.
  test: /[^\s\S]/,
  resolve: (text) => text,
  stringify: ({ value }) => goFloat(Number(value) + 0),
};

/** Go reads the JSON text of such a number as an int64 or an uint64, and writes that. */
function isYamlInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64;
}
