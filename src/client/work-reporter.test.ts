/** Works that are told of by themselves: nothing waits, nothing fails, the latest come first. */
import { describe, expect, it } from "vitest";
import { settled, silentLogger } from "#base";
import { readCause } from "#flows";
import type { Client } from "./requests/client.ts";
import { WorkReporter } from "./work-reporter.ts";

function reporterTo(answer: (works: readonly string[]) => Promise<string>) {
  const sent: string[][] = [];
  const client = {
    post: (_: string, value: object) => {
      const works = value as string[];
      sent.push(works.map((text) => readCause(text)?.about ?? "unreadable"));
      return answer(works);
    },
  } as unknown as Client;
  const signal = new AbortController().signal;
  const reporter = new WorkReporter({ client, actor: "proxy/n1", log: silentLogger, signal });
  const report = (about: string) => reporter.report({ about, woken: [1], startedAt: 0, decided: "" });
  return { sent, report };
}

describe("works without a request", () => {
  it("are told together while others are on their way", async () => {
    const answered = Promise.withResolvers<string>();
    const { sent, report } = reporterTo(() => answered.promise);
    for (const about of ["a", "b", "c"]) report(about);
    expect(sent).toEqual([["a"]]);
    answered.resolve("");
    await settled();
    expect(sent).toEqual([["a"], ["b", "c"]]);
  });

  it("that cannot be told are not, and the next ones are", async () => {
    const { sent, report } = reporterTo(() => Promise.reject(new Error("no")));
    report("a");
    await settled();
    report("b");
    await settled();
    expect(sent).toEqual([["a"], ["b"]]);
  });

  it("are not kept without end", async () => {
    const answered = Promise.withResolvers<string>();
    const { sent, report } = reporterTo(() => answered.promise);
    for (let at = 0; at < 500; at++) report(String(at));
    answered.resolve("");
    await settled();
    expect(sent[1]).toHaveLength(100);
    expect(sent[1]?.at(-1)).toBe("499");
  });
});
