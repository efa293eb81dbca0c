/** Lists of a moment in the past, in place of the present. */
import type { ApiResponse, Handle, ApiRequest as Request } from "../../apiserver/http/exchange.ts";
import { AT } from "../../apiserver/past/past.ts";

const COLLECTION = /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/(namespaces\/[^/]+\/)?[^/]+$/;
/** To look at the past is a right of its own, which the one that asks for the present need not have. */
const READER = { name: "a-server-that-is-behind", groups: ["system:masters", "system:authenticated"] };

export function isNoWatch({ query }: Request): boolean {
  return query.get("watch") !== "true";
}

export function isList(request: Request): boolean {
  return request.method === "GET" && isNoWatch(request) && COLLECTION.test(request.path);
}

export async function listOfThePast(handle: Handle, request: Request, agoMs: number): Promise<ApiResponse> {
  const query = new URLSearchParams(request.query);
  // The moment says it.
  for (const name of ["resourceVersion", "resourceVersionMatch"]) query.delete(name);
  query.set(AT, `${agoMs}ms`);
  const { method, path, headers } = request;
  const past = await handle({
    ...{ method, path, headers, query, user: READER },
    body: (limit) => request.body(limit),
    get signal() {
      return request.signal;
    },
  });
  // The cluster is younger than that, or has forgotten it.
  return past.status === 200 ? past : handle(request);
}
