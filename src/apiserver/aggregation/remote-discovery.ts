/**
 * The discovery of an extension server: in the aggregated form, or in the older one.
 *
 * 1. Its documents are decoded by their type: whatever it sends, clients get the form that they expect.
 */
import { decode, isObject, type Json, type JsonObject, parseJson, typeSchema } from "#api";
import type { Clock } from "#base";
import { type ApiService, basePathOf, groupVersionOf } from "./api-service.ts";
import type { Backends, Reached } from "./backends.ts";
import { type Fetched, fetchDocument, type Limits } from "./fetch-document.ts";

const LIMITS: Limits = { timeoutMs: 5_000, maxBytes: 4 * 1024 * 1024 };
const AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const LIST = "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList";
const OLDER_LIST = "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList";

export interface Ask {
  readonly backends: Backends;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Each an APIResourceDiscovery. Throws an Error that says what is wrong. */
export async function remoteResources(name: string, service: ApiService, ask: Ask): Promise<readonly JsonObject[]> {
  const reached = ask.backends.reach(name, service);
  const accept = `application/json;${AGGREGATED}`;
  const answer = await fetchDocument(reached, { path: "/apis", accept }, LIMITS, ask.clock, ask.signal);
  if (answer.status === 503) throw new Error(`its server returned non-success response code: ${answer.status}`);
  if (answer.status !== 200 || !isAggregated(answer)) return olderResources(name, reached, ask);
  const { group, version } = groupVersionOf(name);
  const list = read(answer, LIST) as unknown as GroupList;
  const found = list.items?.find(({ metadata }) => metadata?.name === group)?.versions;
  return (found?.find((one) => one.version === version)?.resources ?? []).map(withResponseKinds);
}

interface GroupList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly { readonly version?: string; readonly resources?: readonly ResourceDiscovery[] }[];
  }[];
}

interface ResourceDiscovery extends JsonObject {
  readonly subresources?: ResourceDiscovery[];
}

function isAggregated({ headers }: Fetched): boolean {
  const parts = String(headers["content-type"] ?? "")
    .split(";")
    .map((part) => part.trim());
  return AGGREGATED.split(";").every((part) => parts.includes(part));
}

/** Some client versions require it. */
function withResponseKinds({ subresources, ...resource }: ResourceDiscovery): JsonObject {
  const kind: Json = resource.responseKind ?? { group: "", version: "", kind: "" };
  const below = subresources?.map(withResponseKinds);
  return { ...resource, responseKind: kind, ...(below !== undefined && { subresources: below }) };
}

async function olderResources(name: string, reached: Reached, ask: Ask): Promise<readonly JsonObject[]> {
  const path = basePathOf(name);
  const question = { path, accept: "application/json" };
  const answer = await fetchDocument(reached, question, LIMITS, ask.clock, ask.signal);
  if (answer.status !== 200) throw new Error(`failed to download legacy discovery for ${path}: ${answer.status}`);
  const { resources = [] } = read(answer, OLDER_LIST) as unknown as { resources?: readonly OlderResource[] };
  return asDiscovery(resources);
}

interface OlderResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly verbs?: string[];
  readonly shortNames?: string[];
  readonly categories?: string[];
}

/** Moves subresources below their resources. One without a resource gets a resource. */
export function asDiscovery(resources: readonly OlderResource[]): readonly JsonObject[] {
  const shown = new Map<string, { resource: JsonObject; below: JsonObject[] }>();
  for (const resource of resources) {
    if (resource.name.includes("/")) continue;
    const { name, singularName = "", verbs = [], shortNames = [], categories = [] } = resource;
    shown.set(name, {
      resource: {
        resource: name,
        responseKind: responseKind(resource),
        scope: scopeOf(resource),
        singularResource: singularName,
        verbs,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      below: [],
    });
  }
  for (const sub of resources) {
    const at = sub.name.indexOf("/");
    if (at === -1) continue;
    const parent = sub.name.slice(0, at);
    const home = shown.get(parent) ?? { resource: orphanage(parent, sub), below: [] };
    shown.set(parent, home);
    home.below.push({
      subresource: sub.name.slice(at + 1),
      responseKind: responseKind(sub),
      verbs: sub.verbs ?? [],
    });
  }
  return [...shown.values()].map(({ resource, below }) =>
    below.length > 0 ? { ...resource, subresources: below } : resource,
  );
}

function orphanage(name: string, sub: OlderResource): JsonObject {
  return {
    resource: name,
    responseKind: { group: "", version: "", kind: "" },
    scope: scopeOf(sub),
    singularResource: "",
    verbs: [],
  };
}

function scopeOf({ namespaced = false }: OlderResource): string {
  return namespaced ? "Namespaced" : "Cluster";
}

function responseKind({ group = "", version = "", kind = "" }: OlderResource): JsonObject {
  return { group, version, kind };
}

function read({ body }: Fetched, typeName: string): JsonObject {
  const value = parseJson(body.toString("utf8"));
  if (!isObject(value)) throw new Error("it is not an object");
  return decode(typeSchema(typeName), value).value as JsonObject;
}
