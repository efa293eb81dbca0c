import { describe, expect, it } from "vitest";
import { VirtualClock } from "../system/virtual-clock.ts";
import { createLogger, type LoggerOptions } from "./log.ts";

function setUp(options: Partial<LoggerOptions>) {
  const written: { text: string; level: string }[] = [];
  const clock = new VirtualClock(Date.UTC(2030, 4, 6, 7, 8, 9, 10));
  const write: LoggerOptions["write"] = (text, level) => written.push({ text, level });
  const log = createLogger({ write, format: "zap", level: "info", clock, ...options });
  const json = () => written.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
  return { log, written, json, texts: () => written.map(({ text }) => text) };
}

describe("records as zap writes them", () => {
  it("have the keys that Kubernetes' components write, in their order", () => {
    const { log, json } = setUp({ verbosity: 6 });
    log.info("Ready", { port: 6443 });
    log.child({ controller: "job" }).verbose(6, "Synced", { key: "default/a" });
    log.error("Failed", { error: new TypeError("no"), attempt: 2 });
    log.warn("Odd", { error: new Error("hm") });
    const ts = Date.UTC(2030, 4, 6, 7, 8, 9, 10);
    const caller = expect.stringMatching(/^log\/go-formats\.test\.ts:\d+$/);
    expect(json()).toEqual([
      { ts, caller, msg: "Ready", v: 0, port: 6443 },
      { ts, logger: "job", caller, msg: "Synced", v: 6, key: "default/a" },
      { ts, caller, msg: "Failed", attempt: 2, err: "no", errVerbose: expect.stringContaining("TypeError: no\n") },
      { ts, caller, msg: "Odd", v: 0, err: "hm" },
    ]);
    expect(json().map((line) => Object.keys(line).join())).toEqual([
      "ts,caller,msg,v,port",
      "ts,logger,caller,msg,v,key",
      "ts,caller,msg,attempt,err,errVerbose",
      "ts,caller,msg,v,err",
    ]);
  });

  it("have no field that hides a part of the record", () => {
    const { log, json } = setUp({});
    log.info("a", { msg: "b", v: 7, ts: 1 });
    expect(json()).toMatchObject([{ msg: "a", msg_: "b", v: 0, v_: 7, ts_: 1 }]);
  });
});

describe("records as klog writes them", () => {
  it.each<{ name: string; fields: Record<string, unknown>; want: string }>([
    { name: "none", fields: {}, want: '"hello"' },
    {
      name: "texts, numbers, objects",
      fields: { a: "x y", b: 2, c: { d: [1] } },
      want: '"hello" a="x y" b=2 c={"d":[1]}',
    },
    { name: "an error", fields: { error: new Error("no"), a: true }, want: '"hello" a=true err="no"' },
    { name: "line breaks", fields: { a: "x\ny" }, want: '"hello" a="x\\ny"' },
    { name: "the logger's name", fields: { component: "queue" }, want: '"hello" logger="queue"' },
  ])("have fields: $name", ({ fields, want }) => {
    const { log, texts } = setUp({ format: "klog" });
    log.info("hello", fields);
    const pid = String(process.pid).padStart(7);
    const head = texts()[0]?.slice(0, texts()[0]?.indexOf("]"));
    expect(head).toMatch(new RegExp(`^I0506 07:08:09\\.010000 ${pid} go-formats\\.test\\.ts:\\d+$`));
    expect(texts()[0]?.slice((head?.length ?? 0) + 2)).toBe(`${want}\n`);
  });

  it("begin with the severity", () => {
    const { log, texts } = setUp({ format: "klog", verbosity: 4 });
    for (const level of ["debug", "info", "warn", "error"] as const) log[level]("x");
    expect(texts().map((text) => text[0])).toEqual(["I", "I", "W", "E"]);
  });
});

describe("verbosity", () => {
  it.each<{ verbosity: number; want: readonly string[] }>([
    { verbosity: 0, want: ["info"] },
    { verbosity: 3, want: ["info", "3"] },
    { verbosity: 4, want: ["info", "3", "debug"] },
    { verbosity: 9, want: ["info", "3", "debug", "6"] },
  ])("$verbosity shows $want", ({ verbosity, want }) => {
    const { log, json } = setUp({ verbosity });
    log.info("info");
    log.verbose(3, "3");
    log.debug("debug");
    log.verbose(6, "6");
    expect(json().map(({ msg }) => msg)).toEqual(want);
    expect([3, 4, 6].map((v) => log.enabled(v))).toEqual([3, 4, 6].map((v) => v <= verbosity));
  });

  it.each<{ pattern: string; child: Record<string, string>; want: boolean }>([
    { pattern: "job", child: { controller: "job" }, want: true },
    { pattern: "j?b*", child: { controller: "jobs" }, want: true },
    { pattern: "jo", child: { controller: "job" }, want: false },
    { pattern: "go-formats*", child: {}, want: true },
    { pattern: "other", child: {}, want: false },
    { pattern: "[job]", child: { controller: "j" }, want: false },
  ])("by pattern $pattern", ({ pattern, child, want }) => {
    const { log, written } = setUp({ patterns: [{ pattern, verbosity: 5 }] });
    const own = log.child(child);
    own.verbose(5, "seen");
    own.debug("seen, too");
    own.verbose(6, "never");
    expect(own.enabled(5)).toBe(want);
    expect(written).toHaveLength(want ? 2 : 0);
  });

  it("names the level of a record to `write`", () => {
    const { log, written } = setUp({ verbosity: 4 });
    log.debug("a");
    log.error("b");
    expect(written.map(({ level }) => level)).toEqual(["debug", "error"]);
  });
});
