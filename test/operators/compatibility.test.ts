/** docs/compatibility.md says what is tried, no more and no less. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projects } from "./projects.ts";

const root = join(import.meta.dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const json = (file: string) => JSON.parse(read(file)) as Readonly<Record<string, Readonly<Record<string, string>>>>;
const document = read("docs/compatibility.md");

/** The cells of a section's table, without its heading. */
function rows(section: string): string[][] {
  const text = document.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("docs/compatibility.md", () => {
  it("lists the projects whose custom resources are tried", () => {
    const said = rows("Custom resources").map(([title, release, definitions]) => ({ title, release, definitions }));
    const tried = projects.map(({ title, release, definitions }) => ({
      title,
      release,
      definitions: `${definitions}`,
    }));
    expect(said).toEqual(tried);
  });

  it("names the kinds that are tried of each", () => {
    for (const [i, { title, samples }] of projects.entries()) {
      const kinds = samples.map(({ kind }) => kind).join(", ");
      expect(rows("Custom resources")[i]?.[3], title).toMatch(new RegExp(`^${kinds}:`));
    }
  });

  it("lists the frameworks that are installed", () => {
    const installed = json("scripts/setup/operator-frameworks/package.json").dependencies ?? {};
    expect(rows("Operator frameworks").map(([name, version]) => [name, version])).toEqual(Object.entries(installed));
  });

  it("lists the clients in the versions that are installed", () => {
    const said = Object.fromEntries(rows("Clients").map(([name, version]) => [name, version]));
    const { devDependencies } = json("package.json");
    expect(devDependencies?.["client-node-1"]).toBe(`npm:@kubernetes/client-node@${said["@kubernetes/client-node"]}`);
    expect(read("scripts/setup/kubectl.mjs")).toContain(`kubectl ${said.kubectl} and Helm ${said.Helm}`);
  });

  it("knows every project that the set-up fetches", () => {
    const fetched = [...read("scripts/setup/operator-schemas.mjs").matchAll(/^ {2}"([a-z-]+)@[\d.]+":/gm)];
    expect(fetched.map(([, folder]) => folder)).toEqual(projects.map(({ folder }) => folder).sort());
  });

  it("links to files that exist", () => {
    const linked = [...document.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = ""]) => file);
    expect(linked).not.toEqual([]);
    for (const file of linked) expect(globSync(file, { cwd: root }), file).toHaveLength(1);
  });
});
