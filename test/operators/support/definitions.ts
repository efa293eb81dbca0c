/**
 * CustomResourceDefinitions of well-known projects, from what the set-up has fetched: for each kind and version a file
 * with the schema that the project's own definition has, and one with its texts.
 *
 * 1. What the packages have added is taken away again: `nullable` on whatever is optional, fixed values of apiVersion
 *    and kind, types of metadata, escapes in patterns.
 * 2. What they have lost is put back: a value that is a number or a string, an object of which nothing is said and so
 *    holds anything.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describedFields } from "./described-fields.ts";

const fetched = join(import.meta.dirname, "..", "..", "..", ".tools", "operator-schemas");

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly required?: readonly string[];
}

export interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: Schema };
  readonly subresources?: { readonly status: object };
}

export interface Definition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: "Cluster" | "Namespaced";
    readonly names: Readonly<Record<"plural" | "singular" | "kind" | "listKind", string>>;
    readonly versions: readonly Version[];
  };
}

export function isFetched(project: string): boolean {
  return existsSync(join(fetched, project));
}

/** All of the project, but for groups that it has given up. */
export function definitionsOf(
  project: string,
  { clusterScoped = [], abandoned = [] }: { clusterScoped?: readonly string[]; abandoned?: readonly string[] },
): Definition[] {
  const files = globSync("*.*/v*/*.d.ts", { cwd: join(fetched, project) }).filter(
    (file) => !file.endsWith("index.d.ts"),
  );
  const found = files.map((file) => {
    const [group = "", version = "", name = ""] = file.split("/");
    return { group, version, kind: name.replace(".d.ts", ""), path: join(fetched, project, file) };
  });
  const byKind = Map.groupBy(
    found.filter(({ group }) => !abandoned.includes(group)),
    ({ group, kind }) => `${kind}.${group}`,
  );
  return [...byKind.values()].flatMap((files) => {
    const [first] = files;
    if (first === undefined) return [];
    const { group, kind } = first;
    const newestFirst = files.toSorted((a, b) => age(a.version) - age(b.version));
    const names = { plural: plural(kind), singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
    const versions = newestFirst.map(({ version, path }, i) => versionOf(version, path, i === 0));
    const approval = { "api-approved.kubernetes.io": "unapproved, for tests" };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${names.plural}.${group}`, ...(group.endsWith(".k8s.io") && { annotations: approval }) },
      spec: { group, scope: clusterScoped.includes(kind) ? "Cluster" : "Namespaced", names, versions },
    };
  });
}

function versionOf(name: string, path: string, storage: boolean): Version {
  const program = readFileSync(path.replace(".d.ts", ".js"), "utf8");
  const text = /^const schema = (\{\n[\s\S]*?\n\});$/m.exec(program)?.[1];
  if (text === undefined) throw new Error(`${path}: no schema found beside it`);
  const { properties = {}, required = [], ...rest } = JSON.parse(text) as Schema;
  const texts = describedFields(readFileSync(path, "utf8"));
  const own = Object.entries(properties).filter(([name]) => !["apiVersion", "kind", "metadata"].includes(name));
  const stated = required.filter((name) => own.some(([property]) => property === name));
  const schema: Schema = {
    ...rest,
    ...(texts.has("") && { description: texts.get("") }),
    ...(stated.length > 0 && { required: stated }),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...Object.fromEntries(own.map(([name, value]) => [name, structural(value, name, texts)])),
    },
  };
  return {
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
    ...("status" in properties && { subresources: { status: {} } }),
  };
}

function structural(given: Schema, path: string, texts: ReadonlyMap<string, string>): Schema {
  const described = texts.get(path);
  const schema = { ...bare(orNull(given)), ...(described !== undefined && { description: described }) };
  const { properties, items, additionalProperties, type, anyOf } = schema;
  if (type === undefined) {
    return anyOf === undefined
      ? { ...schema, "x-kubernetes-preserve-unknown-fields": true }
      : { ...schema, "x-kubernetes-int-or-string": true };
  }
  if (type === "object" && additionalProperties === undefined && Object.keys(properties ?? {}).length === 0) {
    const { properties: _none, ...open } = schema;
    return { ...open, "x-kubernetes-preserve-unknown-fields": true };
  }
  const inner = ([name, value]: [string, Schema]) => [name, structural(value, `${path}.${name}`, texts)] as const;
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(inner)) }),
    ...(items && { items: structural(items, path, new Map([...texts].filter(([key]) => key !== path))) }),
    ...(additionalProperties && { additionalProperties: structural(additionalProperties, path, texts) }),
  };
}

/** The packages tell a reference or an empty schema that is optional as one of two. */
function orNull(schema: Schema): Schema {
  const [value, none] = schema.oneOf ?? [];
  return value !== undefined && none?.type === "null" ? value : schema;
}

/** Without what a structural schema has no word for, also where it only restricts: in anyOf, oneOf, allOf and not. */
function bare({ nullable: _optional, deprecated: _old, ...schema }: Schema): Schema {
  const junctors = ["anyOf", "oneOf", "allOf"].filter((name) => Array.isArray(schema[name]));
  return {
    ...schema,
    ...(typeof schema.pattern === "string" && { pattern: schema.pattern.replaceAll("\\/", "/") }),
    ...Object.fromEntries(junctors.map((name) => [name, (schema[name] as Schema[]).map(deeplyBare)])),
    ...(schema.not !== undefined && { not: deeplyBare(schema.not as Schema) }),
  };
}

function deeplyBare(schema: Schema): Schema {
  const { properties, items, ...rest } = bare(schema);
  const inner = ([name, value]: [string, Schema]) => [name, deeplyBare(value)] as const;
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(inner)) }),
    ...(items && { items: deeplyBare(items) }),
  };
}

/** v2 before v1, v1 before v1beta2, that before v1beta1, alpha last: lower is newer. */
function age(version: string): number {
  const [, major = "0", stage, minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  const rank = stage === undefined ? 0 : stage === "beta" ? 1 : 2;
  return rank * 10_000 - Number(major) * 100 - Number(minor);
}

function plural(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
