/**
 * A registry that has one image, under every name: `registry.ts ADDRESS PORT [USER:PASSWORD]`. Speaks as much of the
 * distribution protocol, without TLS, as a pull needs. Says `ready` when it listens.
 */
import { createServer } from "node:http";
import { imageArchive } from "../../../src/cluster/images/index.ts";
import { machineImages } from "../../../src/cluster/images/machine-images.ts";
import { filesIn } from "./archive-files.ts";

const [address = "127.0.0.1", port = "5000", user] = process.argv.slice(2);
const busybox = (await machineImages()).find(({ name }) => name.includes("busybox"));
const archive = Buffer.from(busybox?.archive ?? imageArchive({ name: "empty", machine: "x64", files: [] }));
const files = filesIn(archive);
const index = JSON.parse(files.get("index.json")?.toString("utf8") ?? "{}");
const manifest: { digest: string; mediaType: string } = index.manifests[0];

createServer((request, response) => {
  if (user !== undefined && request.headers.authorization !== `Basic ${btoa(user)}`) {
    response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end();
    return;
  }
  const wanted = /^\/v2\/.+\/(manifests|blobs)\/(.+)$/.exec(request.url ?? "");
  const digest = wanted?.[2]?.startsWith("sha256:") ? wanted[2] : manifest.digest;
  const bytes = files.get(`blobs/sha256/${digest.slice("sha256:".length)}`);
  if (wanted === null || bytes === undefined) {
    response.writeHead(request.url === "/v2/" ? 200 : 404).end();
    return;
  }
  const type = wanted[1] === "manifests" ? manifest.mediaType : "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": bytes.length, "docker-content-digest": digest });
  response.end(request.method === "HEAD" ? undefined : bytes);
}).listen(Number(port), address, () => process.stdout.write("ready\n"));
