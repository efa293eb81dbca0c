/** The few ways in which routes answer. */
import type { Http2ServerResponse } from "node:http2";

export function sendText(
  response: Http2ServerResponse,
  code: number,
  body: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(code, {
    "content-type": type,
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache, private",
  });
  response.end(body);
}

export function sendJson(response: Http2ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.end(JSON.stringify(body));
}

/** An error in the shape that every Kubernetes client understands. */
export function sendStatus(response: Http2ServerResponse, code: number, reason: string, message: string): void {
  sendJson(response, code, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    code,
  });
}
