import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { realClock, VirtualClock } from "#base";
import { BatchLog, type BatchLogOptions } from "./batch-log.ts";
import type { AuditEvent, Piece } from "./event.ts";
import { LineTemplate, type LineValues, lineFrom } from "./line-template.ts";
import { eventOf } from "./testing.ts";

const event = (...pieces: Piece[]) => eventOf(pieces);
const asking = (id: string, nameInUri: boolean, receivedMs = 0): LineValues => ({ id, nameInUri, receivedMs });
const template = (word: string) => new LineTemplate(`${word} `, " asks ", " for ", " at ", ", ", `: ${word}`);

type Line = readonly [LineTemplate, LineValues, name: string, atMs: number];
const eventFrom = (...line: Line): AuditEvent => ({
  writeTo: (receiver) => receiver.template(...line),
  truncated: () => undefined,
});
const textFrom = ({ texts }: LineTemplate, ...values: [LineValues, string, number]) => lineFrom(texts, ...values);

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
    const [small, large] = [template("small"), template("大")];
    log.push(event('{"who":"ann"', Buffer.from(',"object":{"ü":1}'), "}"));
    log.push(eventFrom(small, asking("id-1", true), "b", 5));
    log.push(event("{}"));
    log.push(eventFrom(large, asking("id-2", false), "sent", 6));
    expect(await log.written()).toBe(true);
    log.push(eventFrom(small, asking("id-3", true, 7), "", 8));
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
    const [first, last, one] = [template("first"), template("last"), asking("id-1", true, Date.UTC(2026, 0, 2))];
    log.push(eventFrom(first, one, "b", 1));
    log.push(eventFrom(last, one, "b", 2));
    expect(await log.written()).toBe(true);
    log.push(eventFrom(last, one, "c", 3));
    await log.close();
    const want = [textFrom(first, one, "b", 1), textFrom(last, one, "b", 2), textFrom(last, one, "c", 3), ""];
    expect(read().split("\n")).toEqual(want);
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

  it("is the same with more forms and texts than are kept at a time, and with lines of any length", async () => {
    const { log, read } = start({ bufferSize: 100_000 });
    const forms = Array.from({ length: 6_000 }, (_, i) => template(`form ${i}`));
    const want: string[] = [];
    for (let round = 0; round < 2; round++) {
      for (const [i, one] of forms.entries()) {
        const long = "x".repeat(i % 1000 === 0 ? 100_000 : i % 50);
        const line = [one, asking(`id-${i}`, i % 3 === 0), `${long}${i}`, i] as const;
        log.push(eventFrom(...line));
        if (i % 7 === 0) log.push(event("-", long));
        want.push(textFrom(...line), ...(i % 7 === 0 ? [`-${long}`] : []));
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
    const [again, one] = [template("again"), asking("id", false)];
    log.push(eventFrom(again, one, "a", 1));
    expect(await log.written()).toBe(false);
    log.push(eventFrom(again, one, "a", 2));
    expect(await log.written()).toBe(true);
    expect([lost, read()]).toEqual([["log 1: a mistake"], `${textFrom(again, one, "a", 2)}\n`]);
  });
});
