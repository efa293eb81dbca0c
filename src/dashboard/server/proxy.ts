/**
 * `proxy/…`: the API server's paths, as the user.
 *
 * 1. Responses are data for the page's code, never pages or scripts: content types other than the API's become plain
 *    text.
 * 2. Proxy subresources of Pods, Services and Nodes are refused: their responses are not the API server's. But for
 *    what a node is pulling, which is data that only its kubelet has.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiServer } from "./upstream.ts";

const PASSED = ["accept", "content-type", "content-length"];
const TYPES = ["application/json", "application/yaml", "application/x-ndjson", "text/plain"];

export function proxied(api: ApiServer, path: string, message: IncomingMessage, response: ServerResponse): void {
  if (isOthers(path)) {
    answerStatus(response, 403, "Forbidden", "The dashboard does not proxy to Pods, Services or Nodes.");
    return;
  }
  const call = api.request(path, message.headers, PASSED, { method: message.method });
  call.once("error", (error) => {
    if (response.headersSent) response.destroy();
    else answerStatus(response, 503, "ServiceUnavailable", `The API server does not respond: ${error.message}`);
  });
  call.once("response", (answer) => {
    const type = answer.headers["content-type"] ?? "";
    const isKnown = TYPES.some((known) => type === known || type.startsWith(`${known};`));
    const retryAfter = answer.headers["retry-after"];
    response.writeHead(answer.statusCode ?? 502, {
      "content-type": isKnown ? type : "text/plain; charset=utf-8",
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    });
    answer.pipe(response);
    answer.once("error", () => response.destroy());
  });
  response.once("close", () => call.destroy());
  message.pipe(call);
}

/** Of kubelets of k8ts: the images that are being pulled. */
const PULLS = /^\/api\/v1\/nodes\/[a-z0-9.-]+\/proxy\/pulls$/;

/** `…/pods/x/proxy`, `…/services/x/proxy/…`, `…/nodes/x/proxy`, also where a path spells it otherwise. */
export function isOthers(path: string): boolean {
  if (PULLS.test(path) && !path.includes("..")) return false;
  const plain = decoded(path.split("?", 1)[0] ?? "");
  return (
    plain === undefined || /\/(pods|services|nodes)\/[^/]+\/proxy(\/|$)/.test(plain) || /(^|\/)\.\.?(\/|$)/.test(plain)
  );
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined; // not a path of the API
  }
}

export function answerStatus(response: ServerResponse, code: number, reason: string, message: string): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }));
}
