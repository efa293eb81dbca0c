import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { Refusal } from "../exchange.ts";
import { queryLogs, type RunJournal, readLogQuery } from "./log-query.ts";

const NOW = Date.parse("2030-01-02T00:00:00Z");

describe("a query of the node's logs", () => {
  it.each([
    ["tailLines=3", "query: Required value: cannot be empty with options"],
    ["query=a&query=/b", "cannot specify a file and service"],
    ["query=/a&query=/b", "cannot specify more than one file"],
    ["query=--file", "input contains unsupported characters"],
    ["query=a%20b", "input contains unsupported characters"],
    ["query=/../secret", "must be a local path"],
    ["query=a&tailLines=x", 'tailLines: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
    ["query=a&tailLines=100001", "tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive"],
    ["query=a&boot=1", "boot: Invalid value: 1: must be less than 1"],
    ["query=a&sinceTime=now", 'sinceTime: Invalid value: "now": invalid time format'],
    ["query=a&sinceTime=2031-01-01T00:00:00Z", "sinceTime cannot be in the future"],
    ["query=a&sinceTime=2030-01-01T00:00:00Z&untilTime=2029-01-01T00:00:00Z", "must be after `sinceTime`"],
    ["query=/a.log&boot=0", "options cannot be given for a file: boot"],
  ])("%s is refused", (text, problem) => {
    try {
      readLogQuery(new URLSearchParams(text), NOW);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      expect(error.answer.status).toBe(400);
      expect(String(error.answer.body)).toContain(problem);
    }
  });

  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "k8ts-log-query-"));
    writeFileSync(join(root, "web.log"), "one\ntwo error\nthree error\n");
    mkdirSync(join(root, "deep"));
    writeFileSync(join(root, "deep", "deep.log"), "down here\n");
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const seen: (readonly string[])[] = [];
  const journal: RunJournal = async (args) => {
    seen.push(args);
    if (args.includes("--unit=none")) return "-- No entries --\n";
    return args.includes("--unit=kubelet") ? "started\n" : undefined;
  };
  const ask = async (text: string) => {
    const clock = new VirtualClock();
    const query = new URLSearchParams(text);
    return String((await queryLogs(root, { query, signal: AbortSignal.timeout(10_000) }, clock, journal)).body);
  };

  it.each([
    ["query=kubelet", "started\n"],
    ["query=web", "one\ntwo error\nthree error\n"],
    ["query=web&tailLines=1", "three error\n"],
    ["query=web&pattern=error&tailLines=1", "three error\n"],
    ["query=web&tailLines=0", ""],
    ["query=deep", "down here\n"],
    ["query=/deep/deep.log", "down here\n"],
    ["query=kubelet&query=none", 'started\n\nfailed to get logs for service "none": log not found for none\n'],
  ])("%s", async (text, want) => expect(await ask(text)).toBe(want));

  it("is asked of the journal without a shell", async () => {
    await ask("query=kubelet&tailLines=2&pattern=a%20b&boot=-1");
    expect(seen.at(-1)).toEqual([
      "--utc",
      "--no-pager",
      "--output=short-precise",
      "--lines=2",
      "--grep=a b",
      "--boot=-1",
      "--unit=kubelet",
    ]);
  });
});
