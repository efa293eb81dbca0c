/**
 * Warnings about files of one volume whose paths overlap, so that one of them hides the other, and about projected
 * volumes that have a source without a type.
 */
import { goQuote } from "../../../machinery/json/go-text.ts";
import type { Volume, VolumeProjection } from "../../../types/core-v1.ts";

interface PlacedPath {
  readonly path: string;
  /** What the path comes from; empty where the volume has one source. */
  readonly source: string;
}

type Items = readonly { readonly path: string }[] | undefined;

export function pathWarnings({ name, configMap, secret, downwardAPI, projected }: Volume): readonly string[] {
  const volume = `volume ${goQuote(name)}`;
  return [
    ...overlaps(`${volume} (ConfigMap ${goQuote(configMap?.name ?? "")})`, pathsOf(configMap?.items, "")),
    ...overlaps(`${volume} (Secret ${goQuote(secret?.secretName ?? "")})`, pathsOf(secret?.items, "")),
    ...overlaps(`${volume} (DownwardAPI)`, pathsOf(downwardAPI?.items, "")),
    ...(projected?.sources?.some((source) => Object.keys(source).length === 0)
      ? [`${volume} (Projected) has no sources provided`]
      : []),
    ...overlaps(`${volume} (Projected)`, projected?.sources?.flatMap(projectedPaths) ?? []),
  ];
}

function projectedPaths(projection: VolumeProjection): readonly PlacedPath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  if (configMap?.items !== undefined) return pathsOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? "")}`);
  if (secret?.items !== undefined) return pathsOf(secret.items, `Secret ${goQuote(secret.name ?? "")}`);
  if (downwardAPI?.items !== undefined) return pathsOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken !== undefined) return pathsOf([serviceAccountToken], "ServiceAccountToken");
  if (clusterTrustBundle !== undefined) {
    const { name, signerName = "" } = clusterTrustBundle;
    return pathsOf([clusterTrustBundle], `ClusterTrustBundle ${goQuote(name ?? signerName)}`);
  }
  return [
    { path: podCertificate?.certificateChainPath ?? "", source: "PodCertificate chain" },
    { path: podCertificate?.keyPath ?? "", source: "PodCertificate key" },
    { path: podCertificate?.credentialBundlePath ?? "", source: "PodCertificate credential bundle" },
  ];
}

function pathsOf(items: Items, source: string): readonly PlacedPath[] {
  return (items ?? []).map(({ path }) => ({ path, source }));
}

/** An answer shows the first few of them: see the limits of `Warning` headers. */
const MAX_OVERLAPS = 1_000;

function overlaps(volume: string, paths: readonly PlacedPath[]): readonly string[] {
  const seen = new PathTree();
  const warnings: string[] = [];
  for (const { path, source } of paths) {
    const next = { path: path.replace(/(?<!\/)\/+$/, ""), source };
    if (next.path === "") continue;
    for (const other of seen.add(next, MAX_OVERLAPS - warnings.length))
      warnings.push(`${volume}: overlapping paths: ${pathText(next)} with ${pathText(other)}`);
    if (warnings.length >= MAX_OVERLAPS) break;
  }
  return warnings;
}

interface Folder {
  readonly parts: Map<string, Folder>;
  readonly here: { readonly index: number; readonly place: PlacedPath }[];
}

class PathTree {
  readonly #root: Folder = { parts: new Map(), here: [] };
  #count = 0;

  /** Adds a path. Gives those that are in it, or that it is in, in the order in which they were added. */
  add(place: PlacedPath, most: number): readonly PlacedPath[] {
    const found: Folder["here"] = [];
    let folder = this.#root;
    for (const part of place.path.split("/")) {
      let next = folder.parts.get(part);
      if (next === undefined) {
        next = { parts: new Map(), here: [] };
        folder.parts.set(part, next);
      }
      folder = next;
      if (found.length < most) for (const one of folder.here) found.push(one);
    }
    const below = [...folder.parts.values()];
    for (let inner = below.pop(); inner !== undefined && found.length < most; inner = below.pop()) {
      for (const one of inner.here) found.push(one);
      for (const part of inner.parts.values()) below.push(part);
    }
    folder.here.push({ index: this.#count++, place });
    return found
      .sort((a, b) => a.index - b.index)
      .slice(0, most)
      .map((one) => one.place);
  }
}

function pathText({ path, source }: PlacedPath): string {
  return source === "" ? goQuote(path) : `${goQuote(path)} (${source})`;
}
