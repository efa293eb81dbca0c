/**
 * Releases of Helm, as it keeps them in Secrets of the type helm.sh/release.v1: one for each revision.
 *
 *     Secret.data.release ──► base64 ──► base64 ──► gzip ──► JSON
 *
 * 1. Nothing here writes. Who may not read Secrets sees no releases.
 * 2. What a release has packed is unpacked up to a limit: a Secret cannot fill the browser's memory.
 */
import type { KubeObject } from "../api/watched.ts";
import type { Tone } from "../model/pod.ts";

export const OWNED_BY_HELM = "owner=helm";
const TYPE = "helm.sh/release.v1";
const MAX_BYTES = 64 * 1024 * 1024;

/** Of a Secret, without its contents. */
export interface Revision {
  readonly secret: string;
  readonly resourceVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** Such as `deployed`, `superseded`, `pending-upgrade`. */
  readonly status: string;
  readonly changed: string | undefined;
}

/** Newest revisions first. */
export interface ReleaseHistory {
  readonly newest: Revision;
  readonly revisions: readonly Revision[];
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly version: number;
  readonly info?: {
    readonly status?: string;
    readonly description?: string;
    readonly first_deployed?: string;
    readonly last_deployed?: string;
    readonly notes?: string;
  };
  readonly chart?: {
    readonly metadata?: {
      readonly name?: string;
      readonly version?: string;
      readonly appVersion?: string;
      readonly description?: string;
    };
    readonly values?: object | null;
  };
  /** The user's values; the chart's others are in `chart.values`. */
  readonly config?: object | null;
  readonly manifest?: string;
}

/** By namespace and name. */
export function releasesOf(secrets: Iterable<KubeObject>): ReleaseHistory[] {
  const found = new Map<string, Revision[]>();
  for (const secret of secrets) {
    const revision = revisionOf(secret);
    if (revision === undefined) continue;
    const key = `${revision.namespace}/${revision.name}`;
    found.set(key, [...(found.get(key) ?? []), revision]);
  }
  return [...found.values()].flatMap((all) => {
    const revisions = all.sort((a, b) => b.revision - a.revision);
    const [newest] = revisions;
    return newest === undefined ? [] : [{ newest, revisions }];
  });
}

function revisionOf({ metadata }: KubeObject): Revision | undefined {
  const { namespace = "", name: secret, labels = {}, resourceVersion = "", creationTimestamp } = metadata;
  const { name, version = "", status = "unknown", modifiedAt, createdAt } = labels;
  const seconds = Number(modifiedAt ?? createdAt);
  if (name === undefined || !/^\d+$/.test(version)) return undefined;
  const changed = Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString() : creationTimestamp;
  return { secret, resourceVersion, namespace, name, revision: Number(version), status, changed };
}

export function releaseTone(status: string): Tone {
  if (status === "deployed") return "good";
  if (status === "failed") return "bad";
  return status.startsWith("pending-") || status === "uninstalling" ? "busy" : "quiet";
}

interface SecretLike {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export async function releaseIn({ type, data }: SecretLike): Promise<Release> {
  const packed = data?.release;
  if (type !== TYPE || packed === undefined) throw new Error(`This Secret is not a release of the type ${TYPE}.`);
  const inner = bytesOf(new TextDecoder().decode(bytesOf(packed)));
  const isGzip = inner[0] === 0x1f && inner[1] === 0x8b && inner[2] === 8;
  // Helm before 3.0 did not compress.
  return JSON.parse(isGzip ? await unpacked(inner) : new TextDecoder().decode(inner)) as Release;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_BYTES) {
      await reader.cancel();
      throw new Error("The release is larger than 64 MiB.");
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** `nginx 1.2.3`, of which app version. */
export function chartOf({ chart }: Release): { readonly chart: string; readonly app: string } {
  const { name = "", version = "", appVersion = "" } = chart?.metadata ?? {};
  return { chart: `${name} ${version}`.trim(), app: appVersion };
}

export interface Part {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The objects of a rendered manifest: `documents` as read from its YAML. Lists are of no use to charts. */
export function partsOf(documents: readonly unknown[], releaseNamespace: string): Part[] {
  return documents.flatMap((each) => {
    const { apiVersion, kind, metadata } = (each ?? {}) as Partial<KubeObject>;
    if (apiVersion === undefined || kind === undefined || metadata?.name === undefined) return [];
    return [{ apiVersion, kind, namespace: metadata.namespace ?? releaseNamespace, name: metadata.name }];
  });
}
