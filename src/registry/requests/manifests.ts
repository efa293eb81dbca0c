/**
 * What a manifest says: the blobs and manifests that it needs, and the manifest that it is about.
 *
 * 1. Images and indexes are understood, in the media types of OCI and Docker. Other JSON is kept as it is.
 */
import { type Digest, parseDigest } from "../files/digests.ts";
import { RegistryError } from "../files/errors.ts";

const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
const IMAGES = [OCI_MANIFEST, "application/vnd.docker.distribution.manifest.v2+json"];
const INDEXES = [OCI_INDEX, "application/vnd.docker.distribution.manifest.list.v2+json"];
/** Layers that are fetched from elsewhere. */
const FOREIGN = ["application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", "nondistributable"];

export interface Manifest {
  readonly mediaType: string;
  readonly blobs: readonly Digest[];
  readonly manifests: readonly Digest[];
  readonly subject: Digest | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

interface Descriptor {
  readonly mediaType?: unknown;
  readonly digest?: unknown;
  readonly urls?: unknown;
}

interface Written {
  readonly schemaVersion?: unknown;
  readonly mediaType?: unknown;
  readonly artifactType?: unknown;
  readonly annotations?: unknown;
  readonly config?: Descriptor;
  readonly layers?: unknown;
  readonly manifests?: unknown;
  readonly subject?: Descriptor;
}

export function parseManifest(bytes: Buffer, contentType: string | undefined): Manifest {
  const written = parsed(bytes);
  const said = contentType?.split(";")[0]?.trim();
  const own = typeof written.mediaType === "string" ? written.mediaType : undefined;
  if (said !== undefined && own !== undefined && said !== own)
    throw invalid("the manifest's mediaType is another than the Content-Type", { mediaType: own, contentType: said });
  const mediaType = said ?? own ?? OCI_MANIFEST;
  const isImage = IMAGES.includes(mediaType);
  const isIndex = INDEXES.includes(mediaType);
  if ((isImage || isIndex) && written.schemaVersion !== 2) throw invalid("schemaVersion must be 2");
  const layers = isImage ? listOf(written.layers, "layers").filter((layer) => !isForeign(layer)) : [];
  const config = isImage ? [written.config ?? fail("config is required")] : [];
  const { annotations, artifactType, subject } = written;
  return {
    mediaType,
    blobs: [...config, ...layers].map(digestIn),
    manifests: isIndex ? listOf(written.manifests, "manifests").map(digestIn) : [],
    subject: subject === undefined ? undefined : digestIn(subject),
    artifactType: textOf(artifactType) ?? textOf(written.config?.mediaType),
    annotations: isTexts(annotations) ? annotations : undefined,
  };
}

function parsed(bytes: Buffer): Written {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // told below
  }
  throw invalid("the manifest is no JSON object");
}

function listOf(value: unknown, name: string): readonly Descriptor[] {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "object" && one !== null))
    throw invalid(`${name} must be a list of descriptors`);
  return value;
}

function digestIn({ digest }: Descriptor): Digest {
  if (typeof digest !== "string") throw invalid("a descriptor has no digest");
  return parseDigest(digest);
}

function isForeign({ mediaType, urls }: Descriptor): boolean {
  const isElsewhere = Array.isArray(urls) && urls.length > 0;
  return isElsewhere && typeof mediaType === "string" && FOREIGN.some((name) => mediaType.includes(name));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string");
}

function fail(message: string): never {
  throw invalid(message);
}

function invalid(message: string, detail?: object): RegistryError {
  return new RegistryError(400, "MANIFEST_INVALID", message, detail);
}
