import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { makeFolder } from "./make-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-make-folder-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
});

it("makes a folder with its parents, and leaves one that is there as it is", async () => {
  const deep = join(dir, "a", "b");
  await makeFolder(deep, 0o700);
  await makeFolder(deep, 0o755);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
});

it.each([
  ["where the system makes no folders", () => "/proc/k8ts-none/deep", "ENOENT"],
  ["below a file", () => join(dir, "file", "x"), "ENOTDIR"],
  ["in the place of a file", () => join(dir, "file"), "EEXIST"],
])("fails %s", async (_, path, code) => {
  writeFileSync(join(dir, "file"), "");
  await expect(makeFolder(path(), 0o700)).rejects.toMatchObject({ code });
});
