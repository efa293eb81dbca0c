import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { padding, type TarEntry, tar, tarEnd, tarHeader } from "./tar.ts";

const long = `${"a".repeat(90)}/${"b".repeat(90)}`;
const entries: TarEntry[] = [
  { path: "bin", type: "directory" },
  { path: "bin/tool", type: "file", content: Buffer.from("#!x"), mode: 0o755 },
  { path: "bin/link", type: "symlink", target: "tool" },
  { path: "tmp", type: "directory", mode: 0o1777 },
  { path: long, type: "file", content: Buffer.alloc(512, "y") },
];

describe("tar", () => {
  it.skipIf(spawnSync("tar", ["--version"]).status !== 0)("is read by tar", () => {
    const { stdout } = spawnSync("tar", ["-tvf", "-", "--numeric-owner"], { input: tar(entries), encoding: "utf8" });
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.replace(/\s+/g, " ")),
    ).toEqual([
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/",
      "-rwxr-xr-x 0/0 3 1970-01-01 00:00 bin/tool",
      "lrwxr-xr-x 0/0 0 1970-01-01 00:00 bin/link -> tool",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
      `-rw-r--r-- 0/0 512 1970-01-01 00:00 ${long}`,
    ]);
    const one = spawnSync("tar", ["-xOf", "-", "bin/tool"], { input: tar(entries), encoding: "utf8" });
    expect(one.stdout).toBe("#!x");
  });

  it("has the same bytes for the same content, in whole blocks", () => {
    expect(tar(entries)).toEqual(tar(entries));
    expect(tar(entries).length % 512).toBe(0);
  });

  it("can be written piece by piece", () => {
    const content = Buffer.from("hello");
    const pieces = [tarHeader({ path: "a", type: "file", bytes: 5 }), content, padding(5), tarEnd()];
    expect(Buffer.concat(pieces)).toEqual(tar([{ path: "a", type: "file", content }]));
  });

  it.each(["c".repeat(101), `${"p".repeat(200)}/x`])("has no room for %s", (path) => {
    expect(() => tarHeader({ path, type: "directory" })).toThrow("no room for the path");
  });
});
