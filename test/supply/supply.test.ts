/** The rules of `npm run supply`, on lock files that break them one by one, and on this repository's own. */
import { globSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { type AuditOutcome, auditOutcome } from "../../scripts/supply/audit.ts";
import { isAllowed } from "../../scripts/supply/licences.ts";
import { parseLockFile } from "../../scripts/supply/lock-file.ts";
import { findingsHere, lockOf, PROJECTS, root } from "../../scripts/supply/repository.ts";
import { findings, findingsOfManifest } from "../../scripts/supply/rules.ts";
import { shippedPlaces } from "../../scripts/supply/shipped.ts";
import { integrity, lockText } from "./lock-text.ts";

const good = { version: "1.0.0", integrity, license: "MIT" };
const rules = { scripts: {}, shipped: new Set(["node_modules/a"]) };

describe("a lock file", () => {
  it.each([
    { name: "is fine", entry: good, want: [] },
    { name: "without integrity", entry: { ...good, integrity: undefined }, want: ["a@1.0.0 has no integrity"] },
    {
      name: "with a weaker digest",
      entry: { ...good, integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" },
      want: ["a@1.0.0 has an integrity that is not one SHA-512"],
    },
    {
      name: "with the host of a registry",
      entry: { ...good, resolved: "https://registry.example/a-1.0.0.tgz" },
      want: ["a@1.0.0 names where it was fetched from"],
    },
    {
      name: "with an install script",
      entry: { ...good, hasInstallScript: true },
      want: ["a@1.0.0 runs a script when it is installed: look at it, then list it with the reason"],
    },
    { name: "without a licence", entry: { ...good, license: undefined }, want: ["a@1.0.0 names no licence"] },
    {
      name: "with a licence for tools in what is shipped",
      entry: { ...good, license: "MPL-2.0" },
      want: ["a@1.0.0 has the licence MPL-2.0, which is not allowed for what is shipped"],
    },
  ])("$name", ({ entry, want }) => {
    expect(findings(parseLockFile(lockText({ a: entry })), rules)).toEqual(want);
  });

  it("may have an install script with a reason, and no reason without a script", () => {
    const lock = parseLockFile(lockText({ a: { ...good, hasInstallScript: true } }));
    expect(findings(lock, { ...rules, scripts: { a: "it is known" } })).toEqual([]);
    expect(findings(lock, { ...rules, scripts: { a: "it is known", b: "gone" } })).toEqual([
      "b is listed with an install script, and has none",
    ]);
  });

  it.each([
    { version: "1.0.0", locked: "1.0.0", want: [] },
    { version: "npm:@x/a@1.0.0", locked: "npm:@x/a@1.0.0", want: [] },
    { version: "^1.0.0", locked: "^1.0.0", want: ["a has a range of versions (^1.0.0) in package.json"] },
    { version: "1.0.1", locked: "1.0.0", want: ["a is 1.0.1 in package.json, and 1.0.0 in its lock file"] },
  ])("of package.json with $version", ({ version, locked, want }) => {
    const lock = parseLockFile(lockText({ a: good }, { a: locked }));
    expect(findingsOfManifest(JSON.stringify({ dependencies: { a: version } }), lock)).toEqual(want);
  });

  it.each(["{}", '{"lockfileVersion":2,"packages":{"":{}}}'])("of another form is refused: %s", (text) => {
    expect(() => parseLockFile(text)).toThrow("This is not a package-lock.json of version 3.");
  });
});

describe("what is shipped", () => {
  const lock = parseLockFile(
    lockText(
      {
        a: good,
        page: { ...good, dev: true, dependencies: { part: "^1.0.0" } },
        part: { ...good, dev: true },
        "page/node_modules/part": { ...good, version: "1.2.0", dev: true },
        tool: { ...good, dev: true },
      },
      { a: "1.0.0", page: "1.0.0", tool: "1.0.0" },
    ),
  );

  it("is what npm installs, and what is bundled, with what that depends on", () => {
    expect([...shippedPlaces(lock, new Set(["page"]))]).toEqual([
      "node_modules/a",
      "node_modules/page",
      "node_modules/page/node_modules/part",
    ]);
  });
});

describe("a licence", () => {
  it.each([
    { licence: "MIT", shipped: true, tool: true },
    { licence: "MPL-2.0", shipped: false, tool: true },
    { licence: "GPL-3.0-only", shipped: false, tool: false },
    { licence: "GPL-3.0-only OR MIT", shipped: true, tool: true },
    { licence: "GPL-3.0-only AND MIT", shipped: false, tool: false },
    { licence: "(MIT AND Zlib)", shipped: true, tool: true },
    { licence: "(MIT OR GPL-3.0-only) AND GPL-3.0-only", shipped: false, tool: false },
    { licence: "MIT OR (Apache-2.0 AND GPL-3.0-only)", shipped: true, tool: true },
    { licence: "Apache-2.0 WITH LLVM-exception", shipped: false, tool: false },
    { licence: "(MIT", shipped: false, tool: false },
    { licence: "SEE LICENSE IN LICENSE", shipped: false, tool: false },
    { licence: "", shipped: false, tool: false },
  ])("$licence", ({ licence, shipped, tool }) => {
    expect(isAllowed(licence, { isShipped: true })).toBe(shipped);
    expect(isAllowed(licence, { isShipped: false })).toBe(tool);
  });
});

describe("npm audit", () => {
  const bad = { auditReportVersion: 2, vulnerabilities: { b: { severity: "high" }, a: {} } };
  it.each<{ name: string; output: string; want: AuditOutcome }>([
    { name: "clean", output: '{"auditReportVersion":2,"vulnerabilities":{}}', want: { kind: "clean" } },
    {
      name: "vulnerable",
      output: JSON.stringify(bad),
      want: { kind: "vulnerable", packages: ["a (unknown)", "b (high)"] },
    },
    {
      name: "an endpoint that is missing",
      output: '{"message":"405 - POST https://registry.example/x","statusCode":405,"error":{}}',
      want: { kind: "unanswered", reason: "it answered 405" },
    },
    { name: "no network", output: '{"error":{}}', want: { kind: "unanswered", reason: "it did not answer" } },
    { name: "nothing", output: "", want: { kind: "unanswered", reason: "npm printed no report" } },
    { name: "null", output: "null", want: { kind: "unanswered", reason: "npm printed no report" } },
  ])("$name", ({ output, want }) => {
    expect(auditOutcome(output)).toEqual(want);
  });
});

describe("this repository", () => {
  it("has lock files without findings", () => {
    expect(findingsHere()).toEqual([]);
    expect(lockOf(".").packages.length).toBeGreaterThan(100);
  });

  it("has no other lock files", () => {
    const exclude = (name: string) => /(?:^|\/)(?:node_modules|\.tools|\.git)$/.test(name);
    const found = globSync("**/{package-lock,npm-shrinkwrap}.json", { cwd: root, exclude });
    expect(found.map((file) => dirname(file)).sort()).toEqual(PROJECTS.map(({ folder }) => folder).sort());
  });
});
