/** Pushing blobs: at once, in parts, or mounted from another repository. */
import { type Digest, parseDigest } from "../files/digests.ts";
import { RegistryError } from "../files/errors.ts";
import { checkRepository } from "../files/references.ts";
import { rangeOf } from "../files/uploads.ts";
import { type Files, headerOf, type RegistryAnswer, type RegistryRequest } from "./request.ts";

/** POST …/blobs/uploads/ */
export async function beginUpload(files: Files, request: RegistryRequest, repository: string): Promise<RegistryAnswer> {
  const { query, body } = request;
  const mount = query.get("mount");
  if (mount !== null && (await mounted(files, repository, parseDigest(mount), query.get("from"))))
    return created(repository, parseDigest(mount));
  const named = query.get("digest");
  const digest = named === null ? undefined : parseDigest(named);
  const id = await files.uploads.begin(repository);
  if (digest === undefined) return accepted(repository, id, 0);
  await finish(files, repository, id, digest, { bytes: body });
  return created(repository, digest);
}

/** GET, PATCH, PUT, DELETE …/blobs/uploads/ID */
export async function uploadRequest(
  files: Files,
  request: RegistryRequest,
  repository: string,
  id: string,
): Promise<RegistryAnswer | undefined> {
  const { method, query, body } = request;
  const { uploads } = files;
  if (method === "GET") return accepted(repository, id, uploads.size(repository, id), 204);
  if (method === "PATCH") {
    return accepted(repository, id, await uploads.append(repository, id, body, startOf(request)));
  }
  if (method === "PUT") {
    const digest = parseDigest(query.get("digest") ?? "");
    await finish(files, repository, id, digest, { bytes: body, start: startOf(request) });
    return created(repository, digest);
  }
  if (method !== "DELETE") return undefined;
  await uploads.cancel(repository, id);
  return { status: 204 };
}

type Part = Parameters<Files["uploads"]["finish"]>[3];

async function finish(
  { blobs, repositories, uploads }: Files,
  repository: string,
  id: string,
  digest: Digest,
  part: Part,
): Promise<void> {
  await uploads.finish(repository, id, digest, part, (path) =>
    repositories.addBlob(repository, digest, () => blobs.adopt(path, digest)),
  );
}

/** Without `from`, any repository will do. */
async function mounted(
  { blobs, repositories }: Files,
  repository: string,
  digest: Digest,
  from: string | null,
): Promise<boolean> {
  const owner = from === null ? await repositories.ownerOf(digest) : checkRepository(from);
  if (owner === undefined || !(await repositories.hasBlob(owner, digest))) return false;
  let isThere = false;
  // Another request may have removed the bytes meanwhile.
  const check = async () => {
    isThere = (await blobs.size(digest)) !== undefined;
    if (!isThere) throw new Gone();
  };
  await repositories.addBlob(repository, digest, check).catch((error: unknown) => {
    if (!(error instanceof Gone)) throw error;
  });
  return isThere;
}

class Gone extends Error {}

/** Where the bytes go, as the client believes: `0-99`, without a unit. */
function startOf(request: RegistryRequest): number | undefined {
  const range = headerOf(request, "content-range");
  if (range === undefined) return undefined;
  const [, start, end] = /^(?:bytes[ =])?(\d+)-(\d+)(?:\/(?:\d+|\*))?$/.exec(range) ?? [];
  if (start === undefined || Number(end) < Number(start))
    throw new RegistryError(416, "BLOB_UPLOAD_INVALID", "the range of the bytes cannot be read", { range });
  return Number(start);
}

function accepted(repository: string, id: string, size: number, status = 202): RegistryAnswer {
  const location = `/v2/${repository}/blobs/uploads/${id}`;
  return { status, headers: { location, range: rangeOf(size), "docker-upload-uuid": id, "content-length": "0" } };
}

function created(repository: string, { text }: Digest): RegistryAnswer {
  const location = `/v2/${repository}/blobs/${text}`;
  return { status: 201, headers: { location, "docker-content-digest": text, "content-length": "0" } };
}
