/**
 * The OpenAPI of an extension server.
 *
 * 1. Of version 3 only the URL in the index is taken: requests for the document itself are proxied.
 * 2. Version 2 is one document for everything: the paths of the group version, and what these refer to, are taken,
 *    within bounds.
 */
import { isObject, type Json, type JsonObject, parseJson } from "#api";
import type { RemoteDocuments, RemoteFragment } from "../openapi/index.ts";
import { type ApiService, basePathOf } from "./api-service.ts";
import type { Reached } from "./backends.ts";
import { fetchDocument, type Limits } from "./fetch-document.ts";
import type { Ask } from "./remote-discovery.ts";

const INDEX_LIMITS: Limits = { timeoutMs: 5_000, maxBytes: 1024 * 1024 };
const V2_LIMITS: Limits = { timeoutMs: 10_000, maxBytes: 8 * 1024 * 1024 };
const V3 = "/openapi/v3";
const MAX_DEPTH = 100;

/** What is known, with its ETag. */
export interface KnownOpenApi {
  readonly documents: RemoteDocuments;
  readonly etag: string | undefined;
}

/** A document that it does not serve is left out. Throws an Error if one is invalid. */
export async function remoteOpenApi(
  name: string,
  service: ApiService,
  known: KnownOpenApi | undefined,
  ask: Ask,
): Promise<KnownOpenApi> {
  const reached = ask.backends.reach(name, service);
  const url = await placeInIndex(name, reached, ask);
  const { fragment, etag } = await fragmentOf(name, reached, known, ask);
  const documents = { url, fragment };
  return { documents, etag };
}

async function placeInIndex(name: string, reached: Reached, { clock, signal }: Ask): Promise<string | undefined> {
  const question = { path: V3, accept: "application/json" };
  const { status, body } = await fetchDocument(reached, question, INDEX_LIMITS, clock, signal);
  if (status !== 200) return undefined;
  const index = parseJson(body.toString("utf8"));
  const path = basePathOf(name).slice(1);
  const place = at(at(index, "paths"), path);
  if (place === undefined) return undefined;
  const url = at(place, "serverRelativeURL");
  // The index may only contain paths of this server.
  const own = `${V3}/${path}`;
  return typeof url === "string" && (url === own || url.startsWith(`${own}?`)) ? url : own;
}

async function fragmentOf(
  name: string,
  reached: Reached,
  known: KnownOpenApi | undefined,
  { clock, signal }: Ask,
): Promise<{ fragment?: RemoteFragment | undefined; etag: string | undefined }> {
  const question = { path: "/openapi/v2", accept: "application/json", etag: known?.etag };
  const { status, headers, body } = await fetchDocument(reached, question, V2_LIMITS, clock, signal);
  if (status === 304 && known !== undefined) return { fragment: known.documents.fragment, etag: known.etag };
  if (status !== 200) return { etag: undefined };
  const etag = typeof headers.etag === "string" ? headers.etag : undefined;
  return { fragment: fragmentIn(parseJson(body.toString("utf8")), basePathOf(name)), etag };
}

/** The part of a v2 document for the paths below `base`. Throws if it is nested deeper than any schema may be. */
export function fragmentIn(document: Json, base: string): RemoteFragment {
  const paths = Object.entries(objectAt(document, "paths")).filter(
    ([path, item]) => (path === base || path.startsWith(`${base}/`)) && isObject(item),
  );
  const types = new Map<string, Json>();
  const parameters = new Map<string, Json>();
  const open: Json[] = paths.map(([, item]) => item);
  const sources = [
    { prefix: "#/definitions/", from: objectAt(document, "definitions"), into: types },
    { prefix: "#/parameters/", from: objectAt(document, "parameters"), into: parameters },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const reference of references(next)) {
      for (const { prefix, from, into } of sources) {
        const name = reference.slice(prefix.length);
        if (!reference.startsWith(prefix) || into.has(name)) continue;
        const found = Object.hasOwn(from, name) ? (from[name] ?? {}) : {};
        into.set(name, found);
        open.push(found);
      }
    }
  }
  return { paths: new Map(paths), types, parameters };
}

/** All values of `$ref`. Iterative, because the extension server decides how deep the document is nested. */
function* references(value: Json): Generator<string> {
  const open: { readonly value: Json; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const depth = next.depth + 1;
    if (depth > MAX_DEPTH) throw new Error("its OpenAPI is nested too deeply");
    if (isObject(next.value) && typeof next.value.$ref === "string") yield next.value.$ref;
    if (typeof next.value === "object" && next.value !== null) {
      for (const item of Object.values(next.value)) open.push({ value: item, depth });
    }
  }
}

function at(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function objectAt(value: Json, key: string): JsonObject {
  const found = at(value, key);
  return isObject(found) ? found : {};
}
