import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { type LineTarget, LogSink, type LogSinkOptions, standardOutput } from "./log-sink.ts";
import { RotatingFile, type RotationLimits } from "./rotating-file.ts";
import { eventOf } from "./testing.ts";

const event = (text: string, truncated?: string) => eventOf([text], truncated);

/** Writes only when it is let. */
function target(): LineTarget & { readonly writes: string[]; next(error?: Error): Promise<void> } {
  const writes: string[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const arrivals: (() => void)[] = [];
  return {
    writes,
    close: async () => {},
    write: (lines) => {
      writes.push(Buffer.concat(lines).toString());
      const gate = Promise.withResolvers<void>();
      waiting.push(gate);
      arrivals.shift()?.();
      return gate.promise;
    },
    async next(error) {
      if (waiting.length === 0) await new Promise<void>((resolve) => arrivals.push(resolve));
      const gate = waiting.shift();
      if (error === undefined) gate?.resolve();
      else gate?.reject(error);
    },
  };
}

describe("events on their way to the log", () => {
  const start = (options: Partial<LogSinkOptions> = {}) => {
    const to = target();
    const lost: string[] = [];
    const clock = new VirtualClock();
    const sink = new LogSink({
      mode: "batch",
      target: to,
      bufferSize: 3,
      failed: (plugin, _, events) => void lost.push(`${plugin} ${events}`),
      clock,
      ...options,
    });
    return { sink, to, lost, clock };
  };

  it("are written together, in order", async () => {
    const { sink, to } = start();
    sink.push(event("a"));
    sink.push(eventOf(["b", Buffer.from("c"), "d"]));
    await to.next();
    await sink.written();
    expect(to.writes).toEqual(["a\nbcd\n"]);
  });

  it("wait while others are written, and are waited for", async () => {
    const { sink, to } = start();
    const done: string[] = [];
    sink.push(event("a"));
    const first = sink.written().then(() => done.push("first"));
    await to.next();
    await first;
    sink.push(event("b"));
    sink.push(event("c"));
    const second = sink.written().then(() => done.push("second"));
    expect(done).toEqual(["first"]);
    await to.next();
    await second;
    expect(to.writes).toEqual(["a\n", "b\nc\n"]);
  });

  it("are lost if too many wait, unless requests wait for them", async () => {
    const { sink, to, lost } = start();
    for (const text of ["a", "b", "c", "d"]) sink.push(event(text));
    await to.next();
    await sink.written();
    expect([to.writes, lost]).toEqual([["a\nb\nc\n"], ["buffered 1"]]);
    const patient = start({ mode: "blocking" });
    for (const text of ["a", "b", "c", "d"]) patient.sink.push(event(text));
    await patient.to.next();
    expect([await patient.sink.written(), patient.lost]).toEqual([true, []]);
  });

  it("are told to be lost if they cannot be written", async () => {
    const { sink, to, lost } = start({ mode: "blocking" });
    sink.push(event("a"));
    const written = sink.written();
    await to.next(new Error("no space left"));
    expect([await written, lost]).toEqual([false, ["log 1"]]);
  });

  it("lose their objects if they are too large, or are lost", async () => {
    const { sink, to, lost } = start({ truncation: { maxEventBytes: 3, maxBatchBytes: 9 } });
    sink.push(event("abc"));
    sink.push(event("large", "cut"));
    sink.push(event("large", "still large"));
    await to.next();
    await sink.written();
    expect([to.writes, lost]).toEqual([["abc\ncut\n"], ["truncate 1"]]);
  });

  it("are gathered for a moment, unless requests wait for them, somebody asks, or there are many", async () => {
    const { sink, to, clock } = start({ bufferSize: 30 });
    sink.push(event("a"));
    await settled();
    sink.push(event("b"));
    await clock.advance(99);
    expect(to.writes).toEqual([]);
    await clock.advance(1);
    await to.next();
    sink.push(event("c"));
    const asked = sink.written();
    await to.next();
    await asked;
    for (const text of ["d", "e", "f"]) sink.push(event(text));
    await to.next();
    expect(to.writes).toEqual(["a\nb\n", "c\n", "d\ne\nf\n"]);
    const waited = start({ mode: "blocking" });
    waited.sink.push(event("a"));
    await waited.to.next();
    expect(waited.to.writes).toEqual(["a\n"]);
  });

  it("are gathered anew while others are written", async () => {
    const { sink, to, clock } = start({ bufferSize: 30 });
    sink.push(event("a"));
    await clock.advance(100);
    sink.push(event("b"));
    await to.next();
    await settled();
    sink.push(event("c"));
    await clock.advance(100);
    await to.next();
    await sink.close();
    expect(to.writes).toEqual(["a\n", "b\nc\n"]);
  });

  it("are all written when it closes", async () => {
    const { sink, to } = start();
    sink.push(event("a"));
    const closing = sink.close();
    await to.next();
    await closing;
    expect(to.writes).toEqual(["a\n"]);
  });

  it("may go to the standard output", async () => {
    let text = "";
    const stream = new Writable({
      write: (chunk, _, done) => {
        text += chunk;
        done();
      },
    });
    await standardOutput(stream).write([Buffer.from("a\n"), Buffer.from("b\n")]);
    expect(text).toBe("a\nb\n");
  });
});

describe("a log file", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "audit-log-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const clock = new VirtualClock();
  const open = (limits: Partial<RotationLimits> = {}) =>
    new RotatingFile(
      join(dir, "deep", "audit.log"),
      { maxBytes: 0, maxBackups: 0, maxAgeDays: 0, compress: false, ...limits },
      clock,
    );
  const files = () => readdirSync(join(dir, "deep")).sort();
  const read = (name: string) => readFileSync(join(dir, "deep", name), "utf8");
  const line = (letter: string, bytes = 10) => Buffer.from(`${letter.repeat(bytes - 1)}\n`);

  it("is made for its owner alone, and continued", async () => {
    for (const letter of ["a", "b"]) {
      const file = open();
      await file.write([line(letter)]);
      await file.close();
    }
    expect(read("audit.log")).toBe("aaaaaaaaa\nbbbbbbbbb\n");
    expect(statSync(join(dir, "deep", "audit.log")).mode & 0o777).toBe(0o600);
  });

  it("is put aside when it is full, between two lines", async () => {
    const file = open({ maxBytes: 25 });
    await file.write(["a", "b", "c", "d", "e"].map((letter) => line(letter)));
    await file.close();
    expect(files()).toEqual(["audit-2030-01-01T00-00-00.000.log", "audit-2030-01-01T00-00-00.001.log", "audit.log"]);
    expect(files().map(read)).toEqual(["aaaaaaaaa\nbbbbbbbbb\n", "ccccccccc\nddddddddd\n", "eeeeeeeee\n"]);
  });

  it("counts what was there before, and takes a line that is too long for any file", async () => {
    const before = open();
    await before.write([line("a", 20)]);
    await before.close();
    const file = open({ maxBytes: 25 });
    await file.write([line("b"), line("c", 40)]);
    await file.close();
    expect(files().map((name) => read(name).length)).toEqual([20, 10, 40]);
  });

  it("is removed when it is one of too many, or too old", async () => {
    const file = open({ maxBytes: 10, maxBackups: 2 });
    await file.write(["a", "b", "c", "d"].map((letter) => line(letter)));
    await file.close();
    expect(files().map(read).join("")).toBe("bbbbbbbbb\nccccccccc\nddddddddd\n");
    writeFileSync(join(dir, "deep", "audit-2029-12-01T00-00-00.000.log"), "old");
    writeFileSync(join(dir, "deep", "audit-notes.log"), "not one of them");
    const aged = open({ maxBytes: 10, maxAgeDays: 7 });
    await aged.write([line("e")]);
    await aged.close();
    expect(files()).not.toContain("audit-2029-12-01T00-00-00.000.log");
    expect(files()).toContain("audit-notes.log");
  });

  it("is never put aside where it is no file, such as a device", async () => {
    mkdirSync(join(dir, "deep"));
    symlinkSync("/dev/null", join(dir, "deep", "audit.log"));
    const file = open({ maxBytes: 10 });
    await file.write(["a", "b", "c"].map((letter) => line(letter)));
    await file.close();
    expect(files()).toEqual(["audit.log"]);
    expect(lstatSync(join(dir, "deep", "audit.log")).isSymbolicLink()).toBe(true);
  });

  it("may be compressed when it is put aside", async () => {
    const file = open({ maxBytes: 10, compress: true });
    await file.write(["a", "b"].map((letter) => line(letter)));
    await file.close();
    expect(files()).toEqual(["audit-2030-01-01T00-00-00.000.log.gz", "audit.log"]);
    expect(gunzipSync(readFileSync(join(dir, "deep", files()[0] ?? ""))).toString()).toBe("aaaaaaaaa\n");
  });
});
