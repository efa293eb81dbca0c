/**
 * Which credentials are for an image: those whose location matches it, the most specific first, as Kubernetes' keyring.
 *
 * 1. A location is a host with a port and a path: `*`, `?` and `[…]` match within one label of the host, the path is a
 *    prefix, and the port is the same.
 * 2. Of several keyrings each gives its own: those of the Pod's Secrets before those of the node.
 */
import { createHash } from "node:crypto";
import type { ImageAuth } from "../runtime/runtime.ts";
import { parseImageName } from "./image-name.ts";

/** Whose credentials they are: an image that was pulled with them is for Pods that have them, too. */
export type CredentialSource =
  | { readonly kind: "node" }
  | { readonly kind: "secret"; readonly uid: string; readonly namespace: string; readonly name: string }
  | { readonly kind: "serviceAccount"; readonly uid: string; readonly namespace: string; readonly name: string };

export interface Credential {
  readonly auth: ImageAuth;
  readonly source: CredentialSource;
}

export interface KeyringEntry extends Credential {
  readonly location: string;
}

const DEFAULT_REGISTRY = "index.docker.io";

/** `repository`: with its registry, as `docker.io/library/busybox`. */
export function lookup(entries: readonly KeyringEntry[], repository: string): readonly Credential[] {
  const keyed = entries.map((entry) => ({ entry, key: keyOf(entry.location) }));
  const found = keyed.filter(({ key }) => locationMatches(key, repository));
  const chosen =
    found.length === 0 && repository.startsWith("docker.io/")
      ? keyed.filter(({ key }) => key === DEFAULT_REGISTRY)
      : found.sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0));
  return chosen.map(({ entry: { auth, source } }) => ({ auth, source }));
}

/** The image as credentials and providers are asked for it. Undefined for an invalid name. */
export function repositoryOf(image: string): string | undefined {
  const name = parseImageName(image);
  return name && `${name.registry}/${name.repository}`;
}

export function locationMatches(location: string, target: string): boolean {
  const [own, other] = [partsOf(location), partsOf(target)];
  return (
    own.port === other.port &&
    own.labels.length === other.labels.length &&
    other.path.startsWith(own.path) &&
    own.labels.every((label, at) => glob(label).test(other.labels[at] ?? ""))
  );
}

/** The same credentials have the same hash. */
export function hashOf({ username = "", password = "", identityToken = "", auth = "" }: ImageAuth): string {
  return createHash("sha256")
    .update(JSON.stringify([username, password, identityToken, auth]))
    .digest("hex");
}

/** Without the scheme; `/v1/` and `/v2/` mean the whole registry. */
function keyOf(location: string): string {
  const bare = location.replace(/^https?:\/\//, "");
  const slash = bare.indexOf("/");
  if (slash < 0) return bare;
  const path = bare.slice(slash).replace(/^\/v[12](?=\/|$)/, "");
  return bare.slice(0, slash) + (path === "/" ? "" : path);
}

function partsOf(text: string) {
  const slash = text.indexOf("/");
  const authority = slash < 0 ? text : text.slice(0, slash);
  const [, host = authority, port = ""] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
  return { labels: host.split("."), port, path: slash < 0 ? "" : text.slice(slash) };
}

function glob(pattern: string): RegExp {
  const source = pattern.replaceAll(/\[[^\]]+\]|[\s\S]/g, (part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part.length > 1) return part.replaceAll("\\", "\\\\");
    return part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return new RegExp(`^${source}$`, "s");
}
