import { describe, expect, it } from "vitest";
import { diagramOf } from "../diagram/diagram.ts";
import { Recorder } from "../record/recorder.ts";
import { rollout, Story } from "../testing/records.ts";
import { notesOf } from "./notes.ts";
import { trace } from "./trace.ts";

const A = { resource: "pods", namespace: "default", name: "a" };

describe("what is said below a diagram", () => {
  it("is nothing where nothing is missing", () => {
    expect(notesOf(trace(rollout().records, {}), 0)).toEqual([]);
  });

  it("is that its beginning had to make room, if that was so", () => {
    const recorder = new Recorder({ limitBytes: 6500 });
    recorder.restore(rollout().records);
    const object = { resource: "pods", namespace: "default", name: "web-6f7c-hjklm" };
    expect(notesOf(trace(recorder.records(), { object }), recorder.dropped)).toEqual([]);
    for (let at = 0; at < 6; at++) recorder.restore(new Story().request({ name: `other-${at}`, revision: 90 }).records);
    recorder.restore(rollout().records.slice(-2));
    const found = trace(recorder.records(), { object });
    expect(recorder.dropped).toBeGreaterThan(0);
    expect(notesOf(found, recorder.dropped)).toEqual([
      expect.stringMatching(
        /^The beginning is missing: \d+ earlier causes? (is|are) no longer known \(the oldest \d+ records have made room/,
      ),
    ]);
  });

  it("is that its beginning was never seen, if that was so", () => {
    const { records } = new Story().work({ id: "w", woken: [7] }).request({ name: "a", revision: 8, cause: "w" });
    expect(notesOf(trace(records, { object: A }), 0)).toEqual([
      "The beginning is missing: 1 earlier cause is no longer known (from before the recorder's time, or through another API server).",
    ]);
  });

  it.each([
    ["behind", 1000 - 90_000, "behind by 90.0 s or more"],
    ["ahead", 1000 + 3_600_000, "ahead by 3600 s or more"],
    ["the same, nearly", 980, undefined],
  ])("is whose clock is another: %s", (_, at, want) => {
    const { records } = new Story()
      .request({ name: "a", revision: 1, at: 1000 })
      .work({ id: "w", actor: "late", woken: [1], decided: "something", at, foreignClock: true })
      .request({ name: "b", actor: "late", revision: 2, cause: "w", at: 1010 });
    const found = trace(records, { object: A });
    expect(notesOf(found, 0)).toEqual(
      want === undefined ? [] : [`The clock of late is ${want}: its steps stand where their causes put them.`],
    );
    // Whatever it says, what came of something stands below it.
    const texts = diagramOf(found.records).lines.map(({ text }) => text);
    const order = ["a @1", "ADDED a @1", "something", "b @2"].map((text) => texts.indexOf(text));
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(order).not.toContain(-1);
  });
});

describe("a work that is only claimed", () => {
  const story = () =>
    new Story()
      .request({ name: "a", revision: 1 })
      .work({ id: "forged", actor: "kubectl", woken: [1], decided: "I am scheduler: because of a", claimed: true })
      .request({ name: "victim", user: "mallory", revision: 2, cause: "forged" });

  it("joins no flow but its own", () => {
    expect(trace(story().records, { object: A }).records.map(({ seq }) => seq)).toEqual([1]);
    const victim = trace(story().records, { object: { ...A, name: "victim" } });
    expect(victim.records.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(victim.missing).toBe(0);
  });

  it("is shown as said, by who said it, and nobody was told of anything", () => {
    const { lines, participants } = diagramOf(story().records);
    expect(lines.map(({ text }) => text)).toContain("says: I am scheduler: because of a");
    expect(lines.some(({ arrow }) => arrow === "watch")).toBe(false);
    expect(participants).not.toContain("scheduler");
  });
});
