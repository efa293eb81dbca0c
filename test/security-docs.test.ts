/** docs/security.md names a test for every attack: each of them is there. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { literals, type NamedTest, namedTest } from "./docs/test-titles.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Row extends NamedTest {
  readonly line: string;
}

const lines = read("docs/security.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (attack|endpoint|---) /.test(line));
const rows = lines.map((line): Row => ({ line, ...namedTest(line) }));

/** As the sources of the servers have them. */
function routePaths(): readonly string[] {
  const found = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, name = ""]) => name);
  const kubelet = read("src/kubelet/server/routes.ts");
  const paths = [
    ...found("src/apiserver/routes/routes.ts", /"(\/[\w./-]+)"/g),
    ...found("src/apiserver/flows/access.ts", /_PATH = "(\/[^"]+)"/g),
    ...found("src/apiserver/past/route.ts", /_PATH = "(\/[^"]+)"/g),
    ...found("src/apiserver/past/past.ts", /PREFIX = "(\/[^"]+)"/g),
    ...found("src/cluster/standalone/proxy-server.ts", /path === "(\/\w+)"/g),
    ...found("src/dashboard/server/routes.ts", /below(?:\.startsWith\(| === )"(\/\w+)/g),
    ...[...kubelet.slice(kubelet.lastIndexOf("table<Handler>")).matchAll(/^ {4}(\w+): /gm)].map(
      ([, name]) => `/${name}`,
    ),
    ...["exec", "attach", "portForward"].map((name) => `/${name}`),
  ];
  expect(paths.length).toBeGreaterThan(35);
  return [...new Set(paths.map((path) => path.replace(/\/$/, "")))];
}

describe("docs/security.md", () => {
  const known = new Map(
    [...new Set(rows.map(({ file }) => file))].map((file) => [file, literals(read(file || "package.json"))]),
  );

  it("has rows, each with a test, and none twice", () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ file, title }) => file === "" || title === "").map(({ line }) => line)).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it("names only tests that there are", () => {
    const missing = rows.filter(({ file, title }) => !known.get(file)?.has(title));
    expect(missing.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
  });

  it("has every path of every server that is not about a resource", () => {
    const endpoints = lines.join("\n").replaceAll(/`(?:GET|POST) /g, "`");
    const missing = routePaths().filter((path) => !endpoints.includes(`\`${path}`));
    expect(missing).toEqual([]);
  });

  it("speaks of every folder that decides who may do what", () => {
    const parts = ["authn", "authz", "admission", "custom-resources", "encryption"];
    expect(readdirSync(join(root, "src/apiserver"))).toEqual(expect.arrayContaining(parts));
    for (const part of parts)
      expect(
        rows.some(({ file }) => file.startsWith(`src/apiserver/${part}/`)),
        part,
      ).toBe(true);
  });
});
