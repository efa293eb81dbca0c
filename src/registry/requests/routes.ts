/** Which request is for what. */
import { RegistryError } from "../files/errors.ts";
import { checkRepository } from "../files/references.ts";
import { blobRequest } from "./blob-requests.ts";
import { catalog, referrerList, tagList } from "./listings.ts";
import { manifestRequest } from "./manifest-requests.ts";
import { type Files, jsonAnswer, type RegistryAnswer, type RegistryRequest } from "./request.ts";
import { beginUpload, uploadRequest } from "./upload-requests.ts";

/** Undefined: the method is not one of the path's. */
type Answering = Promise<RegistryAnswer | undefined>;

/** Longest first: a repository's name may end in `/blobs`. `what`: the last part of the path. */
const ROUTES: readonly {
  readonly path: RegExp;
  answer(files: Files, request: RegistryRequest, repository: string, what: string): Answering;
}[] = [
  {
    path: /^\/v2\/(?<repository>.+)\/blobs\/uploads\/?(?<what>)$/,
    answer: async (files, request, repository) =>
      request.method === "POST" ? beginUpload(files, request, repository) : undefined,
  },
  { path: /^\/v2\/(?<repository>.+)\/blobs\/uploads\/(?<what>[^/]+)$/, answer: uploadRequest },
  { path: /^\/v2\/(?<repository>.+)\/blobs\/(?<what>[^/]+)$/, answer: blobRequest },
  { path: /^\/v2\/(?<repository>.+)\/manifests\/(?<what>[^/]+)$/, answer: manifestRequest },
  {
    path: /^\/v2\/(?<repository>.+)\/referrers\/(?<what>[^/]+)$/,
    answer: async (files, request, ...rest) => (isRead(request) ? referrerList(files, request, ...rest) : undefined),
  },
  {
    path: /^\/v2\/(?<repository>.+)\/tags\/list(?<what>)$/,
    answer: async (files, request, repository) => (isRead(request) ? tagList(files, request, repository) : undefined),
  },
];

export async function answerTo(files: Files, path: string, request: RegistryRequest): Promise<RegistryAnswer> {
  const answer = await found(files, path, request);
  if (answer === undefined)
    throw new RegistryError(405, "UNSUPPORTED", "the operation is unsupported", { method: request.method, path });
  return answer;
}

async function found(files: Files, path: string, request: RegistryRequest): Answering {
  if (path === "/v2" || path === "/v2/") return isRead(request) ? jsonAnswer({}) : undefined;
  if (path === "/v2/_catalog") return isRead(request) ? catalog(files, request) : undefined;
  for (const { path: expression, answer } of ROUTES) {
    const { repository, what = "" } = expression.exec(path)?.groups ?? {};
    if (repository !== undefined) return answer(files, request, checkRepository(repository), what);
  }
  throw new RegistryError(404, "UNSUPPORTED", "no such path", { path });
}

function isRead({ method }: RegistryRequest): boolean {
  return method === "GET" || method === "HEAD";
}
