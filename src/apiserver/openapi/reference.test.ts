/**
 * Compares whole documents with those of a real server: paths, operations, parameters, and schemas with their fields,
 * types, formats, defaults, required fields, enums and extensions. Descriptions are not compared, nor whether a lone
 * reference is wrapped in allOf.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { builtInKinds, isObject, type Json, type JsonObject } from "#api";
import { servedVersions } from "../discovery/index.ts";
import { noDescriptions, OpenApi } from "./index.ts";

const reference = fileURLToPath(new URL("../../../../shared/reference/openapi/", import.meta.url));
const there = existsSync(reference);

function builtIn(): OpenApi {
  const openApi = new OpenApi({ descriptions: noDescriptions, kubernetesVersion: "1.36" });
  openApi.set(...servedVersions(builtInKinds([])));
  return openApi;
}

function bare(value: Json): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (!isObject(value)) return value;
  const { allOf, ...rest } = value;
  const kept = Object.entries(rest).filter(([key, it]) => key !== "description" || typeof it !== "string");
  const inner = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) ? allOf[0] : {};
  return Object.fromEntries([...kept, ...Object.entries(inner)].map(([key, it]) => [key, bare(it)]));
}

/** One comparison for each entry, so that a difference is short to read. */
function expectSame(mine: Json | undefined, recorded: Json | undefined): void {
  if (!isObject(mine) || !isObject(recorded)) throw new Error("not there");
  expect(Object.keys(mine)).toEqual(Object.keys(recorded).sort());
  for (const [name, value] of Object.entries(recorded)) {
    expect({ [name]: bare(mine[name] ?? null) }).toEqual({ [name]: bare(value) });
  }
}

describe.skipIf(!there)("OpenAPI v3, compared with a real server", () => {
  const openApi = builtIn();
  const index = there
    ? (JSON.parse(readFileSync(`${reference}v3-index.json`, "utf8")) as { paths: JsonObject })
    : undefined;

  it("has the same documents", () => {
    expect(Object.keys(openApi.indexV3.value().paths ?? {})).toEqual(Object.keys(index?.paths ?? {}));
  });

  const files = there ? readdirSync(`${reference}v3`) : [];
  it.each(files)("%s", (file) => {
    const path = Object.keys(index?.paths ?? {}).find((it) => `${it.replaceAll("/", "_")}.json` === file) ?? "";
    const { paths, components, ...rest } = openApi.documentV3(path)?.value() ?? {};
    const recorded = JSON.parse(readFileSync(`${reference}v3/${file}`, "utf8")) as JsonObject;
    expect(rest).toEqual({ openapi: recorded.openapi, info: recorded.info });
    expectSame(paths, recorded.paths);
    const [mine, theirs] = [components as JsonObject, recorded.components as JsonObject];
    expect(mine.securitySchemes).toEqual(theirs.securitySchemes);
    expectSame(mine.schemas ?? {}, theirs.schemas ?? {});
  });
});

/** Shared parameters are named after a hash of their content: written in place on both sides, marked as shared. */
function inPlace(value: Json, parameters: JsonObject): Json {
  if (Array.isArray(value)) return value.map((it) => inPlace(it, parameters));
  if (!isObject(value)) return value;
  const { $ref } = value;
  if (typeof $ref === "string" && $ref.startsWith("#/parameters/")) {
    return { shared: true, ...(parameters[$ref.slice("#/parameters/".length)] as JsonObject) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, inPlace(it, parameters)]));
}

it.skipIf(!there)("OpenAPI v2, compared with a real server", () => {
  const read = (bytes: Buffer) => {
    const { parameters, ...rest } = JSON.parse(bytes.toString()) as JsonObject;
    return inPlace(rest, parameters as JsonObject) as JsonObject;
  };
  const { paths, definitions, ...rest } = read(builtIn().documentV2.body);
  const recorded = read(gunzipSync(readFileSync(`${reference}v2.json.gz`)));
  expectSame(paths, recorded.paths);
  expectSame(definitions, recorded.definitions);
  const { paths: _, definitions: __, ...others } = recorded;
  expect(rest).toEqual(others);
});
