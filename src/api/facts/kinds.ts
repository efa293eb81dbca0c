/** Facts about the kinds of the API, served by default or on request: names, scope, verbs, subresources, types. */
import type { Verb } from "../machinery/kind.ts";
import { kindsTable } from "./kinds-table.ts";
import { optionalKindsTable } from "./optional-kinds-table.ts";

export interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly Verb[];
  readonly subresources: readonly SubresourceFacts[];
  /** The full name of the type, for typeSchema. */
  readonly typeName: string;
  /** The version that Kubernetes stores; absent where nothing is stored. */
  readonly storage?: StorageFacts | undefined;
  /** The feature gate that the kind's storage asks for. */
  readonly gate?: string | undefined;
  /** When this version of the kind came and goes. Absent for kinds that Kubernetes gives no such promise. */
  readonly lifecycle?: Lifecycle | undefined;
}

/** Versions of Kubernetes, such as 1.36. */
export interface Lifecycle {
  readonly introduced: string;
  readonly deprecated: string;
  readonly removed: string;
  /** The kind to use in its place, with its apiVersion before it. */
  readonly replacement?: string | undefined;
}

export interface SubresourceFacts {
  readonly name: string;
  /** The kind of the subresource's body: Scale, Eviction, or the kind itself. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly typeName: string;
}

export interface StorageFacts {
  readonly group: string;
  readonly version: string;
}

const ALL_VERBS = "create,delete,deletecollection,get,list,patch,update,watch";
const SUBRESOURCE_VERBS = "get,patch,update";

/** The kinds that a default server serves, in the order of discovery. */
export function kinds(): readonly KindFacts[] {
  return readTable(kindsTable);
}

/** The kinds that a server serves only where it is asked to, in the order of discovery. */
export function optionalKinds(): readonly KindFacts[] {
  return readTable(optionalKindsTable);
}

function readTable(table: string): readonly KindFacts[] {
  const sections = table.trim().split("\n\n");
  const packages = new Map(sections.map((section) => splitAt(section.slice(0, section.indexOf("\n")), " ")));
  return sections.flatMap((section) => readSection(section, packages));
}

/** The hash in discovery that changes with the stored version: eight bytes of a SHA-256, which the caller supplies. */
export function storageVersionHash(
  { group, version }: StorageFacts,
  kind: string,
  sha256: (text: string) => Uint8Array,
): string {
  return btoa(String.fromCharCode(...sha256(`${group}/${version}/${kind}`).subarray(0, 8)));
}

function readSection(section: string, packages: ReadonlyMap<string, string>): KindFacts[] {
  const [head = "", ...lines] = section.split("\n");
  const [apiVersion] = splitAt(head, " ");
  const found: { facts: Omit<KindFacts, "subresources">; subresources: SubresourceFacts[] }[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (!line.startsWith(" ")) found.push({ facts: readKind(line, apiVersion, packages), subresources: [] });
    else if (last !== undefined)
      last.subresources.push(readSubresource(line, `${apiVersion}/${last.facts.kind}`, packages));
  }
  return found.map(({ facts, subresources }) => ({ ...facts, subresources }));
}

function readKind(
  line: string,
  apiVersion: string,
  packages: ReadonlyMap<string, string>,
): Omit<KindFacts, "subresources"> {
  const [kind = "", plural = "", scope, verbs = "", ...words] = line.split(" ");
  const flag = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const storage = words.includes("unstored") ? undefined : groupVersion(flag("stored") ?? apiVersion);
  return {
    ...groupVersion(apiVersion),
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: flag("short")?.split(",") ?? [],
    categories: flag("category")?.split(",") ?? [],
    scope: scope === "namespaced" ? "Namespaced" : "Cluster",
    verbs: (verbs === "all" ? ALL_VERBS : verbs).split(",") as Verb[],
    typeName: `${packages.get(apiVersion)}.${kind}`,
    storage,
    gate: flag("gate"),
    lifecycle: readLifecycle(flag),
  };
}

function readLifecycle(flag: (name: string) => string | undefined): Lifecycle | undefined {
  const [introduced, deprecated, removed] = [flag("since"), flag("deprecated"), flag("removed")];
  if (introduced === undefined || deprecated === undefined || removed === undefined) return undefined;
  return { introduced, deprecated, removed, replacement: flag("use") };
}

function readSubresource(line: string, owner: string, packages: ReadonlyMap<string, string>): SubresourceFacts {
  const [name = "", verbs = SUBRESOURCE_VERBS, speaks = owner] = line.trim().split(" ");
  const home = speaks.includes("/") ? speaks : `${owner.slice(0, owner.lastIndexOf("/"))}/${speaks}`;
  const apiVersion = home.slice(0, home.lastIndexOf("/"));
  const kind = home.slice(home.lastIndexOf("/") + 1);
  return {
    name,
    ...groupVersion(apiVersion),
    kind,
    verbs: verbs.split(",") as Verb[],
    typeName: `${packages.get(apiVersion)}.${kind}`,
  };
}

function groupVersion(apiVersion: string): StorageFacts {
  const slash = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + 1)];
}
