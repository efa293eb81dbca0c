/** Rooms import each other in one direction, and are of a size that one can read. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Import, importsOf, root, sources } from "./imports.ts";
import { MAX_COMMENT_WIDTH, MAX_FILES_IN_A_ROOM, MAX_LINES_IN_A_FILE, rooms } from "./table.ts";

/** The room of `file` in `folder`, or undefined for a file beside the rooms. */
function roomOf(folder: string, file: string): string | undefined {
  const [room, ...rest] = relative(`src/${folder}`, file).split("/");
  return rest.length === 0 ? undefined : room;
}

function wrongRoom(folder: string, order: readonly string[], { file, target }: Import): string | undefined {
  const path = relative(root, resolve(root, dirname(file), target));
  if (!target.startsWith(".") || !path.startsWith(`src/${folder}/`)) return undefined;
  const from = roomOf(folder, file);
  const to = roomOf(folder, path);
  if (from === undefined || from === to) return undefined;
  if (to === undefined) return `${file}: a room may not import ${path}, which stands beside the rooms`;
  return order.indexOf(to) < order.indexOf(from) ? undefined : `${file}: ${from} may not import ${to} (${path})`;
}

/** Files of facts and types are written by scripts. */
const written = sources.filter((file) => !/\/facts\/|^src\/api\/types\//.test(file));

describe("rooms", () => {
  it.each(Object.entries(rooms))("the rooms of src/%s import only rooms before them", (folder, order) => {
    const inside = sources.filter((file) => file.startsWith(`src/${folder}/`));
    const found = new Set(inside.map((file) => roomOf(folder, file)).filter((room) => room !== undefined));
    expect([...found].sort()).toEqual([...order].sort());
    const wrong = inside.flatMap(importsOf).map((one) => wrongRoom(folder, order, one));
    expect(wrong.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it("no room has too many files", () => {
    const counts = Map.groupBy(written, dirname);
    const large = [...counts].filter(([, files]) => files.length > MAX_FILES_IN_A_ROOM);
    expect(large.map(([room, files]) => `${room} has ${files.length} files`)).toEqual([]);
  });

  it("no file is too long", () => {
    const long = written
      .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES_IN_A_FILE);
    expect(long.map(({ file, lines }) => `${file} has ${lines} lines`)).toEqual([]);
  });

  it("no comment is too wide", () => {
    const wide = written.flatMap((file) =>
      readFileSync(join(root, file), "utf8")
        .split("\n")
        .flatMap((line, i) =>
          /^\s*(\*|\/\/|\/\*)/.test(line) && line.length > MAX_COMMENT_WIDTH ? [`${file}:${i + 1}`] : [],
        ),
    );
    expect(wide).toEqual([]);
  });

  it.each([
    ["src/x/a/one.ts", "../b/two.ts", "a may not import b"],
    ["src/x/a/one.ts", "../index.ts", "stands beside the rooms"],
  ])("%s importing %s is refused", (file, target, problem) => {
    expect(wrongRoom("x", ["a", "b"], { file, target })).toContain(problem);
  });

  it.each([
    ["src/x/b/one.ts", "../a/two.ts"],
    ["src/x/index.ts", "./b/two.ts"],
    ["src/x/a/one.ts", "./deeper/two.ts"],
  ])("%s may import %s", (file, target) => {
    expect(wrongRoom("x", ["a", "b"], { file, target })).toBeUndefined();
  });
});
