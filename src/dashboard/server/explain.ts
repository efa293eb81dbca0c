/**
 * `why?resource=…&namespace=…&name=…`: why an object is in its state, in the words of `k8ts why`.
 *
 * 1. It is asked with the user's credentials: what they do not allow is not explained.
 */
import type { ServerResponse } from "node:http";
import { answerStatus } from "./proxy.ts";
import type { Upstream } from "./upstream.ts";

export interface ExplainedObject {
  /** Plural: `horizontalpodautoscalers`. */
  readonly resource: string;
  /** Empty: the core group. */
  readonly group: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Explained {
  readonly what: string;
  readonly because: readonly { readonly text: string; readonly evidence: string }[];
  readonly help: readonly string[];
}

/** Undefined: nothing is known about objects of this resource, or there is no such object. */
export type Explain = (upstream: Upstream, object: ExplainedObject) => Promise<Explained | undefined>;

export async function answerWhy(
  explain: Explain | undefined,
  upstream: () => Promise<Upstream>,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const [resource, namespace, name] = ["resource", "namespace", "name"].map((field) => query.get(field) ?? "");
  if (explain === undefined || !resource || !name)
    return answerStatus(response, 404, "NotFound", "There is no explanation for this object.");
  try {
    const found = await explain(await upstream(), {
      resource,
      group: query.get("group") ?? "",
      namespace: namespace ?? "",
      name,
    });
    if (found === undefined) return answerStatus(response, 404, "NotFound", "There is no explanation for this object.");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
  } catch (error) {
    const { code = 502, reason = "BadGateway", message } = error as { code?: number; reason?: string; message: string };
    const status = typeof code === "number" && code >= 400 && code < 600 ? code : 502;
    answerStatus(response, status, reason, message);
  }
}
