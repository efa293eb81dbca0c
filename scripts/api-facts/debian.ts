/**
 * Fetches source packages of Kubernetes' Go libraries from the Debian archive that this machine already uses.
 *
 * 1. The mirror comes from apt's own sources; no host is named here.
 * 2. What is unpacked has the checksum that the archive's index gives for it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

/** New Go libraries arrive in unstable first. */
const SUITES = ["sid", "forky"];

interface IndexEntry {
  readonly version: string;
  readonly path: string;
  readonly sha256: string;
}

export interface Fetched {
  readonly name: string;
  readonly version: string;
}

/**
 * Unpacks the packages into `directory`; those that the archive does not have in this release are named in `missing`.
 */
export async function fetchPackages(
  names: readonly string[],
  release: string,
  directory: string,
): Promise<{ readonly fetched: readonly Fetched[]; readonly missing: readonly string[] }> {
  const { mirror, index } = await archive(names, release);
  const fetched: Fetched[] = [];
  for (const name of names) {
    const entry = index.get(name);
    if (entry === undefined) continue;
    const bytes = await download(`${mirror}/${entry.path}`);
    if (bytes === undefined) throw new Error(`${entry.path} is in the archive's index but not in the archive`);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (sha256 !== entry.sha256) throw new Error(`${entry.path} has another checksum than the archive's index says`);
    const file = join(directory, basename(entry.path));
    await writeFile(file, bytes);
    execFileSync("dpkg", ["-x", file, directory]);
    fetched.push({ name, version: entry.version });
  }
  return { fetched, missing: names.filter((name) => !index.has(name)) };
}

export interface SourceArchive {
  /** Behind the mirror's address. */
  readonly path: string;
  readonly sha256: string;
}

/** One file out of an archive of sources; `name` may hold wildcards. */
export async function fetchSourceFile({ path, sha256 }: SourceArchive, name: string): Promise<string> {
  for (const mirror of await mirrors()) {
    const bytes = await download(`${mirror}/${path}`);
    if (bytes === undefined) continue;
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw new Error(`${path} has another checksum than it should`);
    return execFileSync("tar", ["-xzO", "--wildcards", name], { input: bytes, encoding: "utf8" });
  }
  throw new Error(`no mirror in apt's sources has ${path}`);
}

/** The first mirror and suite with the most of the wanted packages. */
async function archive(
  names: readonly string[],
  release: string,
): Promise<{ mirror: string; index: ReadonlyMap<string, IndexEntry> }> {
  let best: { mirror: string; index: ReadonlyMap<string, IndexEntry> } | undefined;
  for (const mirror of await mirrors()) {
    for (const suite of SUITES) {
      const packed = await download(`${mirror}/dists/${suite}/main/binary-all/Packages.gz`);
      if (packed === undefined) continue;
      const index = readIndex(gunzipSync(packed).toString(), names, release);
      if (index.size > (best?.index.size ?? 0)) best = { mirror, index };
    }
    if (best !== undefined) return best;
  }
  throw new Error(`no mirror in apt's sources has ${names.join(", ")} ${release} in ${SUITES.join(" or ")}`);
}

function readIndex(text: string, names: readonly string[], release: string): Map<string, IndexEntry> {
  const wanted = new Set(names);
  const index = new Map<string, IndexEntry>();
  for (const stanza of text.split("\n\n")) {
    const value = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(stanza)?.[1] ?? "";
    const name = value("Package");
    const version = value("Version");
    if (!wanted.has(name) || !version.startsWith(`${release}.`)) continue;
    index.set(name, { version, path: value("Filename"), sha256: value("SHA256") });
  }
  return index;
}

/** The addresses in apt's sources, in both of its formats. */
async function mirrors(): Promise<string[]> {
  const folder = "/etc/apt/sources.list.d";
  const files = (await readdir(folder)).sort().map((name) => join(folder, name));
  const found = new Set<string>();
  for (const file of ["/etc/apt/sources.list", ...files]) {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    for (const line of text.split("\n")) {
      const uris = /^URIs:(.*)$/.exec(line)?.[1] ?? /^deb (?:\[.*?\] )?(\S+)/.exec(line)?.[1] ?? "";
      for (const uri of uris.split(/\s+/)) if (/^https?:/.test(uri)) found.add(uri.replace(/\/$/, ""));
    }
  }
  return [...found];
}

async function download(address: string): Promise<Buffer | undefined> {
  const response = await fetch(address);
  if (response.status === 404 || response.status === 403) return undefined;
  if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
  return Buffer.from(await response.arrayBuffer());
}
