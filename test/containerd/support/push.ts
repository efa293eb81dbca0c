/** Pushes the image busybox of this machine as a client would: `push.ts REGISTRY REPOSITORY TAG`. Says `pushed`. */
import { imageArchive } from "../../../src/cluster/images/index.ts";
import { machineImages } from "../../../src/cluster/images/machine-images.ts";
import { filesIn } from "./archive-files.ts";

const [registry = "", repository = "", tag = ""] = process.argv.slice(2);
const busybox = (await machineImages()).find(({ name }) => name.includes("busybox"));
const archive = Buffer.from(busybox?.archive ?? imageArchive({ name: "empty", machine: "x64", files: [] }));
const files = filesIn(archive);
const index = JSON.parse(files.get("index.json")?.toString("utf8") ?? "{}");
const { digest, mediaType }: { digest: string; mediaType: string } = index.manifests[0];
const blob = (of: string) => files.get(`blobs/sha256/${of.slice("sha256:".length)}`) ?? Buffer.alloc(0);
const manifest = blob(digest);
const { config, layers } = JSON.parse(manifest.toString("utf8"));

for (const { digest: each } of [config, ...layers]) {
  await send("POST", `blobs/uploads/?digest=${each}`, blob(each), "application/octet-stream");
}
await send("PUT", `manifests/${tag}`, manifest, mediaType);
process.stdout.write("pushed\n");

async function send(method: string, path: string, body: Buffer, type: string): Promise<void> {
  const headers = { "content-type": type };
  const response = await fetch(`${registry}/v2/${repository}/${path}`, { method, headers, body: new Uint8Array(body) });
  if (response.status !== 201) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}
