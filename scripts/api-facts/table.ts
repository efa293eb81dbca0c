/**
 * Writes the facts of one API package as the lines that src/api/facts reads; its README explains them.
 *
 * 1. Go's declarations say what JSON looks like, generated.proto says the numbers; where both speak, they must agree.
 * 2. Lines stand in Go's order: that is the order in which fields are written as JSON.
 */
import type { GoField, GoPackage, GoType } from "./go.ts";
import type { ProtoField, ProtoMessages } from "./proto.ts";

export interface Sources {
  readonly go: (path: string) => GoPackage;
  readonly proto: (path: string) => ProtoMessages;
}

/**
 * Types that write their own JSON. `raw` is any JSON that protobuf carries as bytes, `any` is what protobuf does not
 * carry.
 */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ["k8s.io/apimachinery/pkg/apis/meta/v1.Time", "time"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime", "microTime"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.Duration", "duration"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1", "raw"],
  ["k8s.io/apimachinery/pkg/api/resource.Quantity", "quantity"],
  ["k8s.io/apimachinery/pkg/util/intstr.IntOrString", "intOrString"],
  ["k8s.io/apimachinery/pkg/runtime.RawExtension", "raw"],
]);

/** Structs that are any JSON under a name that messages show. */
const RAW_ALIASES: ReadonlySet<string> = new Set(["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON"]);

const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["bool", "boolean"],
  ["int32", "int32"],
  ["int64", "int64"],
  ["float64", "double"],
  ["interface{}", "any"],
]);

/** The protobuf types that a scalar may have; others are messages. */
const PROTO_SCALAR: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["boolean", "bool"],
  ["int32", "int32"],
  ["int64", "int64"],
  ["double", "double"],
  ["bytes", "bytes"],
]);

