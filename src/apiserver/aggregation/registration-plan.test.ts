import { describe, expect, it } from "vitest";
import { AUTOMANAGED } from "./api-service.ts";
import { planRegistration, type Situation, type Step } from "./registration-plan.ts";

const spec = { group: "a.example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 };
const other = { ...spec, versionPriority: 7 };
const found = (keeping?: string, its = other) => ({
  metadata: { name: "v1.a.example.com", ...(keeping && { labels: { [AUTOMANAGED]: keeping } }) },
  spec: its,
});
const onStart = { keeping: "onstart", spec } as const;
const always = { keeping: "true", spec } as const;

describe("planRegistration", () => {
  const rows: readonly { name: string; given: Partial<Situation>; want: Step }[] = [
    { name: "nothing is there, nothing is wanted", given: {}, want: "leave" },
    { name: "wanted on start", given: { wanted: onStart }, want: "create" },
    { name: "wanted on start, and deleted since", given: { wanted: onStart, wasSeenTo: true }, want: "leave" },
    { name: "wanted always", given: { wanted: always }, want: "create" },
    { name: "wanted always, and deleted since", given: { wanted: always, wasSeenTo: true }, want: "create" },
    { name: "a user's own, not wanted", given: { found: found() }, want: "leave" },
    {
      name: "a user's own, wanted on start",
      given: { found: found(), wanted: onStart, wasThere: true },
      want: "leave",
    },
    { name: "a user's own, wanted always", given: { found: found(), wanted: always, wasThere: true }, want: "leave" },
    { name: "of another server's start", given: { found: found("onstart"), wanted: always }, want: "leave" },
    { name: "of an older version's start", given: { found: found("onstart"), wasThere: true }, want: "delete" },
    {
      name: "of an older version's start, seen to",
      given: { found: found("onstart"), wasThere: true, wasSeenTo: true },
      want: "leave",
    },
    {
      name: "of a start, with other priorities",
      given: { found: found("onstart"), wanted: onStart, wasThere: true },
      want: "update",
    },
    {
      name: "of a start, as it should be",
      given: { found: found("onstart", spec), wanted: onStart, wasThere: true },
      want: "leave",
    },
    { name: "kept, its definition is gone", given: { found: found("true"), wasSeenTo: true }, want: "delete" },
    { name: "kept, changed", given: { found: found("true"), wanted: always, wasSeenTo: true }, want: "update" },
    { name: "kept, as it should be", given: { found: found("true", spec), wanted: always }, want: "leave" },
  ];
  it.each(rows)("$name: $want", ({ given, want }) => {
    const nothing = { wanted: undefined, found: undefined, wasSeenTo: false, wasThere: false };
    expect(planRegistration({ ...nothing, ...given })).toBe(want);
  });
});
