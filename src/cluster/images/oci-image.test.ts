import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { busyboxImage, pauseImage } from "./built-in.ts";
import { imageArchive } from "./oci-image.ts";

/** The files of an archive of ours: no long paths, no links. */
function filesIn(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== 0; ) {
    const text = (from: number, length: number) =>
      archive.toString("utf8", at + from, at + from + length).split("\0")[0] ?? "";
    const size = Number.parseInt(text(124, 12), 8);
    files.set(text(0, 100), archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

const image = imageArchive({
  name: "localhost/some:1",
  machine: "arm64",
  files: [{ path: "x", type: "file", content: Buffer.from("x") }],
  entrypoint: ["/x"],
  env: ["A=1"],
});

describe("imageArchive", () => {
  const files = filesIn(image);
  const json = (path: string) => JSON.parse(files.get(path)?.toString("utf8") ?? "");
  const blob = ({ digest }: { digest: string }) => `blobs/sha256/${digest.slice("sha256:".length)}`;

  it("every blob has the digest and size that are told of it", () => {
    const [manifest] = json("index.json").manifests;
    const { config, layers } = json(blob(manifest));
    for (const descriptor of [manifest, config, ...layers]) {
      const bytes = files.get(blob(descriptor)) ?? Buffer.alloc(0);
      expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(descriptor.digest);
      expect(bytes.length).toBe(descriptor.size);
    }
    expect(manifest.annotations).toEqual({ "io.containerd.image.name": "localhost/some:1" });
    expect(json("oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });
  });

  it("tells what to run, and where", () => {
    const [manifest] = json("index.json").manifests;
    const { config, layers } = json(blob(manifest));
    expect(json(blob(config))).toEqual({
      architecture: "arm64",
      os: "linux",
      config: { Env: ["A=1"], Entrypoint: ["/x"] },
      rootfs: { type: "layers", diff_ids: [layers[0].digest] },
    });
  });
});

describe("built-in images", () => {
  it("are the same wherever they are made", () => {
    expect(pauseImage("x64")).toEqual(pauseImage("x64"));
    expect(pauseImage("x64")).not.toEqual(pauseImage("arm64"));
  });

  it("busybox has a link for each applet, and users and names to look up", () => {
    const layer = busyboxImage("x64", Buffer.from("busybox"), ["busybox", "sh", "wget"]).toString("latin1");
    for (const path of ["bin/busybox", "bin/sh", "bin/wget", "etc/passwd", "etc/group", "etc/nsswitch.conf", "tmp/"]) {
      expect(layer).toContain(`${path}\0`);
    }
    expect(layer.split("bin/busybox\0").length).toBe(2);
  });
});
