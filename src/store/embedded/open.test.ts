import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLogger, realClock } from "#base";
import { isStoreError, type StoreErrorCode } from "../model/errors.ts";
import { Journal } from "./journal.ts";
import { openEmbeddedStore } from "./open.ts";
import { readStamp, writeStamp } from "./stamp.ts";
import { Tables } from "./tables.ts";
import { fill, hashes, openIn, scratchDir } from "./testing/scratch.ts";

const KEYS = 3000;

/** A store that was closed cleanly, with history and a compacted part. */
async function closedStore(): Promise<string> {
  const dir = join(scratchDir(), "store");
  const store = await openIn(dir);
  await fill(store, KEYS, 1000);
  await Promise.all(Array.from({ length: 500 }, (_, i) => store.update(`/k/${i}`, Buffer.from(`updated ${i}`), i + 1)));
  await store.compact(KEYS + 100);
  await store.close();
  return dir;
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
}

const garbage = (length: number): Buffer => Buffer.alloc(length, "garbage!");

async function failure(dir: string) {
  const error = await openIn(dir).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isStoreError(error)) throw new Error("The open should have failed with a StoreError.", { cause: error });
  return error;
}

describe("damaged data is refused and left as it is", () => {
  const cases: readonly {
    name: string;
    damage: (data: string, dir: string) => void | Promise<void>;
    says: RegExp;
    code?: StoreErrorCode;
  }[] = [
    { name: "a garbage header", damage: (data) => overwrite(data, 0, garbage(8192)), says: /not an LMDB file/ },
    {
      name: "a garbage second meta page",
      damage: (data) => overwrite(data, 4096, garbage(4096)),
      says: /not an LMDB file/,
    },
    { name: "a file cut in half", damage: (data) => truncateSync(data, 1_000_000), says: /outside of the file/ },
    { name: "a file cut to its first bytes", damage: (data) => truncateSync(data, 100), says: /too short/ },
    { name: "an empty file", damage: (data) => truncateSync(data, 0), says: /too short/ },
    { name: "no file", damage: (data) => rmSync(data), says: /data\.mdb is missing/ },
    {
      name: "garbage in the middle",
      damage: (data) => overwrite(data, 100 * 4096, garbage(2_000_000)),
      says: /page \d+/,
    },
    {
      name: "zeros in the middle",
      damage: (data) => overwrite(data, 100 * 4096, Buffer.alloc(2_000_000)),
      says: /page \d+/,
    },
    {
      name: "a changed value",
      damage: (data) => replaceAll(data, "updated 321", "Updated 321"),
      says: /revision 3322: its checksum/,
    },
    {
      name: "a garbage header under a stamp that claims a clean close",
      damage(data, dir) {
        overwrite(data, 0, garbage(4096));
        writeStamp(dir, "closed", "01234567-89ab-4def-8123-456789abcdef");
      },
      says: /not an LMDB file/,
    },
    {
      name: "an LMDB file of something else",
      async damage(data, dir) {
        for (const path of [data, join(dir, "stamp.json")]) rmSync(path);
        const other = open<string, string>(dir, { noSubdir: false });
        await other.put("a", "b");
        await other.close();
      },
      says: /not the data of a store|a table is missing/,
    },
    {
      name: "an index that lacks a key",
      async damage(_, dir) {
        const root = open(dir, { noSubdir: false, maxDbs: 3, overlappingSync: false });
        const current = root.openDB<Buffer, Buffer>("current", { encoding: "binary", keyEncoding: "binary" });
        await current.remove(Buffer.from("/k/700"));
        await root.close();
      },
      says: /the index lacks keys/,
    },
    {
      name: "a log that lacks a revision",
      async damage(_, dir) {
        const tables = new Tables(dir);
        const state = tables.state();
        if (state !== undefined) await tables.commit({ added: [], dropped: [KEYS + 300], state });
        await tables.close();
      },
      says: /revisions after 3100 are missing|do not agree/,
    },
    {
      name: "a stamp of a newer format",
      damage: (_, dir) => writeFileSync(join(dir, "stamp.json"), '{"format":99,"storeId":"x","state":"closed"}'),
      says: /newer version \(format 99; this one knows 2\)/,
      code: "NewerFormat",
    },
    {
      name: "no journal after a crash",
      damage(_, dir) {
        for (const name of ["journal", "stamp.json"]) rmSync(join(dir, name));
      },
      says: /journal is missing or too short/,
    },
    {
      name: "a journal that was cut, after a crash",
      damage(_, dir) {
        truncateSync(join(dir, "journal"), 1_000_000);
        rmSync(join(dir, "stamp.json"));
      },
      says: /journal is missing or too short/,
    },
    {
      name: "a journal that lacks what the tables lack, after a crash",
      async damage(_, dir) {
        const { storeId } = readStamp(dir) ?? { storeId: "" };
        const journal = new Journal(join(dir, "journal"), storeId);
        const late = { key: "/late", value: Buffer.from("x"), previousRevision: 0 };
        const frame = journal.frame([{ ...late, revision: KEYS + 502, createRevision: KEYS + 502 }]);
        await journal.append(frame ?? Buffer.alloc(0), KEYS + 502);
        journal.close();
        rmSync(join(dir, "stamp.json"));
      },
      says: /journal lacks revision 3501 or a later one/,
    },
    {
      name: "data of a newer format without a stamp",
      async damage(_, dir) {
        const tables = new Tables(dir);
        const state = tables.state();
        if (state !== undefined) await tables.commit({ added: [], dropped: [], state: { ...state, format: 99 } });
        await tables.close();
        rmSync(join(dir, "stamp.json"));
      },
      says: /newer version \(format 99/,
      code: "NewerFormat",
    },
  ];

  it.each(cases)("$name", async ({ damage, says, code = "Corrupt" }) => {
    const dir = await closedStore();
    await damage(join(dir, "data.mdb"), dir);
    const before = hashes(dir);
    const error = await failure(dir);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(says);
    expect(error.message).toContain(dir);
    expect(error.message).toContain("It was left untouched.");
    expect(hashes(dir)).toEqual(before);
  });

  it("and a path that is no directory", async () => {
    const path = join(scratchDir(), "file");
    writeFileSync(path, "precious");
    const error = await failure(path);
    expect(error.code).toBe("Unavailable");
    expect(error.message).toContain("Choose another --data-dir");
    expect(readFileSync(path, "utf8")).toBe("precious");
  });
});

describe("sound data is opened", () => {
  const cases: readonly {
    name: string;
    change: (dir: string) => void | Promise<void>;
    checked: boolean;
  }[] = [
    { name: "after a clean close, without being checked", change: () => {}, checked: false },
    { name: "without a stamp", change: (dir) => rmSync(join(dir, "stamp.json")), checked: true },
    { name: "with a garbage stamp", change: (dir) => writeFileSync(join(dir, "stamp.json"), "{"), checked: true },
    {
      name: "with a stamp of another shape",
      change: (dir) => writeFileSync(join(dir, "stamp.json"), "[]"),
      checked: true,
    },
    { name: "without LMDB's own lock file", change: (dir) => rmSync(join(dir, "lock.mdb")), checked: false },
    { name: "without its journal, after a clean close", change: (dir) => rmSync(join(dir, "journal")), checked: false },
    {
      name: "of format 1, which had no journal, after a clean close",
      change: (dir) => toFormat1(dir, true),
      checked: false,
    },
    { name: "of format 1, which had no journal, after a crash", change: (dir) => toFormat1(dir, false), checked: true },
  ];

  it.each(cases)("$name", async ({ change, checked }) => {
    const dir = await closedStore();
    await change(dir);
    const lines: string[] = [];
    const clock = realClock();
    const log = createLogger({ write: (text) => lines.push(text), format: "json", level: "info", clock });
    const store = await openIn(dir, { clock, log });
    expect(await store.revision()).toBe(KEYS + 500);
    expect(await store.count("/k/")).toBe(KEYS);
    expect(lines.some((line) => line.includes("has been checked and is sound"))).toBe(checked);
    expect(readStamp(dir)).toMatchObject({ format: 2, state: "open" });
    await store.create("/one/more", Buffer.from("x"));
    await store.close();
    expect(readStamp(dir)).toMatchObject({ format: 2, state: "closed" });
    expect(await (await openIn(dir)).count("")).toBe(KEYS + 1);
  });

  it("and creation that was interrupted starts anew", async () => {
    const dir = await closedStore();
    overwrite(join(dir, "data.mdb"), 0, garbage(8192));
    writeStamp(dir, "creating", "01234567-89ab-4def-8123-456789abcdef");
    const store = await openIn(dir);
    expect(await store.revision()).toBe(0);
  });

  it("in directories with a dot in their name", async () => {
    const dir = join(scratchDir(), "my.store");
    const store = await openIn(dir);
    await fill(store, 10, 10);
    expect(existsSync(join(dir, "data.mdb"))).toBe(true);
  });
});

it("a new store is for its owner alone", async () => {
  const dir = join(scratchDir(), "store");
  const store = await openIn(dir);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  await store.close();
});

describe("the lock", () => {
  it("keeps a second opening out, in the same process", async () => {
    const dir = scratchDir();
    const store = await openIn(dir);
    const error = await failure(dir);
    expect(error.code).toBe("Locked");
    expect(error.message).toMatch(
      new RegExp(`${dir} is in use by process ${process.pid} \\(since 20..-.*\\): stop it first or choose`),
    );
    await store.close();
    await openIn(dir);
  });

  it("keeps other processes out, until the holder dies", async () => {
    const dir = scratchDir();
    const program = `
      const { openEmbeddedStore } = await import(${JSON.stringify(join(import.meta.dirname, "open.ts"))});
      const { realClock } = await import("#base");
      const store = await openEmbeddedStore({ dir: process.argv[1], clock: realClock() });
      await store.create("/a", Buffer.from("x"));
      setInterval(() => store, 1000);
      console.log("open");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const before = hashes(dir);
    const error = await failure(dir);
    expect(error.code).toBe("Locked");
    expect(error.message).toContain(`process ${child.pid}`);
    expect(hashes(dir)).toEqual(before);

    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    const store = await openIn(dir);
    expect((await store.get("/a"))?.value.toString()).toBe("x");
  });

  it("is free after an open that failed", async () => {
    const dir = await closedStore();
    const stamp = readFileSync(join(dir, "stamp.json"));
    writeFileSync(join(dir, "stamp.json"), '{"format":99,"storeId":"x","state":"closed"}');
    for (let i = 0; i < 2; i++) expect((await failure(dir)).code).toBe("NewerFormat");
    writeFileSync(join(dir, "stamp.json"), stamp);
    await openEmbeddedStore({ dir, clock: realClock() }).then((store) => store.close());
  });
});

/** Makes it what the first version of the store would have left. */
async function toFormat1(dir: string, closed: boolean): Promise<void> {
  const tables = new Tables(dir);
  const state = tables.state();
  if (state !== undefined) await tables.commit({ added: [], dropped: [], state: { ...state, format: 1 } });
  await tables.close();
  rmSync(join(dir, "journal"));
  writeStamp(dir, closed ? "closed" : "open", state?.storeId ?? "");
  writeFileSync(join(dir, "stamp.json"), JSON.stringify({ ...readStamp(dir), format: 1 }));
}

function replaceAll(path: string, from: string, to: string): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at)) bytes.write(to, at);
  writeFileSync(path, bytes);
}
