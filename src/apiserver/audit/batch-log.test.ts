import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock, VirtualClock } from "#base";
import { BatchLog, type BatchLogOptions } from "./batch-log.ts";
import type { Piece } from "./event.ts";
import { Moment, Phrase, Said } from "./phrase.ts";
import { eventOf } from "./testing.ts";

const event = (...pieces: Piece[]) => eventOf(pieces);

let dir = "";
const open: BatchLog[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "batch-log-"));
});
afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(options: Partial<BatchLogOptions> = {}) {
  const lost: string[] = [];
  const path = join(dir, "audit.log");
  const log = new BatchLog({
    path,
    limits: { maxBytes: 0, maxBackups: 0, maxAgeDays: 0, compress: false },
    bufferSize: 100,
    failed: (plugin, error, events) => void lost.push(`${plugin} ${events}: ${(error as Error).message}`),
    clock: new VirtualClock(),
    ...options,
  });
  open.push(log);
  return { log, lost, read: () => readFileSync(path, "utf8") };
}

describe("a log that a thread of its own writes", () => {
  it("has every event as a line, in order, with phrases that were said before and texts of any letters", async () => {
    const { log, lost, read } = start();
    const [who, why] = [new Phrase('"who":"ann"'), new Phrase(',"why":"大"')];
    log.push(event("{", who, why, "}"));
    log.push(event("{", why, "", who, Buffer.from(',"object":{"ü":1}'), "}"));
    expect(await log.written()).toBe(true);
    log.push(event(who));
    await log.close();
    expect(read()).toBe('{"who":"ann","why":"大"}\n{,"why":"大""who":"ann","object":{"ü":1}}\n"who":"ann"\n');
    expect(lost).toEqual([]);
  });

  it("says again what the events of a request have in common, also when they go in different batches", async () => {
    const { log, read } = start();
    const [id, target] = [new Said("id-1"), new Said("/ü")];
    const [came, answered] = [new Moment(Date.UTC(2026, 0, 2, 3, 4, 5, 6)), new Moment(Date.UTC(2026, 0, 2, 3, 4, 7))];
    log.push(event(id, " ", target, " ", came));
    log.push(event(id, " ", target, " ", came, " ", answered));
    expect(await log.written()).toBe(true);
    log.push(event(answered, " ", target, " ", id, " ", target));
    await log.close();
    expect(read()).toBe(
      [
        "id-1 /ü 2026-01-02T03:04:05.006000Z",
        "id-1 /ü 2026-01-02T03:04:05.006000Z 2026-01-02T03:04:07.000000Z",
        "2026-01-02T03:04:07.000000Z /ü id-1 /ü",
        "",
      ].join("\n"),
    );
  });

  it("is the same with more phrases and texts than are kept at a time", async () => {
    const { log, read } = start({ bufferSize: 100_000 });
    const phrases = Array.from({ length: 12_000 }, (_, i) => new Phrase(`phrase ${i} `));
    const want: string[] = [];
    for (let round = 0; round < 2; round++) {
      for (const [i, phrase] of phrases.entries()) {
        log.push(event(phrase, `text ${i}`));
        want.push(`phrase ${i} text ${i}`);
      }
      await log.written();
    }
    await log.close();
    expect(read().trimEnd().split("\n")).toEqual(want);
  });

  it("is written when a moment has passed, or when much has been gathered", async () => {
    const clock = new VirtualClock();
    const { log, read } = start({ clock, bufferSize: 12 });
    const line = async (text: string) => expect.poll(() => read().includes(text), { timeout: 20_000 }).toBe(true);
    log.push(event("a"));
    await clock.advance(100);
    await line("a\n");
    for (const text of ["b", "c", "d"]) log.push(event(text));
    await line("a\nb\nc\nd\n");
  });

  it("loses what is more than its buffer, and what is too large, and says so", async () => {
    const { log, lost, read } = start({ bufferSize: 3, truncation: { maxEventBytes: 3, maxBatchBytes: 9 } });
    for (const text of ["a", "large", "b", "c", "d"]) log.push(event(text));
    await log.close();
    expect(read()).toBe("a\nb\nc\n");
    expect(lost).toEqual([
      "truncate 1: an event is too large even without its objects",
      "buffered 1: the buffer of audit events is full",
    ]);
  });

  it("is put aside when it is full", async () => {
    const limits = { maxBytes: 200_000, maxBackups: 0, maxAgeDays: 0, compress: false };
    const { log } = start({ limits, bufferSize: 100_000, clock: realClock() });
    for (let i = 0; i < 5_000; i++) log.push(event(`${i}`.padStart(99, "x")));
    await log.close();
    const files = readdirSync(dir).sort();
    expect(files.length).toBeGreaterThan(2);
    const text = files.map((file) => readFileSync(join(dir, file), "utf8"));
    expect(text.every((part) => part.length <= 200_000 && part.endsWith("\n"))).toBe(true);
    expect(text.join("").trimEnd().split("\n").length).toBe(5_000);
  });

  it("says why it cannot be written", async () => {
    const { log, lost } = start({ path: "/dev/full" });
    log.push(event("a"));
    expect(await log.written()).toBe(false);
    expect(lost).toEqual([expect.stringMatching(/^log 1: .*no space left/)]);
  });

  it("tells that its thread has ended, and goes on with another", async () => {
    const data: unknown[] = [];
    const { log, lost, read } = start({
      startWorker: (workerData) => {
        data.push(workerData);
        if (data.length === 1) return new Worker("throw new Error('a mistake')", { eval: true });
        return new Worker(new URL("./log-worker.ts", import.meta.url), { workerData });
      },
    });
    const phrase = new Phrase("again ");
    log.push(event(phrase, "a"));
    expect(await log.written()).toBe(false);
    log.push(event(phrase, "b"));
    expect(await log.written()).toBe(true);
    expect([lost, read()]).toEqual([["log 1: a mistake"], "again b\n"]);
  });
});
