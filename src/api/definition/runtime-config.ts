/**
 * `--runtime-config`: which versions and resources of the API are served.
 *
 *     api/all ──► api/ga ──► api/beta ──► api/alpha ──► <group>/<version> ──► <group>/<version>/<resource>
 *
 * 1. Later keys of this list win over earlier ones, wherever they stand in the flag.
 * 2. Every fault has Kubernetes' words, as a RuntimeConfigError. `Validate` of Kubernetes looks at all keys first.
 */
import { type GroupVersion, KNOWN_VERSIONS } from "../facts/known-versions.ts";
import { goQuote } from "../machinery/json/go-text.ts";

/** Keys and values as they were given. A key without a value has an empty one. */
export type RuntimeConfig = ReadonlyMap<string, string>;

export class RuntimeConfigError extends Error {
  override readonly name = "RuntimeConfigError";
}

/** A resource by its group, version and plural name. */
export interface ServedResource extends GroupVersion {
  readonly plural: string;
}

const LEVELS: ReadonlyMap<string, RegExp> = new Map([
  ["api/all", /^/],
  ["api/ga", /^v\d+$/],
  ["api/beta", /^v\d+beta\d+$/],
  ["api/alpha", /^v\d+alpha\d+$/],
]);
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["", "1", "t", "T", "TRUE", "true", "True"].map((text): [string, boolean] => [text, true]),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text): [string, boolean] => [text, false]),
]);

/** Reads a value of the flag: `key=value` pairs with commas between. A later pair replaces an earlier one. */
export function parseRuntimeConfig(text: string): RuntimeConfig {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return new Map(
    pairs.map((pair) => {
      const at = pair.includes("=") ? pair.indexOf("=") : pair.length;
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

/** Whether a resource is served that is, or is not, served by default. Throws RuntimeConfigError. */
export function resourceSelection(config: RuntimeConfig): (resource: ServedResource, byDefault: boolean) => boolean {
  checkKeys(config);
  const levels = [...LEVELS].flatMap(([key, pattern]) => {
    const value = config.get(key);
    if (value === undefined) return [];
    if (value !== "true" && value !== "false") throw new RuntimeConfigError(`invalid value ${key}=${value}`);
    return [{ pattern, on: value === "true" }];
  });
  const named = namedKeys(config);
  return ({ group, version, plural }, byDefault) => {
    const level = levels.findLast(({ pattern }) => pattern.test(version))?.on ?? byDefault;
    const home = `${group}/${version}`;
    return named.get(`${home}/${plural}`) ?? named.get(home) ?? level;
  };
}

/** What Kubernetes validates before it looks at values. */
function checkKeys(config: RuntimeConfig): void {
  if (config.size === 1 && config.get("api/all") === "false")
    throw new RuntimeConfigError("invalid runtime-config with only api/all=false");
  const unknown = new Set<string>();
  for (const key of config.keys()) {
    if (LEVELS.has(key)) continue;
    const { group, version, parts } = keyParts(key);
    if (parts !== 2 && parts !== 3) throw new RuntimeConfigError(`runtime-config invalid key ${key}`);
    if (!KNOWN_VERSIONS.some((known) => known.group === group)) unknown.add(nameOf(group, version));
  }
  if (unknown.size > 0) throw new RuntimeConfigError(`unknown api groups ${[...unknown].sort().join(",")}`);
}

/** `<group>/<version>` and `<group>/<version>/<resource>`, and whether they are on. */
function namedKeys(config: RuntimeConfig): ReadonlyMap<string, boolean> {
  const named = new Map<string, boolean>();
  for (const [key, value] of config) {
    if (LEVELS.has(key)) continue;
    const { group, version, resource } = keyParts(key);
    if (!KNOWN_VERSIONS.some((known) => known.group === group && known.version === version))
      throw new RuntimeConfigError(`group version ${nameOf(group, version)} that has not been registered`);
    const on = BOOLEANS.get(value);
    if (on === undefined) {
      const why = `strconv.ParseBool: parsing ${goQuote(value)}: invalid syntax`;
      throw new RuntimeConfigError(`invalid value of ${key}: ${value}, err: ${why}`);
    }
    if (resource.toLowerCase() !== resource) {
      const rule = "group/version/resource and resource is always lowercase plural";
      throw new RuntimeConfigError(`invalid key ${key}: ${rule}, not ${goQuote(resource)}`);
    }
    named.set(key, on);
  }
  return named;
}

function keyParts(key: string): GroupVersion & { readonly resource: string; readonly parts: number } {
  const parts = key.split("/");
  const [group = "", version = "", resource = ""] = parts;
  return { group, version, resource, parts: parts.length };
}

function nameOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}
