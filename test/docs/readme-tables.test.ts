/** Tables of folders and files in READMEs are true to the tree. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, sources } from "../layers/imports.ts";
import { rooms } from "../layers/table.ts";
import { pathsIn, tablesIn } from "./markdown-tables.ts";

/** The heads of tables that list what is in the README's own folder. */
const OF_FOLDERS = ["folder", "room"];
const OF_FILES = ["file", "file, folder", "folder or file", "folder, file", "start reading at"];

/** Not true to the tree yet: nothing is added here. */
const BEHIND: readonly string[] = [
  "src/apiserver/authn/README.md",
  "src/client/README.md",
  "src/flows/README.md",
  "src/kubelet/README.md",
  "src/kubelet/node/README.md",
  "src/kubelet/pod-status/README.md",
  "src/kubelet/pods/README.md",
  "src/store/README.md",
];

const readmes = globSync("src/**/README.md", { cwd: root })
  .filter((readme) => !BEHIND.includes(readme))
  .sort();

function listed(readme: string): { readonly paths: readonly string[]; readonly ofFolders: boolean } {
  const tables = tablesIn(readFileSync(join(root, readme), "utf8"));
  const ofTree = tables.filter(({ subject }) => OF_FOLDERS.includes(subject) || OF_FILES.includes(subject));
  return {
    paths: ofTree.flatMap(({ rows }) => rows.flatMap(([first = ""]) => pathsIn(first))),
    ofFolders: ofTree.some(({ subject }) => OF_FOLDERS.includes(subject)),
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

  const withRooms = Object.keys(rooms).map((folder) => `src/${folder}/README.md`);
  it.each(withRooms.filter((readme) => !BEHIND.includes(readme)))("%s has a table of its rooms", (readme) => {
    expect(listed(readme).ofFolders).toBe(true);
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
