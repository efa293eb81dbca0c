/**
 * The schemas of types as JSON text, each rendered once for all documents that show it.
 */
import { type JsonObject, writeJson } from "#api";
import type { Descriptions } from "./descriptions.ts";
import type { GroupVersionKind } from "./operation.ts";
import { type OpenApiVersion, type RenderedType, renderType } from "./type-schema.ts";

export interface TypeText {
  readonly refs: ReadonlySet<string>;
  text(gvks: readonly GroupVersionKind[]): string;
}

export class TypeTexts {
  readonly version: OpenApiVersion;
  readonly descriptions: Descriptions;
  readonly #known = new Map<string, TypeText>();

  constructor(version: OpenApiVersion, descriptions: Descriptions) {
    this.version = version;
    this.descriptions = descriptions;
  }

  get(typeName: string): TypeText {
    const found = this.#known.get(typeName) ?? typeText(renderType(typeName, this.version, this.descriptions));
    this.#known.set(typeName, found);
    return found;
  }
}

export function typeText({ schema, refs }: RenderedType): TypeText {
  const text = writeJson(schema);
  return {
    refs,
    text(gvks) {
      if (gvks.length === 0) return text;
      const shown = gvks.map(({ group, version, kind }): JsonObject => ({ group, kind, version }));
      const comma = text === "{}" ? "" : ",";
      return `${text.slice(0, -1)}${comma}"x-kubernetes-group-version-kind":${JSON.stringify(shown)}}`;
    },
  };
}

/** All types that are reached from `roots`, sorted by name. */
export function reached(roots: Iterable<string>, get: (typeName: string) => TypeText): Map<string, TypeText> {
  const found = new Map<string, TypeText>();
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    const type = get(name);
    found.set(name, type);
    open.push(...type.refs);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
