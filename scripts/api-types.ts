/**
 * Writes src/api/types: a TypeScript interface for each built-in type, from the facts tables. Run it after
 * scripts/api-facts.ts.
 *
 * 1. A field is optional unless OpenAPI requires it, everything is readonly, and JSON is what is described: times are
 *    strings.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeNames, typeSchema } from "../src/api/facts/index.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../src/api/machinery/schema/schema.ts";

const target = join(import.meta.dirname, "..", "src", "api", "types");
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Written by hand in the machinery, which must not depend on generated files. */
const BY_HAND = new Set(["ObjectMeta", "OwnerReference", "ManagedFieldsEntry"].map((name) => `${META}.${name}`));

interface Package {
  readonly name: string;
  readonly types: string[];
}

function packageOf(type: string): string {
  return type.slice(0, type.lastIndexOf("."));
}

/** io.k8s.api.core.v1 → core-v1 */
function fileOf(name: string): string {
  return name
    .split(".")
    .slice(-2)
    .join("-")
    .replace(/^apis-/, "")
    .replace("pkg-", "");
}

function typeText(schema: Schema, use: (type: string) => string): string {
  switch (schema.type) {
    case "boolean":
      return "boolean";
    case "int32":
    case "double":
      return "number";
    case "int64":
      return "Int64";
    case "intOrString":
      return "number | string";
    case "any":
      return "Json";
    case "object":
      return schema.goType === undefined ? "JsonObject" : use(schema.goType);
    case "map":
      return `Readonly<Record<string, ${typeText(schema.values, use)}>>`;
    case "list": {
      const items = typeText(schema.items, use);
      return `readonly ${items.includes(" ") ? `(${items})` : items}[]`;
    }
    default:
      return schema.enum === undefined
        ? "string"
        : schema.enum.map((value) => JSON.stringify(value)).join(" | ") || "string";
  }
}

function fieldText(field: FieldSchema, isKind: boolean, use: (type: string) => string): string {
  const optional = !field.required && !(isKind && field.name === "metadata");
  const name = /^[A-Za-z_$][\w$]*$/.test(field.name) ? field.name : JSON.stringify(field.name);
  return `  readonly ${name}${optional ? "?" : ""}: ${typeText(field.schema, use)};`;
}

function interfaceText(type: string, schema: ObjectSchema, use: (type: string) => string): string {
  const name = type.slice(type.lastIndexOf(".") + 1);
  const metadata = schema.fields.get("metadata")?.schema;
  const isKind = metadata?.type === "object" && metadata.goType === `${META}.ObjectMeta` && schema.fields.has("kind");
  const fields = [...schema.fields.values()].map((field) => fieldText(field, isKind, use));
  return fields.length === 0
    ? `export type ${name} = Readonly<Record<string, never>>;`
    : `export interface ${name} {\n${fields.join("\n")}\n}`;
}

function moduleText({ name, types }: Package): string {
  const imports = new Map<string, Set<string>>();
  const note = (file: string, symbol: string) => imports.set(file, (imports.get(file) ?? new Set()).add(symbol));
  const use = (type: string) => {
    const symbol = type.slice(type.lastIndexOf(".") + 1);
    if (BY_HAND.has(type)) note("../machinery/schema/object.ts", symbol);
    else if (packageOf(type) !== name) note(`./${fileOf(packageOf(type))}.ts`, symbol);
    return symbol;
  };
  const bodies = types.filter((type) => !BY_HAND.has(type)).map((type) => interfaceText(type, typeSchema(type), use));
  const text = bodies.join("\n\n");
  for (const symbol of ["Int64", "Json", "JsonObject"])
    if (new RegExp(`\\b${symbol}\\b`).test(text)) note("../machinery/json/json.ts", symbol);
  const heads = [...imports]
    .sort()
    .map(([file, symbols]) => `import type { ${[...symbols].sort().join(", ")} } from "${file}";`);
  return `/** Written by scripts/api-types.ts: not to be edited. */\n${heads.join("\n")}\n\n${text}\n`;
}

const packages = new Map<string, Package>();
for (const type of typeNames().sort()) {
  const name = packageOf(type);
  const known = packages.get(name) ?? { name, types: [] };
  known.types.push(type);
  packages.set(name, known);
}
mkdirSync(target, { recursive: true });
for (const file of readdirSync(target)) rmSync(join(target, file));
for (const entry of packages.values()) writeFileSync(join(target, `${fileOf(entry.name)}.ts`), moduleText(entry));
console.log(`${packages.size} files, ${typeNames().length} types`);
