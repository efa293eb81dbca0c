/** As much of the distribution protocol, without TLS, as a pull of one image needs, under every name. */
import type { RequestListener } from "node:http";
import { filesIn } from "./archive-files.ts";

/** `archive`: in OCI layout. `user`: `USER:PASSWORD`, or nobody is asked. `repositories`: default: all. */
export function registryHandler(archive: Buffer, user?: string, repositories?: RegExp): RequestListener {
  const files = filesIn(archive);
  const index = JSON.parse(files.get("index.json")?.toString("utf8") ?? "{}");
  const manifest: { digest: string; mediaType: string } = index.manifests[0];
  return (request, response) => {
    if (user !== undefined && request.headers.authorization !== `Basic ${btoa(user)}`) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end();
      return;
    }
    const [, repository = "", ...wanted] = /^\/v2\/(.+)\/(manifests|blobs)\/([^?]+)/.exec(request.url ?? "") ?? [];
    const digest = wanted[1]?.startsWith("sha256:") ? wanted[1] : manifest.digest;
    const bytes = files.get(`blobs/sha256/${digest.slice("sha256:".length)}`);
    if (wanted.length === 0 || bytes === undefined || repositories?.test(repository) === false) {
      response.writeHead(request.url === "/v2/" ? 200 : 404).end();
      return;
    }
    const type = wanted[0] === "manifests" ? manifest.mediaType : "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": bytes.length, "docker-content-digest": digest });
    response.end(request.method === "HEAD" ? undefined : bytes);
  };
}
