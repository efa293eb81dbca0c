/** Reading, pushing and deleting manifests, by digest or by tag. */
import { type Digest, digestOf, isDigest, parseDigest } from "../files/digests.ts";
import { RegistryError } from "../files/errors.ts";
import { checkTag } from "../files/references.ts";
import { type Manifest, parseManifest } from "./manifests.ts";
import { type Files, headerOf, type RegistryAnswer, type RegistryRequest } from "./request.ts";

/** As other registries: clients keep to it. */
const MOST_BYTES = 4 * 1024 * 1024;

export async function manifestRequest(
  files: Files,
  request: RegistryRequest,
  repository: string,
  reference: string,
): Promise<RegistryAnswer | undefined> {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return read(files, method, repository, reference);
  if (method === "PUT") return push(files, request, repository, reference);
  if (method === "DELETE") return remove(files, repository, reference);
  return undefined;
}

async function read(
  { blobs, repositories }: Files,
  method: string,
  repository: string,
  reference: string,
): Promise<RegistryAnswer> {
  const digest = isDigest(reference)
    ? parseDigest(reference)
    : await repositories.tagged(repository, checkTag(reference));
  const mediaType = digest && (await repositories.mediaType(repository, digest));
  const size = digest && (await blobs.size(digest));
  if (digest === undefined || mediaType === undefined || size === undefined) throw unknown(reference);
  const headers = {
    "content-type": mediaType,
    "content-length": String(size),
    "docker-content-digest": digest.text,
    etag: `"${digest.text}"`,
  };
  return method === "HEAD" ? { status: 200, headers } : { status: 200, headers, body: blobs.read(digest) };
}

async function push(
  files: Files,
  request: RegistryRequest,
  repository: string,
  reference: string,
): Promise<RegistryAnswer> {
  const { repositories } = files;
  const named = isDigest(reference) ? parseDigest(reference) : undefined;
  const tag = named === undefined ? checkTag(reference) : undefined;
  const bytes = await bytesOf(request);
  const digest = digestOf(bytes, named?.algorithm);
  if (named !== undefined && named.text !== digest.text) {
    const detail = { digest: named.text, received: digest.text };
    throw new RegistryError(400, "DIGEST_INVALID", "provided digest did not match uploaded content", detail);
  }
  const manifest = parseManifest(bytes, headerOf(request, "content-type"));
  await checkContents(files, repository, manifest);
  await repositories.addManifest(repository, digest, manifest.mediaType, bytes);
  const { subject } = manifest;
  if (subject !== undefined) {
    const { mediaType, artifactType, annotations } = manifest;
    const size = bytes.length;
    const told = {
      ...(artifactType !== undefined && { artifactType }),
      ...(annotations !== undefined && { annotations }),
    };
    await repositories.addReferrer(repository, subject, { mediaType, digest: digest.text, size, ...told });
  }
  if (tag !== undefined) await repositories.tag(repository, tag, digest);
  return {
    status: 201,
    headers: {
      location: `/v2/${repository}/manifests/${digest.text}`,
      "docker-content-digest": digest.text,
      "content-length": "0",
      ...(subject !== undefined && { "oci-subject": subject.text }),
    },
  };
}

async function bytesOf({ body }: RegistryRequest): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MOST_BYTES)
      throw new RegistryError(413, "SIZE_INVALID", `a manifest may have ${MOST_BYTES} bytes`, { limit: MOST_BYTES });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** All that a manifest names has to be here, so that a client that finds it can pull it. */
async function checkContents({ repositories }: Files, repository: string, manifest: Manifest): Promise<void> {
  const missing: Digest[] = [];
  for (const blob of manifest.blobs) if (!(await repositories.hasBlob(repository, blob))) missing.push(blob);
  for (const child of manifest.manifests) {
    if ((await repositories.mediaType(repository, child)) === undefined) missing.push(child);
  }
  if (missing.length === 0) return;
  const detail = { digests: missing.map(({ text }) => text) };
  throw new RegistryError(400, "MANIFEST_BLOB_UNKNOWN", "the manifest names content that the repository lacks", detail);
}

async function remove({ blobs, repositories }: Files, repository: string, reference: string): Promise<RegistryAnswer> {
  if (!isDigest(reference)) {
    if (!(await repositories.removeTag(repository, checkTag(reference)))) throw unknown(reference);
    return { status: 202 };
  }
  const digest = parseDigest(reference);
  const mediaType = await repositories.mediaType(repository, digest);
  const bytes = mediaType === undefined ? undefined : await whole(blobs.read(digest));
  if (bytes === undefined || !(await repositories.removeManifest(repository, digest))) throw unknown(reference);
  const { subject } = parseManifest(bytes, mediaType);
  if (subject !== undefined) await repositories.removeReferrer(repository, subject, digest);
  return { status: 202 };
}

async function whole(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function unknown(reference: string): RegistryError {
  return new RegistryError(404, "MANIFEST_UNKNOWN", "manifest unknown", { reference });
}
