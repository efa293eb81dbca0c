import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { dataDir, openDataDir } from "./data-dir.ts";

it("a new data directory is for its owner alone", async () => {
  const parent = mkdtempSync(join(tmpdir(), "k8ts-data-dir-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const dir = dataDir(join(parent, "new"));
  const lock = await openDataDir(dir);
  onTestFinished(() => lock.release());
  expect([dir.path, dir.marker].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});