/** k8s.io/api/core/v1 → io.k8s.api.core.v1, as OpenAPI names it. */
export function packageName(path: string): string {
  return path.replace(/^k8s\.io\//, "io.k8s.").replaceAll("/", ".");
}

export function writeTable(
  path: string,
  jsonOnly: readonly string[],
  aliases: readonly string[],
  sources: Sources,
): string {
  return new TableWriter(path, sources).write(jsonOnly, aliases);
}

class TableWriter {
  readonly #path: string;
  readonly #sources: Sources;
  readonly #uses = new Map<string, string>();
  /** Names for scalars, lists and maps that the types use: what they are. Those of other packages have a dot. */
  readonly #aliases = new Map<string, string>();

  constructor(path: string, sources: Sources) {
    this.#path = path;
    this.#sources = sources;
  }

  write(jsonOnly: readonly string[], aliases: readonly string[]): string {
    const pkg = this.#sources.go(this.#path);
    const names = [...this.#sources.proto(this.#path).keys(), ...jsonOnly];
    const blocks: string[] = [];
    for (const name of names.sort()) {
      const type = pkg.types.get(name);
      if (type === undefined) throw new Error(`${this.#path} has no Go type ${name}`);
      const full = `${this.#path}.${name}`;
      if (!SPECIAL.has(full) && !RAW_ALIASES.has(full)) blocks.push(this.#block(type));
    }
    for (const name of aliases) this.#type(name, { name, path: this.#path, markers: new Map(), imports: new Map() });
    const head = [`package ${packageName(this.#path)}`, ...[...this.#uses].sort().map(([as, of]) => `use ${as} ${of}`)];
    const enumNames = [...pkg.types.values()].filter(isEnum).map((type) => type.name);
    const named = [
      ...enumNames.sort().map((name) => `enum ${name} ${this.#values(pkg, name).join("|")}`),
      ...[...this.#aliases]
        .filter(([name]) => !name.includes("."))
        .sort()
        .map(([name, of]) => `alias ${name} ${of}`),
    ];
    return [head.join("\n"), ...(named.length > 0 ? [named.join("\n")] : []), ...blocks].join("\n\n");
  }

  #block(type: GoType): string {
    const fields = type.fields;
    if (fields === undefined) {
      // `type List metav1.List` and `type ExtraValue []string` are messages of their own in protobuf.
      const list = /^\[\](\w+)$/.exec(type.underlying ?? "")?.[1];
      if (list !== undefined) return `${type.name} list ${this.#type(list, type)}`;
      return `${type.name} same ${this.#type(type.underlying ?? "", type)}`;
    }
    const message = this.#sources.proto(this.#path).get(type.name);
    const own = fields().filter((field) => field.tags.get("json") !== "-");
    const either = own.length > 0 && own.every((field) => !field.tags.has("json"));
    const seen = new Set<string>();
    const lines = own.map((field) => {
      const proto = this.#protoField(field, message, type);
      if (proto !== undefined) seen.add(proto.name);
      const number = proto?.field.number ?? 0;
      if (either) return ` ${number} ${this.#type(field.type, type).replace(/^\*/, "")}`;
      return ` ${number} ${this.#field(field, type, proto?.field)}`;
    });
    for (const name of message?.keys() ?? []) {
      if (!seen.has(name)) throw new Error(`${this.#path}.${type.name}: ${name} is in protobuf but not in Go`);
    }
    const atomic = type.markers.get("structType")?.[0] ?? type.markers.get("mapType")?.[0];
    return [`${type.name}${either ? " either" : ""}${atomic === "atomic" ? " atomic" : ""}`, ...lines].join("\n");
  }

  #protoField(field: GoField, message: ReadonlyMap<string, ProtoField> | undefined, type: GoType) {
    const tag = field.tags.get("protobuf");
    if (message === undefined || tag === undefined || tag === "-") return undefined;
    const number = Number(tag.split(",")[1]);
    const named = /name=(\w+)/.exec(tag)?.[1];
    for (const [name, found] of message) {
      if (found.number === number && (named ?? name) === name) return { name, field: found };
    }
    throw new Error(`${this.#path}.${type.name}.${field.name}: Go and protobuf disagree about ${tag}`);
  }

  #field(field: GoField, type: GoType, proto: ProtoField | undefined): string {
    const [json = "", ...options] = (field.tags.get("json") ?? "").split(",");
    const as = this.#type(field.type, type);
    if (field.embedded && json === "" && !as.startsWith("*")) return `... ${as}`;
    if (json === "") throw new Error(`${this.#path}.${type.name}.${field.name} has no name in JSON`);
    const omit = options.includes("omitzero") ? "~" : options.includes("omitempty") ? "?" : "";
    const required = isRequired(field, options) ? "!" : "";
    if (proto !== undefined) this.#checkShape(as, proto, `${this.#path}.${type.name}.${json}`);
    return [`${json}${omit}${required} ${as}`, ...this.#flags(field, type)].join(" ");
  }

  #flags(field: GoField, type: GoType): string[] {
    const marker = (name: string) => field.markers.get(name)?.[0];
    const aliased = this.#named(field.type, type)?.markers;
    const list = marker("listType") ?? aliased?.get("listType")?.[0];
    const keys = field.markers.get("listMapKey") ?? aliased?.get("listMapKey");
    const map = marker("mapType") ?? marker("structType");
    const strategy = field.tags.get("patchStrategy");
    const key = field.tags.get("patchMergeKey");
    const value = marker("default");
    const json = field.tags.get("json")?.split(",")[0] ?? "";
    const flags: string[] = [];
    if (!field.embedded && field.name !== `${json.charAt(0).toUpperCase()}${json.slice(1)}`)
      flags.push(`go=${field.name}`);
    if (list !== undefined) flags.push(`list=${list}${keys === undefined ? "" : `:${keys.join(",")}`}`);
    if (map !== undefined) flags.push(`map=${map}`);
    if (strategy !== undefined || key !== undefined)
      flags.push(`patch=${strategy ?? ""}${key === undefined ? "" : `:${key}`}`);
    if (value !== undefined) flags.push(`=${this.#default(value)}`);
    const spaced = flags.find((flag) => flag.includes(" "));
    if (spaced !== undefined) throw new Error(`${type.name}.${field.name}: no room for a space in ${spaced}`);
    return flags;
  }

  #default(marker: string): string {
    const constant = /^ref\((\w+)\)$/.exec(marker)?.[1];
    if (constant === undefined) return JSON.stringify(JSON.parse(marker));
    return JSON.stringify(this.#constant(this.#path, constant));
  }

  #constant(path: string, name: string): string {
    const found = this.#sources.go(path).constants.find((it) => it.name === name);
    if (found === undefined) throw new Error(`${path} has no constant ${name}`);
    return typeof found.value === "string" ? found.value : this.#constant(found.value.path, found.value.constant);
  }

  /** A Go type as the tables write it: `*` pointer, `[]` list, `{}` map, a scalar, or the name of a type or enum. */
  #type(go: string, from: GoType): string {
    if (go.startsWith("*")) return `*${this.#type(go.slice(1), from)}`;
    if (go === "[]byte") return "bytes";
    if (go.startsWith("[]")) return `[]${this.#type(go.slice(2), from)}`;
    const [, key, value] = /^map\[([\w.]+)\](.*)$/.exec(go) ?? [];
    if (key !== undefined && value !== undefined) {
      return `{${key === "string" ? "" : this.#type(key, from)}}${this.#type(value, from)}`;
    }
    const builtIn = BUILT_IN.get(go);
    if (builtIn !== undefined) return builtIn;
    const { path, name } = this.#locate(go, from);
    const special = SPECIAL.get(`${path}.${name}`);
    if (special !== undefined) return special;
    const pkg = this.#sources.go(path);
    const type = pkg.types.get(name);
    if (type === undefined) throw new Error(`${path} has no type ${name}, which ${this.#path} uses`);
    const isMessage = this.#sources.proto(path).has(name);
    if (RAW_ALIASES.has(`${path}.${name}`)) return this.#alias(path, name, "raw");
    if (type.fields !== undefined || isMessage || isEnum(type)) return this.#reference(path, name);
    const underlying = this.#type(type.underlying ?? "", type);
    return type.sameType ? underlying : this.#alias(path, name, underlying);
  }

  /** What Go calls otherwise than what it is: its messages show the name. */
  #alias(path: string, name: string, of: string): string {
    const reference = this.#reference(path, name);
    this.#aliases.set(reference, of);
    return reference;
  }

  #reference(path: string, name: string): string {
    if (path === this.#path) return name;
    const [, group = path.slice(path.lastIndexOf("/") + 1), version = "v1"] = /([\w-]+)\/(v\w+)$/.exec(path) ?? [];
    const as = version === "v1" ? group : `${group}${version}`;
    this.#uses.set(as, packageName(path));
    return `${as}.${name}`;
  }

  #locate(go: string, from: GoType): { path: string; name: string } {
    const dot = go.lastIndexOf(".");
    if (dot < 0) return { path: from.path, name: go };
    const path = from.imports.get(go.slice(0, dot));
    if (path === undefined) throw new Error(`${this.#path}.${from.name}: ${go} is of a package that is not imported`);
    return { path, name: go.slice(dot + 1) };
  }

  #named(go: string, from: GoType): GoType | undefined {
    if (!/^\*?[\w.]+$/.test(go) || BUILT_IN.has(go.replace("*", ""))) return undefined;
    const { path, name } = this.#locate(go.replace("*", ""), from);
    const type = this.#sources.go(path).types.get(name);
    return type?.underlying === undefined ? undefined : type;
  }

  #checkShape(as: string, proto: ProtoField, where: string): void {
    const bare = this.#resolved(as.replace(/^\*/, ""));
    const shape = bare.startsWith("[]") ? "list" : bare.startsWith("{") ? "map" : "one";
    const scalar = PROTO_SCALAR.get(this.#resolved(bare.replace(/^(\[\]|\{.*?\})/, "")));
    if (shape !== proto.shape || (scalar !== undefined && scalar !== proto.type)) {
      throw new Error(`${where}: ${as} in Go, ${proto.shape} of ${proto.type} in protobuf`);
    }
  }

  #resolved(type: string): string {
    const of = this.#aliases.get(type);
    return of === undefined ? type : this.#resolved(of);
  }

  #values(pkg: GoPackage, name: string): string[] {
    const values = pkg.constants.filter((it) => it.type === name).map((it) => this.#constant(pkg.path, it.name));
    if (values.length === 0) throw new Error(`${pkg.path}: the enum ${name} has no values`);
    if (values.some((value) => value.includes("|"))) throw new Error(`${name}: no room for a | in an enum`);
    return [...new Set(values)].sort();
  }
}

/** Another name for an enum is none itself. */
function isEnum(type: GoType): boolean {
  return type.underlying === "string" && (type.markers.has("enum") || type.markers.has("k8s:enum"));
}

/** As OpenAPI has it: what the markers say, else whether it may be left out of JSON. */
function isRequired(field: GoField, options: readonly string[]): boolean {
  if (field.markers.has("optional")) return false;
  return field.markers.has("required") || !options.includes("omitempty");
}
