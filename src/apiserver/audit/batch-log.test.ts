import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { realClock, VirtualClock } from "#base";
import { BatchLog, type BatchLogOptions } from "./batch-log.ts";
import type { AuditEvent, Piece } from "./event.ts";
import { type Blanks, Form, filled } from "./line-template.ts";
import { RequestIds } from "./ids.ts";
import { eventOf } from "./testing.ts";

const event = (...pieces: Piece[]) => eventOf(pieces);
const asking = (id: string, isNamed: boolean, receivedMs = 0): Blanks => ({ id, isNamed, receivedMs });
const form = (word: string) => new Form(`${word} `, " asks ", " for ", " at ", ", ", `: ${word}`);

function filling(...line: Parameters<typeof filled>): AuditEvent {
  return { tell: (listener) => listener.fill(...line), truncated: () => undefined };
}

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
  it("has every event as a line, in order, spelled out or as a form that is filled in, with texts of any letters", async () => {
    const { log, lost, read } = start();
    const [small, large] = [form("small"), form("大")];
    log.push(event('{"who":"ann"', Buffer.from(',"object":{"ü":1}'), "}"));
    log.push(filling(small, asking("id-1", true), "b", 5));
    log.push(event("{}"));
    log.push(filling(large, asking("id-2", false), "sent", 6));
    expect(await log.written()).toBe(true);
    log.push(filling(small, asking("id-3", true, 7), "", 8));
    await log.close();
    expect(read().split("\n")).toEqual([
      '{"who":"ann","object":{"ü":1}}',
      "small id-1 asks b for b at 1970-01-01T00:00:00.000000Z, 1970-01-01T00:00:00.005000Z: small",
      "{}",
      "大 id-2 asks  for sent at 1970-01-01T00:00:00.000000Z, 1970-01-01T00:00:00.006000Z: 大",
      "small id-3 asks  for  at 1970-01-01T00:00:00.007000Z, 1970-01-01T00:00:00.008000Z: small",
      "",
    ]);
    expect(lost).toEqual([]);
  });

  it("says again what the events of a request have in common, also when they go in different batches", async () => {
    const { log, read } = start();
    const [first, last, one] = [form("first"), form("last"), asking("id-1", true, Date.UTC(2026, 0, 2))];
    log.push(filling(first, one, "b", 1));
    log.push(filling(last, one, "b", 2));
    expect(await log.written()).toBe(true);
    log.push(filling(last, one, "c", 3));
    await log.close();
    const want = [filled(first, one, "b", 1), filled(last, one, "b", 2), filled(last, one, "c", 3), ""];
    expect(read().split("\n")).toEqual(want);
  });

  it("has both lines of a request that is answered at once, whatever comes before and after", async () => {
    const { log, lost, read } = start();
    const [came, done] = [form("came"), form("done")];
    const want: string[] = [];
    const tell = (...line: Parameters<typeof filled>) => {
      log.push(filling(...line));
      want.push(filled(...line));
    };
    const tellBoth = (blanks: Blanks, name: string, atMs: number) => {
      expect(log.pushBoth(done.after(came), blanks, name, atMs)).toBe(true);
      want.push(filled(came, blanks, name, blanks.receivedMs), filled(done, blanks, name, atMs));
    };
    const [one, two, three] = [asking("id-1", true, 5), asking("id-22", true, 6), asking("id-3", false, 7)];
    tellBoth(one, "b", 5);
    tell(came, two, "bc", 6);
    tellBoth(one, "b", 9);
    tell(came, three, "", 7);
    tellBoth(two, "bc", 8);
    log.push(event("spelled"));
    want.push("spelled");
    tell(done, three, "new", 8);
    expect(await log.written()).toBe(true);
    tellBoth(three, "", 10);
    await log.close();
    expect(read().split("\n")).toEqual([...want, ""]);
    expect(lost).toEqual([]);
  });

  it("has ids that were made for it, however many, and others between them", async () => {
    const ids = new RequestIds();
    const { log, read } = start({ ids, bufferSize: 10_000 });
    const [one, want] = [form("one"), [] as string[]];
    for (let i = 0; i < 700; i++) {
      const [before, id] = [ids.next(), i % 5 === 0 ? `id-${i}` : ids.next()];
      for (const each of i % 3 === 0 ? [id, before] : [id]) {
        const line = [one, asking(each, i % 2 === 0, i), `name-${i}`, i] as const;
        log.push(filling(...line));
        want.push(filled(...line));
      }
      if (i === 300) await log.written();
    }
    await log.close();
    expect(read().split("\n")).toEqual([...want, ""]);
  });

  it("is written by a thread that is nicer than the others", async () => {
    const before = getPriority();
    const niceness = () =>
      readdirSync("/proc/self/task").map((id) =>
        Number(readFileSync(`/proc/self/task/${id}/stat`, "utf8").split(") ")[1]?.split(" ")[16]),
      );
    const usual = niceness().filter((nice) => nice > before).length;
    const { log } = start();
    log.push(event("x"));
    await log.written();
    expect(niceness().filter((nice) => nice === Math.min(before + 5, 19)).length).toBe(usual + 1);
    expect(getPriority()).toBe(before);
  });

  it("takes both lines or none of them", async () => {
    const { log, read } = start({ bufferSize: 3, clock: new VirtualClock() });
    const both = form("done").after(form("came"));
    const one = asking("id-1", true, 5);
    expect([1, 2].map(() => log.pushBoth(both, one, "b", 6))).toEqual([true, false]);
    const cut = start({ truncation: { maxEventBytes: 100, maxBatchBytes: 100 } });
    expect(cut.log.pushBoth(both, one, "b", 6)).toBe(false);
    await log.close();
    expect(read().trimEnd().split("\n").length).toBe(2);
  });

  it("is the same with more forms and texts than are kept at a time, and with lines of any length", async () => {
    const { log, read } = start({ bufferSize: 100_000 });
    const forms = Array.from({ length: 6_000 }, (_, i) => form(`form ${i}`));
    const want: string[] = [];
    for (let round = 0; round < 2; round++) {
      for (const [i, one] of forms.entries()) {
        const long = "x".repeat(i % 1000 === 0 ? 100_000 : i % 50);
        const line = [one, asking(`id-${i}`, i % 3 === 0), `${long}${i}`, i] as const;
        log.push(filling(...line));
        if (i % 7 === 0) log.push(event("-", long));
        want.push(filled(...line), ...(i % 7 === 0 ? [`-${long}`] : []));
      }
      await log.written();
    }
    await log.close();
    expect(read().split("\n")).toEqual([...want, ""]);
  });

  it("is written when a moment has passed, or when much has been gathered", async () => {
    const clock = new VirtualClock();
    const { log, read } = start({ clock, bufferSize: 12 });
    const line = async (text: string) => expect.poll(() => read().includes(text)).toBe(true);
    log.push(event("a"));
    await clock.advance(100);
    await line("a\n");
    for (const text of ["b", "c", "d"]) log.push(event(text));
    await line("a\nb\nc\nd\n");
  });

  it("is handed over less often when many come, but once in a second", async () => {
    const clock = new VirtualClock();
    const handed = vi.fn<(message: unknown) => void>();
    const { log, read } = start({
      clock,
      bufferSize: 1_000_000,
      startWorker: (workerData) => {
        const worker = new Worker(new URL("./log-worker.ts", import.meta.url), { workerData });
        const post = worker.postMessage.bind(worker);
        worker.postMessage = (...message: Parameters<typeof post>) => {
          handed(message);
          post(...message);
        };
        return worker;
      },
    });
    const come = (events: number) => {
      for (let i = 0; i < events; i++) log.push(event("x"));
    };
    come(2_000);
    for (let tenths = 1; tenths < 10; tenths++) {
      await clock.advance(100);
      come(100);
    }
    expect(handed).not.toHaveBeenCalled();
    await clock.advance(100);
    expect(handed).toHaveBeenCalledTimes(1);
    come(1_999);
    await clock.advance(100);
    expect(handed).toHaveBeenCalledTimes(2);
    await log.close();
    expect(read()).toBe("x\n".repeat(4_899));
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
    const [again, one] = [form("again"), asking("id", false)];
    log.push(filling(again, one, "a", 1));
    expect(await log.written()).toBe(false);
    log.push(filling(again, one, "a", 2));
    expect(await log.written()).toBe(true);
    expect([lost, read()]).toEqual([["log 1: a mistake"], `${filled(again, one, "a", 2)}\n`]);
  });
});
