/** Discovery: every resource of the server; those that can be listed in their preferred version. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
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
        readonly subresources?: readonly { readonly subresource: string; readonly verbs?: readonly string[] }[];
      }[];
    }[];
  }[];
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** A resource of any verb, or a subresource, as rules of RBAC name it: `pods/log`, `deployments.apps/scale`. */
export interface Accessible {
  readonly name: string;
  readonly verbs: readonly string[];
}

export interface Discovered {
  /** Those that can be listed. */
  readonly resources: readonly Resource[];
  readonly accessible: readonly Accessible[];
}

export async function discover(): Promise<Discovered> {
  const answers = await Promise.all(["/api", "/apis"].map((path) => ask<Discovery>(path, { accept: AGGREGATED })));
  return { resources: resourcesOf(answers), accessible: accessibleOf(answers) };
}

export function resourcesOf(answers: readonly Discovery[]): Resource[] {
  const found = new Map<string, Resource>();
  for (const { group, version, resource: plural, scope, verbs = [], responseKind } of served(answers)) {
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
  return [...found.values()].sort((a, b) => compare(a.plural, b.plural) || compare(a.group, b.group));
}

export function accessibleOf(answers: readonly Discovery[]): Accessible[] {
  const found = new Map<string, readonly string[]>();
  for (const { group, resource, verbs = [], subresources = [] } of served(answers)) {
    const inGroup = group === "" ? "" : `.${group}`;
    for (const [name, own] of [
      [resource + inGroup, verbs] as const,
      ...subresources.map((each) => [`${resource}${inGroup}/${each.subresource}`, each.verbs ?? []] as const),
    ])
      found.set(name, [...new Set([...(found.get(name) ?? []), ...own])]);
  }
  return [...found].map(([name, verbs]) => ({ name, verbs })).sort((a, b) => compare(a.name, b.name));
}

function served(answers: readonly Discovery[]) {
  return answers
    .flatMap(({ items = [] }) => items)
    .flatMap(({ metadata, versions = [] }) =>
      versions.flatMap(({ version, resources = [] }) =>
        resources.map((each) => ({ ...each, group: metadata?.name ?? "", version })),
      ),
    );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Undefined until the server has answered; it is asked once for each view. */
export function useDiscovered(onError: (error: unknown) => void = () => undefined): Discovered | undefined {
  const found = useSignal<Discovered | undefined>(undefined);
  useEffect(() => {
    discover().then((each) => {
      found.value = each;
    }, onError);
  }, [found]);
  return found.value;
}
