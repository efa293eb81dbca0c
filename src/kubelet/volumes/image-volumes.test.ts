import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Mounter } from "../host/index.ts";
import type { ImageMounts } from "../runtime/runtime.ts";
import { mountImage, releaseImages } from "./image-volumes.ts";

const { signal } = new AbortController();
let root: string;
let calls: string[];
let mounts: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "k8ts-image-volumes-"));
  calls = [];
  mounts = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const mounter: Mounter = {
  tmpfs: async () => {},
  bind: async () => {},
  unmount: async () => {},
  format: async () => {},
  mount: async ({ type, source, options }, target) => {
    mounts.push(target);
    calls.push(`mount ${type} ${source} ${options.join()}`);
  },
  below: async (directory) => mounts.filter((path) => path.startsWith(directory)),
};
const images: ImageMounts = {
  prepare: async (image, key) => {
    calls.push(`prepare ${image} ${key}`);
    return [{ type: "overlay", source: "overlay", options: ["ro", "lowerdir=/a:/b"] }];
  },
  release: async (key) => void calls.push(`release ${key}`),
};

describe("a volume of an image", () => {
  const volume = { uid: "u-1", name: "tools", image: "sha256:1" };

  it("is mounted once, and released with its Pod, also by another kubelet", async () => {
    const path = await mountImage({ root, mounter, images }, volume, signal);
    expect(await mountImage({ root, mounter, images }, volume, signal)).toBe(path);
    expect(existsSync(path)).toBe(true);
    await releaseImages({ root, mounter, images }, "u-1", signal);
    await releaseImages({ root, mounter, images }, "u-2", signal);
    expect(calls).toEqual([
      "prepare sha256:1 k8ts-volume-u-1-tools",
      "mount overlay overlay ro,lowerdir=/a:/b",
      "release k8ts-volume-u-1-tools",
    ]);
  });

  it("needs a runtime that has the layers of images", async () => {
    await expect(mountImage({ root, mounter }, volume, signal)).rejects.toThrow("need a runtime");
  });
});
