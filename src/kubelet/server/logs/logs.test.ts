import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { realClock } from "#base";
import { loggedContainer } from "./log-choice.ts";
import { logOptions } from "./log-options.ts";
import { type LogRequest, readLog } from "./read-log.ts";
import { type LogChoice, LogRenderer } from "./render.ts";
import { tailStart } from "./tail.ts";

const dir = mkdtempSync(join(tmpdir(), "k8ts-logs-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LOG = [
  "2026-01-01T00:00:01Z stdout F one",
  "2026-01-01T00:00:02Z stdout P two, ",
  "2026-01-01T00:00:03Z stdout F still two",
  "2026-01-01T00:00:04.5Z stderr F three ✓",
  "2026-01-01T00:00:05+00:00 stdout F:tag ",
  "2026-01-01T00:00:06Z stdout F",
  "",
].join("\n");

describe("what is shown of a log", () => {
  it.each<{ name: string; choice: LogChoice; want: string }>([
    { name: "all: a line in parts is one line", choice: {}, want: "one\ntwo, still two\nthree ✓\n\n\n" },
    {
      name: "with times: one for each line",
      choice: { timestamps: true },
      want:
        "2026-01-01T00:00:01Z one\n2026-01-01T00:00:02Z two, still two\n2026-01-01T00:00:04.5Z three ✓\n" +
        "2026-01-01T00:00:05+00:00 \n2026-01-01T00:00:06Z \n",
    },
    { name: "one stream", choice: { stream: "stderr" }, want: "three ✓\n" },
    { name: "since a time", choice: { sinceMs: Date.parse("2026-01-01T00:00:04Z") }, want: "three ✓\n\n\n" },
    { name: "up to a number of bytes", choice: { limitBytes: 8 }, want: "one\ntwo," },
  ])("$name", ({ choice, want }) => {
    const bytes = Buffer.from(LOG);
    // Whatever the blocks are cut into, the outcome is the same.
    for (const size of [1, 2, 7, 64, bytes.length]) {
      const renderer = new LogRenderer(choice);
      const shown: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) shown.push(renderer.render(bytes.subarray(at, at + size)));
      expect(Buffer.concat(shown).toString()).toBe(want);
    }
  });

  it("what no runtime wrote is left out", () => {
    const lines = [
      "",
      "rubbish",
      "2026-01-01T00:00:01Z",
      "2026-01-01T00:00:01Z stdout",
      "2026-01-01T00:00:01Z stdout F ok",
      "",
    ];
    expect(new LogRenderer({}).render(Buffer.from(lines.join("\n"))).toString()).toBe("ok\n");
  });
});

describe("the last lines of a log", () => {
  const path = join(dir, "tail.log");
  const tail = async (text: string, lines: number) => {
    writeFileSync(path, text);
    await using file = await open(path);
    const size = Buffer.byteLength(text);
    return text.slice(await tailStart(file, size, lines));
  };
  const line = (text: string, tag = "F") => `2026-01-01T00:00:01Z stdout ${tag} ${text}\n`;

  it.each([
    { lines: 0, want: [] },
    { lines: 1, want: ["c"] },
    { lines: 2, want: ["b1", "b2", "c"] },
    { lines: 3, want: ["a", "b1", "b2", "c"] },
    { lines: 9, want: ["a", "b1", "b2", "c"] },
  ])("$lines of them", async ({ lines, want }) => {
    const text = line("a") + line("b1", "P") + line("b2") + line("c");
    const shown = (await tail(text, lines)).split("\n").flatMap((each) => each.split(" ").slice(3));
    expect(shown).toEqual(want);
  });

  it("a line that has not ended yet counts, and so does an empty log", async () => {
    expect(await tail(line("a") + line("b", "P"), 1)).toBe(line("b", "P"));
    expect(await tail(line("a") + line("b").trimEnd(), 1)).toBe(line("b").trimEnd());
    expect(await tail("", 5)).toBe("");
  });

  it("found across blocks, whatever the lines' lengths", async () => {
    const all = Array.from({ length: 3000 }, (_, i) => line(`${i} ${"x".repeat((i * 37) % 400)}`));
    for (const lines of [1, 10, 199, 2999, 3000])
      expect(await tail(all.join(""), lines)).toBe(all.slice(-lines).join(""));
    // A block that begins in every place around the end of a line.
    for (let bytes = 65_536 - 3; bytes <= 65_536 + 3; bytes++) {
      const last = line("z".repeat(bytes - line("").length));
      const text = all.slice(0, 900).join("") + last;
      for (const lines of [1, 2, 300, 900])
        expect(await tail(text, lines)).toBe([...all.slice(0, 900), last].slice(-lines).join(""));
    }
    const long = line("y".repeat(200_000));
    expect(await tail(all.join("") + long + line("z"), 2)).toBe(long + line("z"));
  });
});

