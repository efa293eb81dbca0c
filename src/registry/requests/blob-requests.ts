/** Reading and deleting blobs. */
import { parseDigest } from "../files/digests.ts";
import { RegistryError } from "../files/errors.ts";
import { type Files, headerOf, type RegistryAnswer, type RegistryRequest } from "./request.ts";

export async function blobRequest(
  { blobs, repositories }: Files,
  request: RegistryRequest,
  repository: string,
  reference: string,
): Promise<RegistryAnswer | undefined> {
  const { method } = request;
  const digest = parseDigest(reference);
  const unknown = () => new RegistryError(404, "BLOB_UNKNOWN", "blob unknown to registry", { digest: digest.text });
  if (method === "DELETE") {
    if (!(await repositories.removeBlob(repository, digest))) throw unknown();
    return { status: 202, headers: { "docker-content-digest": digest.text } };
  }
  if (method !== "GET" && method !== "HEAD") return undefined;
  const size = (await repositories.hasBlob(repository, digest)) ? await blobs.size(digest) : undefined;
  if (size === undefined) throw unknown();
  const span = method === "GET" ? spanOf(headerOf(request, "range"), size) : undefined;
  const headers = {
    "content-type": "application/octet-stream",
    "docker-content-digest": digest.text,
    etag: `"${digest.text}"`,
    "accept-ranges": "bytes",
  };
  const body = (length: number) => ({ "content-length": String(length) });
  if (method === "HEAD") return { status: 200, headers: { ...headers, ...body(size) } };
  if (span === undefined) return { status: 200, headers: { ...headers, ...body(size) }, body: blobs.read(digest) };
  const range = { "content-range": `bytes ${span.start}-${span.end}/${size}`, ...body(span.end - span.start + 1) };
  return { status: 206, headers: { ...headers, ...range }, body: blobs.read(digest, span) };
}

/** One range (RFC 9110, 14.1.2). Undefined: all bytes, also if the header is not understood. */
function spanOf(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end) {
    const headers = { "content-range": `bytes */${size}` };
    throw new RegistryError(416, "SIZE_INVALID", "the range is not in the blob", { range: header, size }, headers);
  }
  return { start, end };
}
