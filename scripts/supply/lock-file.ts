/**
 * The packages of a package-lock.json (version 3), and how they depend on each other.
 *
 * 1. Only what the lock file says counts: nothing is read from node_modules, which differs from machine to machine.
 */
export interface LockedPackage {
  /** Its place in the tree, such as `node_modules/a/node_modules/b`. */
  readonly path: string;
  /** Its own name, also where it is installed under an alias. */
  readonly name: string;
  readonly version: string;
  readonly integrity: string | undefined;
  /** Where npm found it. */
  readonly resolved: string | undefined;
  readonly license: string | undefined;
  /** Needed neither by the installed k8ts nor by its optional parts. */
  readonly isDev: boolean;
  readonly isOptional: boolean;
  readonly hasInstallScript: boolean;
  /** The places of the packages that it depends on; those that are not locked are left out. */
  readonly dependsOn: readonly string[];
}

export interface LockFile {
  /** The direct dependencies, by group (`dependencies`, `devDependencies`, …). */
  readonly direct: Readonly<Record<DirectGroup, Readonly<Record<string, string>>>>;
  /** The places of the direct dependencies. */
  readonly roots: readonly string[];
  readonly packages: readonly LockedPackage[];
}

export const DIRECT_GROUPS = ["dependencies", "optionalDependencies", "devDependencies"] as const;
export type DirectGroup = (typeof DIRECT_GROUPS)[number];

const GROUPS = [...DIRECT_GROUPS, "peerDependencies"] as const;
const PLACE = "node_modules/";

type Entry = { readonly [field: string]: unknown };

/** Throws Error with one sentence if the text is no lock file of version 3. */
export function parseLockFile(text: string): LockFile {
  const document: unknown = JSON.parse(text);
  const entries = record(record(document).packages) as Readonly<Record<string, Entry>>;
  const root = entries[""];
  if (record(document).lockfileVersion !== 3 || root === undefined)
    throw new Error("This is not a package-lock.json of version 3.");
  const places = new Set(Object.keys(entries));
  return {
    direct: {
      dependencies: versions(root.dependencies),
      optionalDependencies: versions(root.optionalDependencies),
      devDependencies: versions(root.devDependencies),
    },
    roots: dependenciesOf("", root, places),
    packages: Object.entries(entries)
      .filter(([path]) => path !== "")
      .map(([path, entry]) => packageOf(path, entry, places)),
  };
}

function packageOf(path: string, entry: Entry, places: ReadonlySet<string>): LockedPackage {
  return {
    path,
    name: text(entry.name) ?? path.slice(path.lastIndexOf(PLACE) + PLACE.length),
    version: text(entry.version) ?? "",
    integrity: text(entry.integrity),
    resolved: text(entry.resolved),
    license: text(entry.license),
    isDev: entry.dev === true,
    isOptional: entry.optional === true || entry.devOptional === true,
    hasInstallScript: entry.hasInstallScript === true,
    dependsOn: dependenciesOf(path, entry, places),
  };
}

function dependenciesOf(path: string, entry: Entry, places: ReadonlySet<string>): string[] {
  const names = GROUPS.flatMap((group) => (group in entry ? Object.keys(record(entry[group])) : []));
  const found = names.map((name) => placeOf(name, path, places)).filter((place) => place !== undefined);
  return [...new Set(found)].sort();
}

/** As Node looks for a module: in the package's own folder, then in each folder above. */
function placeOf(name: string, from: string, places: ReadonlySet<string>): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(PLACE) - 1))) {
    const place = `${folder === "" ? "" : `${folder}/`}${PLACE}${name}`;
    if (places.has(place)) return place;
    if (folder === "") return undefined;
  }
}

function versions(value: unknown): Readonly<Record<string, string>> {
  return value === undefined ? {} : (record(value) as Readonly<Record<string, string>>);
}

function record(value: unknown): Entry {
  return typeof value === "object" && value !== null ? (value as Entry) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
