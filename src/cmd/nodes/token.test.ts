import { expect, it } from "vitest";
import type { BootstrapToken } from "#cluster";
import { tokensTable } from "./token.ts";

const NOW = 1_000_000_000;
const token = (change: Partial<BootstrapToken>): BootstrapToken => ({
  id: "abcdef",
  secret: "0123456789abcdef",
  usages: ["signing", "authentication"],
  groups: ["system:bootstrappers:x"],
  description: "",
  expiresMs: undefined,
  ...change,
});

it.each([
  { name: "forever", change: {}, want: "abcdef never signing,authentication - system:bootstrappers:x" },
  {
    name: "for a while",
    change: { expiresMs: NOW + 5_460_000, description: "workers", groups: [] },
    want: "abcdef in 1h31m signing,authentication workers -",
  },
  { name: "no more", change: { expiresMs: NOW, usages: [] }, want: "abcdef expired - system:bootstrappers:x" },
])("a token that works $name", ({ change, want }) => {
  const [, row = ""] = tokensTable([token(change)], NOW).split("\n");
  expect(row.trim().split(/\s+/).join(" ")).toBe(want);
  expect(row).not.toContain("0123456789abcdef");
});
