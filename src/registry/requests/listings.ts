/** Lists: repositories, tags, and the manifests that refer to one. */
import { parseDigest } from "../files/digests.ts";
import { RegistryError } from "../files/errors.ts";
import { OCI_INDEX } from "./manifests.ts";
import { type Files, jsonAnswer, type RegistryAnswer, type RegistryRequest } from "./request.ts";

export async function catalog({ repositories }: Files, { query }: RegistryRequest): Promise<RegistryAnswer> {
  const { page, link } = pageOf(await repositories.names(), query, "/v2/_catalog");
  return jsonAnswer({ repositories: page }, link);
}

export async function tagList(
  { repositories }: Files,
  { query }: RegistryRequest,
  repository: string,
): Promise<RegistryAnswer> {
  if (!(await repositories.exists(repository)))
    throw new RegistryError(404, "NAME_UNKNOWN", "repository name not known to registry", { name: repository });
  const { page, link } = pageOf(await repositories.tags(repository), query, `/v2/${repository}/tags/list`);
  return jsonAnswer({ name: repository, tags: page }, link);
}

/** Also of a manifest that is not here (yet): nobody refers to it, then. */
export async function referrerList(
  { repositories }: Files,
  { query }: RegistryRequest,
  repository: string,
  reference: string,
): Promise<RegistryAnswer> {
  const all = await repositories.referrers(repository, parseDigest(reference));
  const wanted = query.get("artifactType");
  const manifests = wanted === null ? all : all.filter(({ artifactType }) => artifactType === wanted);
  const filtered = wanted === null ? {} : { "oci-filters-applied": "artifactType" };
  const headers = { "content-type": OCI_INDEX, ...filtered };
  return jsonAnswer({ schemaVersion: 2, mediaType: OCI_INDEX, manifests }, headers);
}

function pageOf(names: readonly string[], query: URLSearchParams, path: string) {
  const last = query.get("last");
  const rest = last === null ? names : names.filter((name) => name > last);
  const count = query.get("n");
  if (count === null) return { page: rest, link: {} };
  if (!/^\d{1,9}$/.test(count)) throw new RegistryError(400, "UNSUPPORTED", "n must be a whole number", { n: count });
  const page = rest.slice(0, Number(count));
  const end = page.at(-1);
  if (end === undefined || page.length === rest.length) return { page, link: {} };
  return { page, link: { link: `<${path}?n=${count}&last=${encodeURIComponent(end)}>; rel="next"` } };
}
