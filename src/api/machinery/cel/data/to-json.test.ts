import { expect, it } from "vitest";
import { celEnvironment } from "../program/environment.ts";
import { optionalTypes } from "../standard/optional-types.ts";
import * as types from "../values/type.ts";
import { toJson } from "./to-json.ts";

const struct = types.object("Object.spec", new Map([["a__dash__b", { json: "a-b", type: types.int }]]));
const environment = celEnvironment({ libraries: [optionalTypes], types: [struct], variables: { any: types.dyn } });

it.each<[string, unknown]>([
  ["1", 1],
  ["1u", 1],
  ["1.5", 1.5],
  ["null", null],
  ["[1, 2].map(x, {'a': x})", [{ a: 1 }, { a: 2 }]],
  ["any", { x: [1, null] }],
  ["any.x + [2]", [1, null, 2]],
  ["Object.spec{a__dash__b: 1}", { "a-b": 1 }],
  ["b'ab'", "YWI="],
  ["timestamp('2024-01-01T00:00:00Z')", "2024-01-01T00:00:00Z"],
  ["duration('90s')", "1m30s"],
  ["optional.none()", null],
  ["{1: true}", { "1": true }],
])("%s", (text, want) => {
  const compiled = environment.compile(text);
  const result = compiled.ok ? compiled.program.evaluate({ any: { x: [1, null] } }) : undefined;
  expect(result?.ok && toJson(result.value)).toEqual(want);
});
