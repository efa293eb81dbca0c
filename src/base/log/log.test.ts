import { describe, expect, it } from "vitest";
import { VirtualClock } from "../system/virtual-clock.ts";
import { createLogger, type LoggerOptions, silentLogger } from "./log.ts";

function setUp(options: Partial<LoggerOptions> = {}) {
  const written: string[] = [];
  const clock = new VirtualClock(Date.UTC(2030, 4, 6, 7, 8, 9, 10));
  const log = createLogger({ write: (text) => written.push(text), format: "json", level: "info", clock, ...options });
  return { log, written, json: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe("createLogger", () => {
  it("writes one JSON line for each record, with its fields", () => {
    const { log, written, json } = setUp();
    log.info("ready", { port: 6443, ok: true, none: undefined });
    log.error("two\nlines");
    expect(written.map((text) => text.split("\n").length)).toEqual([2, 2]);
    expect(json()).toEqual([
      { time: "2030-05-06T07:08:09.010Z", level: "info", message: "ready", port: 6443, ok: true },
      { time: "2030-05-06T07:08:09.010Z", level: "error", message: "two\nlines" },
    ]);
  });

  const levels = [
    { level: "debug", want: ["debug", "info", "warn", "error"] },
    { level: "info", want: ["info", "warn", "error"] },
    { level: "warn", want: ["warn", "error"] },
    { level: "error", want: ["error"] },
  ] as const;
  it.each(levels)("writes from level $level up", ({ level, want }) => {
    const { log, json } = setUp({ level });
    for (const each of ["debug", "info", "warn", "error"] as const) log[each](each);
    expect(json().map((record) => record.message)).toEqual(want);
  });

  it("children add their fields, the record's own win, and none hides the record", () => {
    const { log, json } = setUp();
    const child = log.child({ component: "queue", key: "a" }).child({ worker: 1 });
    child.warn("slow", { key: "b", level: "high", time: 5 });
    expect(json()).toMatchObject([
      { level: "warn", message: "slow", component: "queue", key: "b", worker: 1, level_: "high", time_: 5 },
    ]);
  });

  const pretty: { name: string; fields: Record<string, unknown>; want: string }[] = [
    { name: "plain", fields: { a: 1, b: "x", c: null }, want: "07:08:09.010 INFO  hello a=1 b=x c=null\n" },
    { name: "component first", fields: { a: 1, component: "api" }, want: "07:08:09.010 INFO  api: hello a=1\n" },
    { name: "quotes", fields: { a: "x y", b: "k=v", c: "" }, want: '07:08:09.010 INFO  hello a="x y" b="k=v" c=""\n' },
    { name: "objects", fields: { a: { b: [1] } }, want: '07:08:09.010 INFO  hello a={"b":[1]}\n' },
    {
      name: "no escapes",
      fields: { a: "\u001b[31m", b: "\u009b" },
      want: '07:08:09.010 INFO  hello a="\\u001b[31m" b="\\u009b"\n',
    },
  ];
  it.each(pretty)("pretty: $name", ({ fields, want }) => {
    const { log, written } = setUp({ format: "pretty" });
    log.info("hello", fields);
    expect(written).toEqual([want]);
  });

  it("pretty: a message cannot forge a second record", () => {
    const { log, written } = setUp({ format: "pretty" });
    log.info("a\nb");
    expect(written).toEqual(["07:08:09.010 INFO  a\\u000ab\n"]);
  });

  it("colours only when asked", () => {
    for (const color of [true, false]) {
      const { log, written } = setUp({ format: "pretty", color });
      log.warn("careful", { a: 1 });
      expect(written.join("").includes("\u001b[")).toBe(color);
    }
  });

  it("shows errors with stack and causes", () => {
    const cause = new TypeError("root");
    const error = Object.assign(new Error("could not list", { cause }), { code: "E1" });
    const { log, json } = setUp();
    log.error("failed", { error });
    expect(json()).toMatchObject([
      {
        error: { name: "Error", message: "could not list", code: "E1", cause: { name: "TypeError", message: "root" } },
      },
    ]);
    expect(JSON.stringify(json())).toContain("log.test.ts");

    const terminal = setUp({ format: "pretty" });
    terminal.log.error("failed", { error, attempt: 2 });
    const [first, ...rest] = terminal.written.join("").trimEnd().split("\n");
    expect(first).toBe('07:08:09.010 ERROR failed error="could not list" attempt=2');
    expect(rest[0]).toBe("    Error: could not list");
    expect(rest).toContain("    caused by: TypeError: root");
    expect(rest.every((line) => line.startsWith("    "))).toBe(true);
  });

  it("silentLogger says nothing, its children neither", () => {
    expect(() => silentLogger.child({ a: 1 }).error("x", { a: 1n })).not.toThrow();
  });
});
