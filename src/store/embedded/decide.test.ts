import { describe, expect, it } from "vitest";
import type { Entry } from "../model/store.ts";
import { type Decision, type Durable, decide, type Write } from "./decide.ts";

const value = (text: string): Buffer => Buffer.from(text);
const create = (key: string, text: string): Write => ({ key, value: value(text), expected: undefined });
const update = (key: string, text: string, expected: number): Write => ({ key, value: value(text), expected });
const remove = (key: string, expected: number): Write => ({ key, value: undefined, expected });

const entry = (key: string, text: string, createRevision: number, revision: number): Entry => ({
  key,
  value: value(text),
  createRevision,
  revision,
});

/** A store at revision 10 that holds /a, created at 3 and last written at 7. */
const held = entry("/a", "held", 3, 7);
const durable: Durable = {
  index: (key) => (key === held.key ? held : undefined),
  entry: (key) => (key === held.key ? held : undefined),
};

describe("decide", () => {
  const cases: readonly { name: string; writes: Write[]; want: Decision[]; previous?: number[] }[] = [
    { name: "a creation", writes: [create("/b", "1")], want: [{ ok: true, revision: 11 }], previous: [0] },
    { name: "an update", writes: [update("/a", "1", 7)], want: [{ ok: true, revision: 11 }], previous: [7] },
    { name: "a deletion", writes: [remove("/a", 7)], want: [{ ok: true, revision: 11 }], previous: [7] },
    { name: "a creation of what exists", writes: [create("/a", "1")], want: [{ ok: false, current: held }] },
    { name: "an update of an older revision", writes: [update("/a", "1", 6)], want: [{ ok: false, current: held }] },
    {
      name: "an update of what does not exist",
      writes: [update("/b", "1", 0)],
      want: [{ ok: false, current: undefined }],
    },
    {
      name: "a second creation in the batch",
      writes: [create("/b", "1"), create("/b", "2")],
      want: [
        { ok: true, revision: 11 },
        { ok: false, current: entry("/b", "1", 11, 11) },
      ],
      previous: [0],
    },
    {
      name: "a chain in the batch",
      writes: [update("/a", "1", 7), update("/a", "2", 11), remove("/a", 12), remove("/a", 12), create("/a", "3")],
      want: [
        { ok: true, revision: 11 },
        { ok: true, revision: 12 },
        { ok: true, revision: 13 },
        { ok: false, current: undefined },
        { ok: true, revision: 14 },
      ],
      previous: [7, 11, 12, 0],
    },
    {
      name: "revisions without gaps around a refusal",
      writes: [create("/b", "1"), create("/a", "2"), create("/c", "3")],
      want: [
        { ok: true, revision: 11 },
        { ok: false, current: held },
        { ok: true, revision: 12 },
      ],
      previous: [0, 0],
    },
  ];

  it.each(cases)("$name", ({ writes, want, previous = [] }) => {
    const { added, decisions } = decide(writes, 10, durable);
    expect(decisions).toEqual(want);
    expect(added.map((record) => record.previousRevision)).toEqual(previous);
    expect(added.map((record) => record.revision)).toEqual(previous.map((_, i) => 11 + i));
  });

  it("lets a write whose state cannot be read fail alone", () => {
    const failure = new Error("damaged");
    const broken: Durable = {
      ...durable,
      index: (key) => {
        if (key === "/bad") throw failure;
        return undefined;
      },
    };
    const { decisions } = decide([create("/b", "1"), create("/bad", "2"), create("/c", "3")], 10, broken);
    expect(decisions).toEqual([{ ok: true, revision: 11 }, { failure }, { ok: true, revision: 12 }]);
  });
});
