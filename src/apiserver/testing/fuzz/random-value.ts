/**
 * Random values for the fields of a schema: most fit their type, many do not fit the rules, and some fit nothing.
 *
 * The same Random gives the same values.
 */
import type { Json, Schema } from "#api";
import type { Random } from "#base";

/** Words that some field somewhere takes for its own: names, addresses, amounts, times, expressions. */
const WORDS: readonly string[] = [
  "",
  "a",
  "sample",
  "default",
  "kube-system",
  "Sample_1",
  "a.example.com/b",
  "*",
  "Always",
  "None",
  "TCP",
  "http",
  "10.0.0.1",
  "10.0.0.0/8",
  "fd00::1/64",
  "https://example.com:8443/x?y#z",
  "/a/../b",
  "100m",
  "1Gi",
  "-1.5e3",
  "50%",
  "1h30m",
  "2026-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "10000-01-01T00:00:00Z",
  "* * * * *",
  "self.size() > 0",
  "[a-z",
  "aGk=",
  "🙂",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "true",
  "9223372036854775807",
  "x".repeat(300),
];
const INTEGERS: readonly number[] = [-1, 0, 1, 2, 80, 443, 65_535, 65_536, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 1.5, -0];
const LONG: readonly Json[] = [2 ** 53, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 1e21];
const QUANTITIES: readonly Json[] = [
  "1",
  "100m",
  "1Gi",
  "-1",
  "1e3",
  "0.5",
  "",
  "1.",
  "99999999999999999999",
  1,
  0.1,
  "1k ",
];
const TIMES: readonly Json[] = [
  "2026-01-01T00:00:00Z",
  "2026-01-01T00:00:00.123456Z",
  "2026-13-01T00:00:00Z",
  "",
  null,
];
const DURATIONS: readonly Json[] = ["1h", "1.5s", "-1ms", "", "1", "9999999h", "300y"];
const JUNK: readonly Json[] = [null, true, 1, 1.5, "junk", [], {}, [null], [[1]], { junk: null }, [{}], 2n ** 63n - 1n];

const MAX_FIELDS = 4;
const MAX_ITEMS = 3;

/** `depth`: how many levels of structures are filled in. */
export function randomValue(schema: Schema, random: Random, depth = 3): Json {
  if (random.next() < 0.05) return random.pick(JUNK);
  switch (schema.type) {
    case "string":
      return random.pick(schema.enum !== undefined && random.next() < 0.7 ? ["", ...schema.enum] : WORDS);
    case "boolean":
      return random.next() < 0.5;
    case "int32":
      return random.pick(INTEGERS);
    case "int64":
      return random.pick([...INTEGERS, ...LONG]);
    case "double":
      return random.pick([...INTEGERS, ...LONG, 0.1, 1e-7]);
    case "bytes":
      return random.pick(["", "aGk=", "aGk", "!", "AAAA"]);
    case "quantity":
      return random.pick(QUANTITIES);
    case "intOrString":
      return random.pick<Json>([...INTEGERS, ...WORDS]);
    case "time":
    case "microTime":
      return random.pick(TIMES);
    case "duration":
      return random.pick(DURATIONS);
    case "any":
      return random.pick<Json>([...JUNK, ...WORDS, ...LONG]);
    case "list":
      return depth === 0 ? [] : listOf(random, () => randomValue(schema.items, random, depth - 1));
    case "map": {
      const keys = depth === 0 ? [] : listOf(random, () => random.pick(WORDS));
      return Object.fromEntries(keys.map((key) => [key, randomValue(schema.values, random, depth - 1)]));
    }
    case "object": {
      const fields = [...schema.fields.values()];
      if (depth === 0 || fields.length === 0) return {};
      const count = random.integer(Math.min(fields.length, MAX_FIELDS) + 1);
      const chosen = Array.from({ length: count }, () => random.pick(fields));
      return Object.fromEntries(chosen.map((field) => [field.name, randomValue(field.schema, random, depth - 1)]));
    }
  }
}

function listOf<T>(random: Random, make: () => T): T[] {
  const items = Array.from({ length: random.integer(MAX_ITEMS + 1) }, make);
  const [first] = items;
  // Duplicates are what rules about lists look for.
  return first !== undefined && random.next() < 0.2 ? [...items, first] : items;
}
