import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seededRandom, VirtualClock } from "#base";
import { type Payload, writeAtomically } from "./atomic-writer.ts";

let volume: string;
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), "k8ts-volume-"));
});
afterEach(() => rmSync(volume, { recursive: true, force: true }));

const context = { clock: new VirtualClock(), random: seededRandom(1) };
const payload = (files: Record<string, string>, mode = 0o644): Payload =>
  new Map(Object.entries(files).map(([path, text]) => [path, { bytes: Buffer.from(text), mode }]));
const write = (files: Record<string, string>, mode?: number) => writeAtomically(volume, payload(files, mode), context);
const seen = () =>
  readdirSync(volume)
    .filter((name) => !name.startsWith(".."))
    .sort();
const read = (path: string) => readFileSync(join(volume, path), "utf8");

describe("files of a volume", () => {
  it("appear as links into one directory that is swapped", async () => {
    expect(await write({ a: "1", "dir/b": "2" })).toBe(true);
    expect(seen()).toEqual(["a", "dir"]);
    expect([read("a"), read("dir/b")]).toEqual(["1", "2"]);
    expect(readlinkSync(join(volume, "a"))).toBe("..data/a");
    const before = readlinkSync(join(volume, "..data"));
    expect(await write({ a: "3", c: "4" })).toBe(true);
    expect(seen()).toEqual(["a", "c"]);
    expect(read("a")).toBe("3");
    expect(readlinkSync(join(volume, "..data"))).not.toBe(before);
    expect(readdirSync(volume).filter((name) => name.startsWith("..2"))).toHaveLength(1);
  });

  it("are not written again if nothing has changed", async () => {
    await write({ a: "1" });
    const before = readlinkSync(join(volume, "..data"));
    expect(await write({ a: "1" })).toBe(false);
    expect(readlinkSync(join(volume, "..data"))).toBe(before);
    expect(await write({ a: "1" }, 0o600 | 0o111)).toBe(true);
  });

  it("have the mode that was asked for, whatever the process's mask", async () => {
    await write({ a: "1" }, 0o466);
    expect(statSync(join(volume, "a")).mode & 0o777).toBe(0o466);
  });

  it("may all go", async () => {
    await write({ a: "1" });
    await write({});
    expect(seen()).toEqual([]);
  });

  it("a write that was interrupted is made good", async () => {
    await write({ a: "1" });
    symlinkSync("nowhere", join(volume, "..data_tmp"));
    writeFileSync(join(volume, "..2029_left"), "");
    await write({ a: "2" });
    expect(
      readdirSync(volume)
        .filter((name) => name.startsWith(".."))
        .sort(),
    ).toEqual([readlinkSync(join(volume, "..data")), "..data"].sort());
  });

  it.each(["../a", "/a", "a/../b", "..a", ""])("the path %j is refused", async (path) => {
    await expect(write({ [path]: "x" })).rejects.toThrow(/invalid path/);
    expect(readdirSync(volume)).toEqual([]);
  });
});
