/**
 * The software bill of materials: CycloneDX 1.6 as JSON, from the lock file alone.
 *
 * 1. The same lock file and version give the same bytes: everything is sorted, the serial number is a digest of the
 *    contents, and there is no time but that of SOURCE_DATE_EPOCH.
 * 2. A package that is locked at several places is one component that names its places.
 * 3. Scopes: `required` and `optional` reach users; `excluded` is for building and testing.
 */
import { createHash } from "node:crypto";
import type { LockedPackage, LockFile } from "./lock-file.ts";

export interface SbomInput {
  readonly lock: LockFile;
  /** Places of packages that reach users. */
  readonly shipped: ReadonlySet<string>;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** SOURCE_DATE_EPOCH: seconds since 1970. */
  readonly sourceDateEpoch?: string | undefined;
}

export interface Component {
  readonly type: string;
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly scope: "required" | "optional" | "excluded";
  readonly hashes: readonly { readonly alg: "SHA-512"; readonly content: string }[];
  readonly licenses: readonly Licence[];
  readonly purl: string;
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

type Licence = { readonly license: { readonly id: string } } | { readonly expression: string };

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

export function sbomOf(input: SbomInput): Sbom {
  const { lock, shipped, name, version, description, license } = input;
  const root = purl(name, version);
  const byPurl = Map.groupBy(lock.packages, purlOf);
  const purls = new Map(lock.packages.map((each) => [each.path, purlOf(each)]));
  const refs = (places: readonly string[]) =>
    [...new Set(places.map((place) => purls.get(place)).filter((ref) => ref !== undefined))].sort();
  const sorted = [...byPurl].sort(([a], [b]) => (a < b ? -1 : 1));
  const contents = {
    metadata: {
      ...(input.sourceDateEpoch !== undefined && { timestamp: timeOf(input.sourceDateEpoch) }),
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": root,
        name,
        version,
        description,
        licenses: licences(license),
        purl: root,
      },
    },
    components: sorted.map(([ref, same]) => componentOf(ref, same, shipped)),
    dependencies: [
      { ref: root, dependsOn: refs(lock.roots) },
      ...sorted.map(([ref, same]) => ({ ref, dependsOn: refs(same.flatMap(({ dependsOn }) => dependsOn)) })),
    ],
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(contents))}`,
    version: 1,
    ...contents,
  };
}

function componentOf(ref: string, same: readonly LockedPackage[], shipped: ReadonlySet<string>): Component {
  const [first] = same;
  if (first === undefined) throw new Error(`${ref} has no package.`);
  const reaching = same.filter(({ path }) => shipped.has(path));
  const [, group, name = first.name] = /^(@[^/]+)\/(.+)$/.exec(first.name) ?? [];
  const hashes = [...new Set(same.map(({ integrity = "" }) => integrity))].map((integrity) => ({
    alg: "SHA-512" as const,
    content: Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex"),
  }));
  return {
    type: "library",
    "bom-ref": ref,
    ...(group !== undefined && { group }),
    name,
    version: first.version,
    scope:
      reaching.length === 0 ? "excluded" : reaching.every(({ isOptional }) => isOptional) ? "optional" : "required",
    hashes,
    licenses: licences(first.license ?? ""),
    purl: ref,
    properties: same.map(({ path }) => ({ name: "cdx:npm:package:path", value: path })),
  };
}

function licences(expression: string): Licence[] {
  return [/^[\w.+-]+$/.test(expression) ? { license: { id: expression } } : { expression }];
}

function purlOf({ name, version }: LockedPackage): string {
  return purl(name, version);
}

/** https://github.com/package-url/purl-spec: the @ of a scope is escaped. */
function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/** Version 8 of RFC 9562: bits of one's own, here of a digest. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function timeOf(epochSeconds: string): string {
  if (!/^\d{1,11}$/.test(epochSeconds))
    throw new Error(`SOURCE_DATE_EPOCH is not a number of seconds: ${epochSeconds}`);
  return new Date(Number(epochSeconds) * 1000).toISOString();
}