describe("following a log", () => {
  const path = join(dir, "0.log");
  const line = (text: string) => `2026-01-01T00:00:01Z stdout F ${text}\n`;
  let running = true;
  beforeEach(() => {
    running = true;
    writeFileSync(path, line("first"));
  });

  function follow(request: Partial<LogRequest> = {}, stop = new AbortController()) {
    let seen = "";
    const surroundings = { clock: realClock(), isRunning: async () => running };
    const reading = (async () => {
      for await (const bytes of readLog({ path, follow: true, ...request }, surroundings, stop.signal)) seen += bytes;
    })();
    return {
      reading,
      stop,
      until: (text: string) => expect.poll(() => seen).toBe(text),
      seen: () => seen,
    };
  }

  it("shows what is added, until the container has ended", async () => {
    const { reading, until } = follow();
    await until("first\n");
    appendFileSync(path, line("second"));
    await until("first\nsecond\n");
    appendFileSync(path, line("third"));
    running = false;
    await reading;
    await until("first\nsecond\nthird\n");
  });

  it("continues in the next file after a rotation and loses nothing", async () => {
    const { reading, until, stop } = follow({ tailLines: 1 });
    await until("first\n");
    renameSync(path, `${path}.20260101-000000`);
    appendFileSync(`${path}.20260101-000000`, line("late"));
    writeFileSync(path, line("fresh"));
    await until("first\nlate\nfresh\n");
    appendFileSync(path, line("more"));
    await until("first\nlate\nfresh\nmore\n");
    stop.abort();
    await reading;
  });

  it("waits for a log that is not there yet", async () => {
    rmSync(path);
    const { reading, until } = follow();
    writeFileSync(path, line("there"));
    await until("there\n");
    running = false;
    await reading;
  });

  it("ends with its caller, and at its limit", async () => {
    const first = follow();
    await first.until("first\n");
    first.stop.abort();
    await first.reading;
    const second = follow({ limitBytes: 3 });
    await second.reading;
    expect(second.seen()).toBe("fir");
  });
});

describe("which instance has the requested log", () => {
  const terminated = { exitCode: 1, containerID: "containerd://old" };
  it.each<{ name: string; status?: Partial<core.ContainerStatus>; previous?: boolean; want: string }>([
    { name: "no status", want: 'container "c" in pod "p" is not available' },
    { name: "running", status: { containerID: "containerd://now", state: { running: {} } }, want: "now" },
    { name: "ended", status: { state: { terminated } }, want: "old" },
    { name: "waiting after an end", status: { state: { waiting: {} }, lastState: { terminated } }, want: "old" },
    {
      name: "the one before",
      status: { state: { running: {} }, lastState: { terminated } },
      previous: true,
      want: "old",
    },
    {
      name: "no one before",
      status: { state: { running: {} } },
      previous: true,
      want: 'previous terminated container "c" in pod "p" not found',
    },
    {
      name: "never started",
      status: { state: { waiting: { reason: "ContainerCreating" } } },
      want: 'container "c" in pod "p" is waiting to start: ContainerCreating',
    },
    {
      name: "no image",
      status: { state: { waiting: { reason: "ImagePullBackOff" } } },
      want: 'container "c" in pod "p" is waiting to start: trying and failing to pull image',
    },
    { name: "unknown", status: { state: {} }, want: 'container "c" in pod "p" is waiting to start - no logs yet' },
  ])("$name", ({ status, previous = false, want }) => {
    const containerStatuses = status && [{ name: "c", ...status } as core.ContainerStatus];
    const pod: core.Pod = { metadata: { name: "p" }, status: { ...(containerStatuses && { containerStatuses }) } };
    const found = () => {
      try {
        return loggedContainer(pod, "c", previous);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(found()).toBe(want);
  });
});

describe("the options of a log", () => {
  const NONE = { follow: false, previous: false, timestamps: false };
  it.each<{ query: string; want: object | string }>([
    { query: "", want: NONE },
    { query: "follow=true&previous=1&timestamps", want: { follow: true, previous: true, timestamps: true } },
    { query: "tailLines=0&limitBytes=5", want: { ...NONE, tailLines: 0, limitBytes: 5 } },
    { query: "sinceSeconds=10", want: { ...NONE, sinceMs: 90_000 } },
    { query: "sinceTime=1970-01-01T00:00:01Z", want: { ...NONE, sinceMs: 1000 } },
    { query: "stream=Stdout", want: { ...NONE, stream: "stdout" } },
    { query: "stream=Both", want: "Invalid request: stream: Invalid value: Both" },
    {
      query: "tailLines=-1",
      want: "Invalid request: tailLines: Invalid value: -1: must be greater than or equal to 0",
    },
    { query: "limitBytes=x", want: 'limitBytes: "x" is not a whole number' },
    { query: "sinceTime=now", want: 'sinceTime: "now" is not a time' },
  ])("$query", ({ query, want }) => {
    const read = () => logOptions(new URLSearchParams(query), { now: () => 100_000 });
    if (typeof want === "string") expect(read).toThrow(want);
    else expect(read()).toEqual(want);
  });
});
