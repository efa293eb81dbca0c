/** Inputs of reads, selectors and tables, of policies and of definitions. */
import { DEFINITIONS, definition } from "../../custom-resources/testing/index.ts";
import { configMap } from "../objects.ts";
import {
  CONFIG_MAPS,
  DRY_RUN,
  type Input,
  keyed,
  named,
  POLICIES,
  scattered,
  times,
  upTo,
  WIDGETS,
  widget,
} from "./input.ts";

const query = (name: string, size: number, path: (size: number) => string, status = 200): Input => ({
  name: `read: ${name}`,
  size,
  method: "GET",
  path,
  status,
});

const policy = (name: string, size: number, spec: (size: number) => object, status = 422): Input => ({
  name: `policy: ${name}`,
  size,
  method: "POST",
  // An expression has at most 100,000 characters.
  most: Math.max(size, 1000),
  path: POLICIES + DRY_RUN,
  body: (grown) => ({ metadata: { name: "p" }, spec: { matchConstraints: { resourceRules: rules }, ...spec(grown) } }),
  status,
});

const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];

const defined = (
  name: string,
  size: number,
  schema: (size: number) => object,
  status = 201,
  more: (size: number) => object = () => ({}),
): Input => ({
  name: `definition: ${name}`,
  size,
  method: "POST",
  most: size * 4,
  path: DEFINITIONS + DRY_RUN,
  body: (grown) =>
    definition({
      plural: "gadgets",
      kind: "Gadget",
      versions: [
        { name: "v1", storage: true, schema: { type: "object", properties: { spec: schema(grown) } }, ...more(grown) },
      ],
    }),
  status,
});

const reviewed = (spec: object) => ({ type: "object", properties: spec });

export const readsAndRules: readonly Input[] = [
  query(
    "a label selector of many values",
    2000,
    (size) => `${CONFIG_MAPS}?labelSelector=a+in+(${times(size, (at) => `v${scattered(at)}`).join(",")})`,
  ),
  query(
    "a label selector of many requirements",
    1000,
    (size) => `${CONFIG_MAPS}?labelSelector=${times(size, (at) => `k${at}!=v`).join(",")}`,
  ),
  upTo(
    20_000,
    query("a label selector of symbols", 5000, (size) => `${CONFIG_MAPS}?labelSelector=${"!".repeat(size)}`, 400),
  ),
  query(
    "a field selector of many terms",
    2000,
    (size) => `${CONFIG_MAPS}?fieldSelector=${times(size, (at) => `metadata.name!=n${at}`).join(",")}`,
  ),
  query(
    "a field selector of escapes",
    5000,
    (size) => `${CONFIG_MAPS}?fieldSelector=metadata.name=${"\\,".repeat(size)}`,
  ),
  query("a long name", 50_000, (size) => `${CONFIG_MAPS}/${"a".repeat(size)}`, 404),
  query("a long continue token", 50_000, (size) => `${CONFIG_MAPS}?limit=1&continue=${"a".repeat(size)}`, 400),
  {
    ...query("a long object as a table", 1000, (size) => `${CONFIG_MAPS}/table-${named(size)}`),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    before: (size) => [
      {
        path: CONFIG_MAPS,
        body: configMap(
          `table-${named(size)}`,
          keyed(size, () => "v"),
        ),
      },
    ],
  },
  {
    ...query("a long column", 1000, (size) => `${WIDGETS}/table-${named(size)}`),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    before: (size) => [
      { path: WIDGETS, body: widget(`table-${named(size)}`, { set: times(size, (at) => `v${scattered(at)}`) }) },
    ],
  },
  {
    ...query("YAML of a long object", 500, (size) => `${CONFIG_MAPS}/yaml-${named(size)}`),
    accept: "application/yaml",
    before: (size) => [
      {
        path: CONFIG_MAPS,
        body: configMap(
          `yaml-${named(size)}`,
          keyed(size, () => "v"),
        ),
      },
    ],
  },
  {
    ...query("protobuf of a long object", 1000, (size) => `${CONFIG_MAPS}/proto-${named(size)}`),
    accept: "application/vnd.kubernetes.protobuf",
    before: (size) => [
      {
        path: CONFIG_MAPS,
        body: configMap(
          `proto-${named(size)}`,
          keyed(size, () => "v"),
        ),
      },
    ],
  },
  policy(
    "validations",
    20,
    (size) => ({ validations: times(size, (at) => ({ expression: `object.metadata.name != 'a${at}'` })) }),
    201,
  ),
  policy(
    "variables",
    50,
    (size) => ({
      validations: [{ expression: "true" }],
      variables: times(size, (at) => ({ name: `v${at}`, expression: at === 0 ? "1" : `variables.v${at - 1} + 1` })),
    }),
    201,
  ),
  policy(
    "a long expression",
    200,
    (size) => ({ validations: [{ expression: `object.a in [${times(size, (at) => `'${at}'`).join(",")}]` }] }),
    201,
  ),
  {
    ...policy(
      "an expression of many operators",
      10,
      (size) => ({ validations: [{ expression: times(size * 20, (at) => `object.a != '${at}'`).join(" && ") }] }),
      201,
    ),
    // Expressions have a largest length.
    most: 20,
  },
  policy("open brackets of an expression", 2000, (size) => ({ validations: [{ expression: "(".repeat(size) }] })),
  policy("faults of an expression", 100, (size) => ({
    validations: [{ expression: times(size, (at) => `u${at}`).join(" + ") }],
  })),
  policy(
    "an expression that is a long text",
    3000,
    (size) => ({ validations: [{ expression: `'${"x".repeat(size)}' == object.a` }] }),
    201,
  ),
  defined("properties", 200, (size) => reviewed(keyed(size, () => ({ type: "string" })))),
  defined("nested properties", 10, (size) =>
    times(size, () => 0).reduce<object>((inner) => ({ type: "object", properties: { a: inner } }), { type: "string" }),
  ),
  defined("values of an enum", 500, (size) => ({ type: "string", enum: times(size, (at) => `v${scattered(at)}`) })),
  defined("required properties", 300, (size) => ({
    type: "object",
    required: times(size, (at) => `r${scattered(at)}`),
  })),
  defined("alternatives", 100, (size) => ({ type: "object", anyOf: times(size, (at) => ({ required: [`r${at}`] })) })),
  defined("defaults", 100, (size) => reviewed(keyed(size, (at) => ({ type: "integer", default: at })))),
  defined("a long pattern", 2000, (size) => ({
    type: "string",
    pattern: `^(${times(size, (at) => `v${at}`).join("|")})$`,
  })),
  defined("rules", 5, (size) =>
    reviewed(keyed(size, () => ({ type: "integer", "x-kubernetes-validations": [{ rule: "self > 0" }] }))),
  ),
  defined(
    "columns",
    100,
    () => ({ type: "object" }),
    201,
    (size) => ({
      additionalPrinterColumns: times(size, (at) => ({ name: `c${at}`, type: "string", jsonPath: `.spec.c${at}` })),
    }),
  ),
  defined(
    "selectable fields beyond the limit",
    100,
    () => ({ type: "object" }),
    422,
    (size) => ({
      selectableFields: times(size, (at) => ({ jsonPath: `.spec.c${at}` })),
    }),
  ),
];
