import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { openImage } from "./open-image.ts";
import { tar } from "./tar.ts";

const dir = mkdtempSync(join(tmpdir(), "k8ts-image-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const archive = tar([{ path: "manifest.json", type: "file", content: Buffer.from("[]") }]);
function file(name: string, content: Uint8Array | string): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

describe("openImage", () => {
  it.each([
    ["a tar archive", () => file("a.tar", archive)],
    ["one with gzip", () => file("a.tar.gz", gzipSync(archive))],
    ["one with zstd", () => file("a.tar.zst", zstdCompressSync(archive))],
  ])("reads %s, as often as there are nodes", async (_name, make) => {
    const source = await openImage(make());
    expect(await buffer(source.read())).toEqual(archive);
    expect(await buffer(source.read())).toEqual(archive);
  });

  it("reads a folder in OCI's layout as an archive", async () => {
    const folder = join(dir, "layout");
    mkdirSync(join(folder, "blobs", "sha256"), { recursive: true });
    const content = { "blobs/sha256/abc": "blob", "index.json": "{}", "oci-layout": "{}" };
    for (const [path, text] of Object.entries(content)) writeFileSync(join(folder, path), text);
    const whole = tar(
      Object.entries(content).map(([path, text]) => ({ path, type: "file", content: Buffer.from(text) }) as const),
    );
    expect(await buffer((await openImage(folder)).read())).toEqual(whole);
  });

  it.each([
    ["what is not there", () => join(dir, "none.tar"), "cannot be read"],
    ["some other file", () => file("a.txt", "hello"), "is not an image archive"],
    ["an empty file", () => file("empty", ""), "is not an image archive"],
    ["some other folder", () => dir, "is not an image: an OCI layout folder contains"],
  ])("refuses %s", async (_name, make, why) => {
    await expect(openImage(make())).rejects.toThrow(why);
  });
});
