import { describe, expect, it } from "vitest";
import { Assembly, Gap } from "./assembly.ts";
import type { Message } from "./rpc.ts";

/** "5a 5b 6c": revision 5 changes a and b, 6 changes c. A trailing "…" marks a fragment that is not the last. */
function message(text: string): Pick<Message<"WatchResponse">, "events" | "fragment"> {
  const events = [...text.matchAll(/(\d+)([a-z])/g)].map(([, revision = "", key = ""]) => ({
    type: 0,
    kv: {
      key: Buffer.from(key),
      value: Buffer.alloc(0),
      createRevision: revision,
      modRevision: revision,
      version: "1",
    },
    prevKv: null,
  }));
  return { events, fragment: text.endsWith("…") };
}

/** "5a 5b @5": these changes, everything up to 5 is delivered. */
function read(start: number, messages: readonly string[]): string[] {
  const assembly = new Assembly(start);
  return messages.map((text) => {
    const batch = assembly.add(message(text));
    return batch
      ? [...batch.changes.map(({ revision, key }) => `${revision}${key}`), `@${batch.revision}`].join(" ")
      : "";
  });
}

describe("Assembly", () => {
  it.each([
    { name: "takes whole responses as they come", start: 4, given: ["5a", "6a 7b"], want: ["5a @5", "6a 7b @7"] },
    { name: "drops the revision it starts at", start: 4, given: ["4a 4b 5a"], want: ["5a @5"] },
    { name: "drops what came before", start: 4, given: ["2a 3b 4c", "5a"], want: ["", "5a @5"] },
    { name: "keeps the keys of one revision together", start: 4, given: ["5a 5b 6c"], want: ["5a 5b 6c @6"] },
    {
      name: "holds back a revision that may not be complete",
      start: 4,
      given: ["5a 6a 6b…", "6c 7a…", "7b"],
      want: ["5a @5", "6a 6b 6c @6", "7a 7b @7"],
    },
    {
      name: "holds back a revision that fills fragments",
      start: 4,
      given: ["5a…", "5b…", "5c 6a"],
      want: ["", "", "5a 5b 5c 6a @6"],
    },
    {
      name: "completes a revision at the last fragment, even an empty one",
      start: 4,
      given: ["5a…", ""],
      want: ["", "5a @5"],
    },
    { name: "says nothing without changes", start: 4, given: ["", "…"], want: ["", ""] },
  ])("$name", ({ start, given, want }) => {
    expect(read(start, given)).toEqual(want);
  });

  it.each([
    { name: "at the start", start: 4, given: ["6a"] },
    { name: "between responses", start: 4, given: ["5a", "7a"] },
    { name: "within a response", start: 4, given: ["5a 7a"] },
    { name: "between fragments", start: 4, given: ["5a…", "7a"] },
  ])("sees a gap $name", ({ start, given }) => {
    expect(() => read(start, given)).toThrow(Gap);
  });
});
