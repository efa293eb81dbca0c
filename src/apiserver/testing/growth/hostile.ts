/** Inputs of those who look for the square: texts that are used many times, long names with many parts, differences. */
import {
  CONFIG_MAPS,
  DRY_RUN,
  type Input,
  named,
  nested,
  PODS,
  pod,
  scattered,
  times,
  WIDGETS,
  widget,
} from "./input.ts";

const half = (size: number) => Math.floor(size / 2);
const long = (size: number) => "x".repeat(half(size));

const post = (
  name: string,
  size: number,
  path: string,
  body: (size: number) => object | string,
  status = 201,
): Input => ({
  name,
  size,
  method: "POST",
  path: path + DRY_RUN,
  body,
  status,
});

const yaml = (name: string, size: number, body: (size: number) => string, status = 201): Input => ({
  ...post(`YAML: ${name}`, size, CONFIG_MAPS, body, status),
  type: "application/yaml",
});

const head = "metadata: {name: a}\n";
const free = (text: string) => JSON.stringify(widget("a", { free: "X" })).replace('"X"', text);
const env = (size: number, value: string) => times(size, (at) => ({ name: `E${at}`, value }));
const numbered = (size: number) => times(size, (at) => `"k${at}":${at}`).join(",");

export const hostile: readonly Input[] = [
  yaml(
    "a long text, and aliases of it",
    20_000,
    (size) => `${head}x:\n  a: &a ${long(size)}\n${times(Math.floor(size / 20), (at) => `  b${at}: *a`).join("\n")}`,
    400,
  ),
  yaml(
    "a long key that is repeated",
    20_000,
    (size) => `${head}data:\n  ? &a ${long(size)}\n  : v\n${"  *a : v\n".repeat(Math.floor(size / 20))}`,
    400,
  ),
  yaml(
    "a long prefix of tags",
    20_000,
    (size) => `%TAG !a! tag:${long(size)}\n---\n${head}x:\n${"- !a!x y\n".repeat(Math.floor(size / 20))}`,
  ),
  yaml(
    "merge keys of a long map",
    2000,
    (size) =>
      `${head}x: &a {${times(half(size), (at) => `k${at}: 1`).join(", ")}}\ny:\n${"- <<: *a\n".repeat(half(size))}`,
    400,
  ),
  yaml("keys that are lists", 5000, (size) => `${head}? [${"x,".repeat(size)}]\n: 1`, 400),
  yaml(
    "lists in lists by lines",
    200,
    (size) => `${head}x:\n${times(size, (at) => `${" ".repeat(at % 200)}- `).join("\n")}`,
    201,
  ),
  yaml("folded lines", 5000, (size) => `${head}x: >\n${"  a\n\n".repeat(size)}`),
  yaml("blank lines", 20_000, (size) => `${head}x: "a${"\n".repeat(size)}b"`),
  yaml("blanks that are no text", 20_000, (size) => `${head}x: a${" ".repeat(size)}\ny: 1`),
  post(
    "JSON: unknown fields beside a long key",
    20_000,
    WIDGETS,
    (size) =>
      `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"y":1,"z":1,"z":2,"spec":{"maps":{"${long(size)}":{${times(Math.floor(size / 20), (at) => `"k${at}":"v"`).join(",")}}}}}`,
  ),
  post(
    "JSON: faults beside a long key",
    20_000,
    WIDGETS,
    (size) =>
      `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"maps":{"${long(size)}":{${numbered(Math.floor(size / 20))}}}}}`,
    422,
  ),
  post(
    "JSON: duplicates deep inside",
    1000,
    CONFIG_MAPS,
    (size) => `{"metadata":{"name":"a"},"x":${nested(900, `{${'"k":1,'.repeat(size)}"k":1}`)}}`,
  ),
  {
    ...post(
      "apply: faults beside a long key",
      20_000,
      WIDGETS,
      (size) =>
        `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"maps":{"${long(size)}":{${numbered(Math.floor(size / 20))}}}}}`,
      500,
    ),
    method: "PATCH",
    path: `${WIDGETS}/a${DRY_RUN}&fieldManager=one`,
    type: "application/apply-patch+yaml",
  },
  {
    ...post(
      "apply: conflicts beside a long key",
      20_000,
      WIDGETS,
      (size) =>
        widget(`conflict-${size}`, {
          maps: { [long(size)]: Object.fromEntries(times(Math.floor(size / 20), (at) => [`k${at}`, "w"])) },
        }),
      409,
    ),
    method: "PATCH",
    path: (size) => `${WIDGETS}/conflict-${size}${DRY_RUN}&fieldManager=one`,
    type: "application/apply-patch+yaml",
    before: (size) => [
      {
        path: WIDGETS,
        body: widget(`conflict-${size}`, {
          maps: { [long(size)]: Object.fromEntries(times(Math.floor(size / 20), (at) => [`k${at}`, "v"])) },
        }),
      },
    ],
  },
  {
    ...post(
      "merge patch: a long key with many parts",
      20_000,
      WIDGETS,
      (size) => ({
        spec: { maps: { [long(size)]: Object.fromEntries(times(Math.floor(size / 20), (at) => [`k${at}`, "w"])) } },
      }),
      200,
    ),
    method: "PATCH",
    type: "application/merge-patch+json",
    path: (size) => `${WIDGETS}/long-${size}${DRY_RUN}`,
    before: (size) => [
      {
        path: WIDGETS,
        body: widget(`long-${size}`, {
          maps: { [long(size)]: Object.fromEntries(times(Math.floor(size / 20), (at) => [`k${at}`, "v"])) },
        }),
      },
    ],
  },
  {
    ...post(
      "apply: keys deep inside",
      200,
      WIDGETS,
      (size) => free(nested(800, `{${numbered(size)}}`)).replace('"a"', `"deep-${size}"`),
      409,
    ),
    method: "PATCH",
    path: (size) => `${WIDGETS}/deep-${size}${DRY_RUN}&fieldManager=one`,
    type: "application/apply-patch+yaml",
    before: (size) => [
      {
        path: WIDGETS,
        body: JSON.parse(
          free(nested(800, `{${times(size, (at) => `"k${at}":-1`).join(",")}}`)).replace('"a"', `"deep-${size}"`),
        ),
      },
    ],
  },
  {
    ...post(
      "update: a Pod that differs in every variable",
      4000,
      PODS,
      (size) => pod(named(size), {}, { env: env(size, "w") }),
      422,
    ),
    method: "PUT",
    path: (size) => `${PODS}/${named(size)}${DRY_RUN}`,
    before: (size) => [{ path: PODS, body: pod(named(size), {}, { env: env(size, "v") }) }],
  },
  {
    ...post(
      "update: a Pod whose variables are few and repeated",
      4000,
      PODS,
      (size) => pod(`few-${size}`, {}, { env: times(size, (at) => ({ name: `E${(at * 7) % 60}`, value: "v" })) }),
      422,
    ),
    method: "PUT",
    path: (size) => `${PODS}/few-${size}${DRY_RUN}`,
    before: (size) => [
      { path: PODS, body: pod(`few-${size}`, {}, { env: times(size, (at) => ({ name: `E${at % 60}`, value: "v" })) }) },
    ],
  },
  {
    ...post(
      "protobuf: bytes of a long length",
      50_000,
      CONFIG_MAPS,
      (size) => Buffer.concat([Buffer.from("k8s\0"), Buffer.alloc(size, 0xff)]),
      400,
    ),
    type: "application/vnd.kubernetes.protobuf",
  },
  {
    ...post(
      "protobuf: messages in messages",
      10_000,
      CONFIG_MAPS,
      (size) => {
        let inner = Buffer.alloc(0);
        const parts: Buffer[] = [];
        // Groups and lengths that say the rest of the text.
        for (let at = 0; at < Math.min(size, 20_000); at++) parts.push(Buffer.from([0x0a]));
        inner = Buffer.concat(parts);
        return Buffer.concat([Buffer.from("k8s\0"), inner]);
      },
      400,
    ),
    type: "application/vnd.kubernetes.protobuf",
  },
  ...["copies", "copies of copies"].map(
    (name): Input => ({
      ...post(
        `json patch: ${name}`,
        20,
        WIDGETS,
        (size) =>
          times(size, (at) => ({
            op: "copy",
            from: name === "copies" ? "/spec/free/a" : `/spec/free`,
            path: name === "copies" ? `/spec/free/b${at}` : `/spec/free/c${at}`,
          })),
        name === "copies" ? 200 : 422,
      ),
      method: "PATCH",
      most: 1000,
      path: (size) => `${WIDGETS}/copied-${name.length}-${size}${DRY_RUN}`,
      type: "application/json-patch+json",
      before: (size) => [
        { path: WIDGETS, body: widget(`copied-${name.length}-${size}`, { free: { a: "x".repeat(100) } }) },
      ],
    }),
  ),
  {
    ...post(
      "json patch: tests of a long list",
      20,
      WIDGETS,
      (size) => times(size, () => ({ op: "test", path: "/spec/atomic", value: [1, 2] })),
      422,
    ),
    method: "PATCH",
    most: 1000,
    path: (size) => `${WIDGETS}/tested-${size}${DRY_RUN}`,
    type: "application/json-patch+json",
    before: (size) => [{ path: WIDGETS, body: widget(`tested-${size}`, { atomic: times(size * 50, scattered) }) }],
  },
  {
    ...post(
      "json patch: moves between the ends of a list",
      100,
      WIDGETS,
      (size) => times(size, () => ({ op: "move", from: "/spec/atomic/0", path: "/spec/atomic/-" })),
      200,
    ),
    method: "PATCH",
    most: 1000,
    path: (size) => `${WIDGETS}/moved-${size}${DRY_RUN}`,
    type: "application/json-patch+json",
    before: (size) => [{ path: WIDGETS, body: widget(`moved-${size}`, { atomic: times(1000, scattered) }) }],
  },
  post(
    "create: managedFields deep inside",
    100,
    CONFIG_MAPS,
    (size) =>
      `{"metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${nested(900, `{${times(size, (at) => `"f:k${at}":{}`).join(",")}}`).replaceAll('"a"', '"f:a"')}}]}}`,
  ),
  post(
    "create: bad managedFields",
    100,
    CONFIG_MAPS,
    (size) =>
      `{"metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{${times(size, (at) => `"k:{\\"a\\":${at}}":{"v:${at}":{}}`).join(",")}}}]}}`,
  ),
  post(
    "create: a quantity of digits that is none",
    10_000,
    PODS,
    (size) => pod("a", {}, { resources: { limits: { cpu: `${"1".repeat(size)}!` } } }),
    400,
  ),
  post(
    "create: a path of slashes",
    10_000,
    PODS,
    (size) =>
      pod("a", {
        volumes: [
          {
            name: "v",
            projected: {
              sources: ["a", "b"].map((name) => ({
                configMap: { name, items: [{ key: "k", path: `${"/".repeat(size)}x` }] },
              })),
            },
          },
        ],
      }),
    422,
  ),
  post(
    "create: scopes of a quota",
    200,
    "/api/v1/namespaces/default/resourcequotas",
    (size) => ({
      metadata: { name: "a" },
      spec: {
        hard: Object.fromEntries(times(size, (at) => [`hugepages-${at + 1}Mi`, "1"])),
        scopeSelector: { matchExpressions: times(size, () => ({ scopeName: "BestEffort", operator: "Exists" })) },
      },
    }),
    422,
  ),
];
