/** Inputs of the codecs: JSON, YAML, protobuf and CBOR, what they nest, and what they spell. */
import { builtIn, encodeCbor, encodeEnvelope, encodeProtobuf, type JsonObject } from "#api";
import { configMap } from "../objects.ts";
import { CONFIG_MAPS, DRY_RUN, type Input, keyed, nested, times, upTo, WIDGETS, widget } from "./input.ts";

const yaml = (name: string, size: number, body: (size: number) => string, status = 201): Input => ({
  name: `YAML: ${name}`,
  size,
  method: "POST",
  path: CONFIG_MAPS + DRY_RUN,
  type: "application/yaml",
  body: (grown) => start + body(grown),
  status,
});

const json = (name: string, size: number, body: (size: number) => object | string, status = 201): Input => ({
  name: `JSON: ${name}`,
  size,
  method: "POST",
  path: CONFIG_MAPS + DRY_RUN,
  body,
  status,
});

const start = "metadata: {name: a}\n";
const free = (text: string) => JSON.stringify(widget("a", { free: "X" })).replace('"X"', text);

const schema = builtIn.find(({ kind }) => kind === "ConfigMap")?.schema;

export const bodies: readonly Input[] = [
  yaml("anchors", 2000, (size) => times(size, (at) => `x${at}: &a${at} v`).join("\n")),
  yaml("aliases", 1000, (size) => `a: &a v\nb:\n${"- *a\n".repeat(size)}`),
  yaml(
    "aliases of aliases",
    100,
    (size) => `a: &a [x]\n${times(size, (at) => `b${at}: &b${at} [*a, *a]\nc${at}: *b${at}`).join("\n")}`,
  ),
  yaml(
    "aliases that multiply",
    100,
    (size) => `a: &a0 [x]\n${times(size, (at) => `b${at}: &a${at + 1} [*a${at}, *a${at}]`).join("\n")}`,
    400,
  ),
  yaml("open brackets", 5000, (size) => `a: ${"[".repeat(size)}`, 400),
  yaml("lists in lists", 20, (size) => `a: [${`${"[".repeat(500)}${"]".repeat(500)},`.repeat(size)}]`),
  yaml("maps in maps", 20, (size) => `a: [${`${"{a: ".repeat(200)}${"}".repeat(200)},`.repeat(size)}]`),
  yaml("line continuations", 10_000, (size) => `a: "${"\\\n".repeat(size)}"`),
  yaml("lines of a plain scalar", 5000, (size) => `a:\n${"  word\n".repeat(size)}`),
  yaml("a literal block", 5000, (size) => `a: |\n${"  word\n".repeat(size)}`),
  yaml("escapes", 10_000, (size) => `a: "${"\\n".repeat(size)}"`),
  yaml("keys", 1000, (size) => times(size, (at) => `k${at}: v`).join("\n")),
  yaml("equal keys", 1000, (size) => "k: v\n".repeat(size)),
  yaml("merge keys", 500, (size) => `a: &a {x: 1}\nb:\n${"  <<: *a\n".repeat(size)}`),
  yaml("tags", 1000, (size) => `a:\n${"- !!str x\n".repeat(size)}`),
  yaml("comments", 20_000, (size) => "# word\n".repeat(size)),
  upTo(
    20_000,
    yaml("documents", 10_000, (size) => `${"---\na: 1\n".repeat(size)}`),
  ),
  yaml("a number of many digits", 50_000, (size) => `a: ${"1".repeat(size)}`),
  yaml("flow entries", 5000, (size) => `a: [${"x, ".repeat(size)}]`),
  json("keys of a map", 500, (size) => configMap("a", Object.fromEntries(times(size, (at) => [`k${at}`, "v"])))),
  upTo(
    100_000,
    json("a long text", 100_000, (size) => configMap("a", { key: "x".repeat(size) })),
  ),
  upTo(
    16_000,
    json("text beyond ASCII", 8000, (size) => configMap("a", { key: "ü😀".repeat(size) })),
  ),
  upTo(
    10_000,
    json("escapes", 5000, (size) => `{"metadata":{"name":"a"},"data":{"k":"${'\\ud83d\\u0041\\\\\\"'.repeat(size)}"}}`),
  ),
  json("equal keys", 1000, (size) => `{"metadata":{"name":"a"},"data":{${times(size, () => '"k":"v"').join(",")}}}`),
  json("unknown fields", 1000, (size) => ({
    ...configMap("a"),
    ...Object.fromEntries(times(size, (at) => [`u${at}`, 1])),
  })),
  upTo(
    200_000,
    json("blanks", 200_000, (size) => `${" ".repeat(size)}${JSON.stringify(configMap("a"))}`),
  ),
  json("a syntax error at the end", 20_000, (size) => `{"a":[${"1,".repeat(size)}`, 400),
  upTo(
    200_000,
    json("lists that nothing closes", 50_000, (size) => "[".repeat(size), 400),
  ),
  upTo(
    50_000,
    json("objects that nothing closes", 50_000, (size) => '{"a":'.repeat(size), 400),
  ),
  {
    ...json("many deep objects without a schema", 5, (size) => free(`[${times(size, () => nested(900)).join(",")}]`)),
    path: WIDGETS + DRY_RUN,
  },
  {
    ...json("many keys deep inside", 100, (size) =>
      free(nested(900, `{${times(size, (at) => `"k${at}":1`).join(",")}}`)),
    ),
    path: WIDGETS + DRY_RUN,
  },
  {
    ...upTo(
      100_000,
      json("numbers of many digits", 50_000, (size) => free(`0.${"1".repeat(size)}`)),
    ),
    path: WIDGETS + DRY_RUN,
  },
  {
    ...json("integers of many digits", 2000, (size) => free(`[${times(size, () => "9007199254740993").join(",")}]`)),
    path: WIDGETS + DRY_RUN,
  },
  {
    name: "protobuf: keys of a map",
    size: 500,
    method: "POST",
    path: CONFIG_MAPS + DRY_RUN,
    type: "application/vnd.kubernetes.protobuf",
    body: (size) => {
      if (schema === undefined) throw new Error("no schema");
      const object = configMap("a", Object.fromEntries(times(size, (at) => [`k${at}`, "v"])));
      return Buffer.from(encodeEnvelope({ apiVersion: "v1", kind: "ConfigMap", raw: encodeProtobuf(schema, object) }));
    },
    status: 201,
  },
  {
    name: "CBOR: keys of many maps",
    size: 50,
    most: 100,
    method: "POST",
    path: WIDGETS + DRY_RUN,
    type: "application/cbor",
    body: (size) =>
      Buffer.from(encodeCbor(widget("a", { free: times(size, () => keyed(50, () => "v")) }) as JsonObject)),
    status: 201,
  },
  {
    name: "CBOR: a text in many chunks",
    size: 5000,
    method: "POST",
    path: WIDGETS + DRY_RUN,
    type: "application/cbor",
    body: (size) =>
      Buffer.concat([Buffer.of(0xa1, 0x41, 0x61, 0x7f), Buffer.alloc(size * 3, "\x62ab"), Buffer.of(0xff)]),
    status: 400,
  },
];
