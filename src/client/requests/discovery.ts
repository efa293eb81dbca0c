/** The resources of a server, each in its preferred version. */
import type { Client } from "./client.ts";
import type { CallOptions } from "./options.ts";
import type { ResourceName } from "./resource.ts";

export interface DiscoveredResource extends ResourceName {
  readonly group: string;
  readonly verbs: readonly string[];
}

interface GroupList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      /** "Stale": its extension server did not answer. */
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: string;
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export interface Discovered {
  readonly resources: readonly DiscoveredResource[];
  /** Groups whose extension server did not answer: their resources are unknown. */
  readonly unknownGroups: ReadonlySet<string>;
}

export function discoverResources(client: Client, options: CallOptions = {}): Promise<Discovered> {
  return repeatedDiscovery(client)(options);
}

/**
 * For those that look again and again: what has not changed is not read again, and is the same value as before. A look
 * every 30 s was an eighth of a cluster's processor time on virtual time (`npm run bench -- testkit`, 2026-11-19).
 */
export function repeatedDiscovery(client: Client): (options?: CallOptions) => Promise<Discovered> {
  let last: { readonly texts: readonly string[]; readonly found: Discovered } | undefined;
  return async (options = {}) => {
    const texts: string[] = [];
    for (const path of ["/api", "/apis"]) texts.push(await client.text(path, { ...options, accept: ACCEPT }));
    if (last === undefined || last.texts.some((text, i) => text !== texts[i])) last = { texts, found: readAll(texts) };
    return last.found;
  };
}

function readAll(texts: readonly string[]): Discovered {
  const resources: DiscoveredResource[] = [];
  const unknownGroups = new Set<string>();
  for (const text of texts) {
    const list = JSON.parse(text) as GroupList;
    for (const { metadata, versions = [] } of list.items ?? []) {
      const group = metadata?.name ?? "";
      const known = new Set<string>();
      for (const { version, freshness, resources: found = [] } of versions) {
        if (freshness === "Stale") unknownGroups.add(group);
        const apiVersion = group === "" ? version : `${group}/${version}`;
        for (const { resource: plural, responseKind, scope, verbs = [] } of found) {
          // The preferred version comes first.
          if (known.has(plural)) continue;
          known.add(plural);
          const namespaced = scope === "Namespaced";
          resources.push({ group, apiVersion, kind: responseKind?.kind ?? "", plural, namespaced, verbs });
        }
      }
    }
  }
  return { resources, unknownGroups };
}
