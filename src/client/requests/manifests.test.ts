import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { objectsOf } from "./manifests.ts";

it("a file's documents are whole, whatever follows their separators", async () => {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-manifests-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const document = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name} }\n`;
  writeFileSync(join(dir, "all.yaml"), `${document("a")}---\n${document("b")}--- # comment\n${document("c")}---\n`);
  const found = await objectsOf([dir]);
  expect(found).toEqual(["a", "b", "c"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
});
