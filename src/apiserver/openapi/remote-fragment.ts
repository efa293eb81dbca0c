/**
 * Merges the OpenAPI v2 documents of extension API servers with those of this server.
 *
 * 1. A type or parameter that both have under one name is kept once, if it is the same apart from descriptions and
 *    kinds. If it differs, that of the extension server gets a new name.
 */
import { equalJson, isObject, type Json, type JsonObject, parseJson, writeJson } from "#api";
import type { FragmentV2 } from "./render-v2.ts";

/** Parsed from the extension server's document: some paths, and everything that these refer to. */
export interface RemoteFragment {
  readonly paths: ReadonlyMap<string, Json>;
  readonly types: ReadonlyMap<string, Json>;
  readonly parameters: ReadonlyMap<string, Json>;
}

const KINDS = "x-kubernetes-group-version-kind";

/** Fragments to add to those of this server, in the order given. */
export function besideLocal(local: readonly FragmentV2[], remote: readonly RemoteFragment[]): FragmentV2[] {
  const types = new Map(local.flatMap((fragment) => [...fragment.types]));
  const parameters = new Map(local.flatMap((fragment) => [...fragment.parameters]));
  return remote.map((fragment) => {
    const names = new Map([
      ...newNames(fragment.types, types).map(([from, to]) => [`#/definitions/${from}`, `#/definitions/${to}`] as const),
      ...newNames(fragment.parameters, parameters).map(
        ([from, to]) => [`#/parameters/${from}`, `#/parameters/${to}`] as const,
      ),
    ]);
    const added: FragmentV2 = {
      paths: [...fragment.paths]
        .map(([path, item]) => `${JSON.stringify(path)}:${writeJson(renamed(item, names))}`)
        .join(),
      types: texts(fragment.types, "#/definitions/", names, types),
      parameters: texts(fragment.parameters, "#/parameters/", names, parameters),
    };
    for (const [name, text] of added.types) types.set(name, text);
    for (const [name, text] of added.parameters) parameters.set(name, text);
    return added;
  });
}

/** New names for those whose name is taken by a different one. */
function newNames(values: ReadonlyMap<string, Json>, taken: ReadonlyMap<string, string>): [string, string][] {
  return [...values].flatMap(([name, value]): [string, string][] => {
    let free = name;
    for (let n = 2; isAnother(value, taken.get(free)); n++) free = `${name}_v${n}`;
    return free === name ? [] : [[name, free]];
  });
}

function texts(
  values: ReadonlyMap<string, Json>,
  prefix: string,
  names: ReadonlyMap<string, string>,
  taken: ReadonlyMap<string, string>,
): Map<string, string> {
  return new Map(
    [...values].map(([name, value]) => {
      const shown = (names.get(prefix + name) ?? prefix + name).slice(prefix.length);
      const before = taken.get(shown);
      return [shown, before === undefined ? writeJson(renamed(value, names)) : withKinds(before, value)];
    }),
  );
}

function isAnother(value: Json, text: string | undefined): boolean {
  return text !== undefined && !equalJson(bare(value), bare(parseJson(text)));
}

/** Without descriptions and kinds, which may differ. */
function bare(value: Json): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, item]) => key !== KINDS && !(key === "description" && typeof item === "string"),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, bare(item)]));
}

/** The same type, with the kinds of both. */
function withKinds(text: string, other: Json): string {
  const added = isObject(other) && Array.isArray(other[KINDS]) ? (other[KINDS] as readonly Json[]) : [];
  if (added.length === 0) return text;
  const own = parseJson(text) as JsonObject;
  const kinds = Array.isArray(own[KINDS]) ? (own[KINDS] as readonly Json[]) : [];
  const missing = added.filter((kind) => !kinds.some((known) => equalJson(known, kind)));
  return missing.length === 0 ? text : writeJson({ ...own, [KINDS]: [...kinds, ...missing] });
}

function renamed(value: Json, names: ReadonlyMap<string, string>): Json {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((item: Json) => renamed(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const to = key === "$ref" && typeof item === "string" ? names.get(item) : undefined;
      return [key, to ?? renamed(item, names)];
    }),
  );
}
