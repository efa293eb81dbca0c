/** Tables of folders and files in READMEs are true to the tree. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, sources } from "../layers/imports.ts";
import { rooms } from "../layers/table.ts";
import { pathsIn, tablesIn } from "./markdown-tables.ts";

/** The heads of tables that list what is in the README's own folder: "folder", "room or file", "file". */
const OF_TREE = /^(?:folder|room|file)\b/;
const OF_FOLDERS = /\b(?:folder|room)\b/;

/** A folder for each controller: all-controllers.ts lists them. */
const OF_CONTROLLERS = "controllers";

const readmes = globSync("src/**/README.md", { cwd: root }).sort();

function listed(readme: string): { readonly paths: readonly string[]; readonly ofFolders: boolean } {
  const tables = tablesIn(readFileSync(join(root, readme), "utf8"));
  const ofTree = tables.filter(({ subject }) => OF_TREE.test(subject));
  return {
    paths: ofTree.flatMap(({ rows }) => rows.flatMap(([first = ""]) => pathsIn(first))),
    ofFolders: ofTree.some(({ subject }) => OF_FOLDERS.test(subject)),
  };
}

/** `plan`, `plan.ts`, `plan/`, `plan/README.md` or a pattern such as `why-*.ts`. */
function exists(folder: string, path: string): boolean {
  const place = join(root, folder, path);
  if (path.includes("*") || path.includes("{")) return globSync(place).length > 0;
  return existsSync(place) || existsSync(`${place}.ts`) || existsSync(`${place}.tsx`);
}

/** The folders directly below `folder` that hold sources. */
function roomsOf(folder: string): string[] {
  const inside = sources.filter((file) => file.startsWith(`${folder}/`)).map((file) => file.slice(folder.length + 1));
  return [...new Set(inside.filter((file) => file.includes("/")).map((file) => file.split("/")[0] ?? ""))].sort();
}

describe("READMEs", () => {
  it.each(readmes)("%s lists only what exists", (readme) => {
    const folder = dirname(readme);
    expect(listed(readme).paths.filter((path) => !exists(folder, path))).toEqual([]);
  });

  it.each(readmes.filter((readme) => listed(readme).ofFolders))("%s lists every room of its folder", (readme) => {
    const named = listed(readme).paths.map((path) => path.split("/")[0]);
    expect(roomsOf(dirname(readme)).filter((room) => !named.includes(room))).toEqual([]);
  });

  const named = Object.entries(rooms).filter(([folder]) => folder !== OF_CONTROLLERS);
  it.each(named)("src/%s/README.md names all of its rooms", (folder, order) => {
    const text = readFileSync(join(root, "src", folder, "README.md"), "utf8");
    expect(order.filter((room) => !text.includes(room))).toEqual([]);
  });
});

describe("tables of a page", () => {
  const page =
    "| Room | what |\n| --- | --- |\n| `a`, `b/` | x |\n| [c](c/README.md) | y |\n| d.ts e | z |\n\n| not a table |\n";

  it("are found with their first cells", () => {
    const [table, ...rest] = tablesIn(page);
    expect(rest).toEqual([]);
    expect(table?.subject).toBe("room");
    expect(table?.rows.map(([first = ""]) => pathsIn(first))).toEqual([["a", "b/"], ["c/README.md"], ["d.ts", "e"]]);
  });
});
