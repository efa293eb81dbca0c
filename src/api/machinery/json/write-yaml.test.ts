import { expect, it } from "vitest";
import { parseJson } from "./json-text.ts";
import { writeYaml } from "./write-yaml.ts";
import { parseYaml } from "./yaml-text.ts";

it.each<[unknown, string]>([
  [9223372036854775807n, "9223372036854775807"],
  [12, "12"],
  [-0, "0"],
  [1e17, "100000000000000000"],
  [1e20, "1e+20"],
  [0.5, "0.5"],
  [1234567.5, "1.2345675e+06"],
  [1e-7, "1e-07"],
  ["1e-07", '"1e-07"'],
])("writes %s as %s", (value, want) => expect(writeYaml({ a: value })).toBe(`a: ${want}\n`));

it("writes what is nested deeply as JSON, which is YAML", () => {
  const text = `${"[".repeat(3000)}${"]".repeat(3000)}`;
  expect(writeYaml(parseJson(text))).toBe(`${text}\n`);
});

it.each(["\n!", "\n\n&a", "\n@ \n", "a\n%"])(
  "writes a document that is the text %j so that it is read as the same",
  (text) => {
    expect(parseYaml(writeYaml(text)).value).toBe(text);
  },
);
