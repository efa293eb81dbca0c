/** Discovery: every resource that can be listed, in its preferred version. */
import { ask } from "./request.ts";
import type { Resource } from "./resources.ts";

interface Discovery {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly scope: string;
        readonly verbs?: readonly string[];
        readonly responseKind?: { readonly kind: string };
      }[];
    }[];
  }[];
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export async function discover(): Promise<Resource[]> {
  const answers = await Promise.all(["/api", "/apis"].map((path) => ask<Discovery>(path, { accept: AGGREGATED })));
  return resourcesOf(answers);
}

export function resourcesOf(answers: readonly Discovery[]): Resource[] {
  const found = new Map<string, Resource>();
  for (const { metadata, versions = [] } of answers.flatMap(({ items = [] }) => items)) {
    const group = metadata?.name ?? "";
    for (const { version, resources = [] } of versions) {
      for (const { resource: plural, scope, verbs = [], responseKind } of resources) {
        const key = `${group}/${plural}`;
        if (!verbs.includes("list") || found.has(key)) continue;
        found.set(key, {
          group,
          version,
          plural,
          kind: responseKind?.kind ?? plural,
          namespaced: scope === "Namespaced",
        });
      }
    }
  }
  return [...found.values()].sort((a, b) => compare(a.plural, b.plural) || compare(a.group, b.group));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
