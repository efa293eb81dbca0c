/** What is done about writes whose answers get lost: a cluster that drops, delays and repeats, as seen by the client. */

import { describe, expect, it } from "vitest";
import type { Change } from "../model/store.ts";
import { verdictOf } from "./writes.ts";

const entry = (revision: number, value: string) => ({
  key: "/a",
  value: Buffer.from(value),
  createRevision: revision,
  revision,
});
const created = (revision: number, value: string): Change => ({
  key: "/a",
  revision,
  entry: entry(revision, value),
  previous: undefined,
});
const updated = (revision: number, value: string, before: number): Change => ({
  ...created(revision, value),
  previous: entry(before, "before"),
});

const isCreation = ({ entry, previous }: Change) => previous === undefined && entry?.value.toString() === "mine";
const isUpdateOf5 = ({ entry, previous }: Change) => previous?.revision === 5 && entry?.value.toString() === "mine";

describe("the verdict on a write in doubt", () => {
  it.each([
    { name: "no change: it was not applied", isLike: isCreation, isUnique: true, changes: [], want: "absent" },
    {
      name: "a creation with its value: it was applied",
      isLike: isCreation,
      isUnique: true,
      changes: [created(7, "mine")],
      want: "applied",
    },
    {
      name: "a creation with another value: it was not",
      isLike: isCreation,
      isUnique: true,
      changes: [created(7, "other")],
      want: "absent",
    },
    {
      name: "created, and deleted by another since: it was applied",
      isLike: isCreation,
      isUnique: true,
      changes: [
        created(7, "mine"),
        { ...created(8, ""), entry: undefined, previous: entry(7, "mine") },
        created(9, "x"),
      ],
      want: "applied",
    },
    {
      name: "an update that looks the same may be another's",
      isLike: isUpdateOf5,
      isUnique: false,
      changes: [updated(7, "mine", 5)],
      want: "unknown",
    },
    {
      name: "another update of that revision: it was not applied",
      isLike: isUpdateOf5,
      isUnique: false,
      changes: [updated(7, "other", 5), updated(8, "mine", 7)],
      want: "absent",
    },
  ])("$name", ({ isLike, isUnique, changes, want }) => {
    expect(verdictOf({ isLike, isUnique }, changes).kind).toBe(want);
  });
});
