import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import {
  type BootstrapToken,
  groupProblem,
  isUsable,
  newToken,
  parseToken,
  readToken,
  TOKEN_GROUP,
  tokenSecret,
  tokenText,
} from "./tokens.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const token: BootstrapToken = {
  id: "abcdef",
  secret: "0123456789abcdef",
  usages: ["signing", "authentication"],
  groups: [TOKEN_GROUP],
  description: "for the workers",
  expiresMs: NOW + 60_000,
};
/** As the API server stores it. */
const stored = (given: BootstrapToken) => {
  const { stringData = {}, ...secret } = tokenSecret(given);
  const data = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  return { ...secret, data };
};

describe("a token", () => {
  it.each([token, { ...token, description: "", expiresMs: undefined, groups: [] }])(
    "is what its Secret says",
    (given) => expect(readToken(stored(given))).toEqual(given),
  );

  it("new ones have the form of tokens, and differ", () => {
    const random = seededRandom(7);
    const [one, two] = [tokenText(newToken(random)), tokenText(newToken(random))];
    expect(one).not.toBe(two);
    expect(parseToken(one)).toEqual({ id: one.slice(0, 6), secret: one.slice(7) });
  });

  it.each(["", "abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcde", " abcdef.0123456789abcdef"])(
    "%j is none",
    (text) => expect(parseToken(text)).toBeUndefined(),
  );

  it.each([
    { name: "of another type", change: { type: "Opaque" } },
    { name: "by another name", change: { metadata: { name: "bootstrap-token-other" } } },
  ])("a Secret $name is none", ({ change }) => expect(readToken({ ...stored(token), ...change })).toBeUndefined());
});

describe("machines can join with a token", () => {
  it.each([
    { name: "that lasts", given: token, want: true },
    { name: "that never expires", given: { ...token, expiresMs: undefined }, want: true },
    { name: "that has expired", given: { ...token, expiresMs: NOW }, want: false },
    { name: "that only signs", given: { ...token, usages: ["signing" as const] }, want: false },
    { name: "of another group", given: { ...token, groups: [] }, want: false },
  ])("$name: $want", ({ given, want }) => expect(isUsable(given, NOW)).toBe(want));
});

it.each([
  { given: TOKEN_GROUP, want: undefined },
  { given: "system:masters", want: expect.stringContaining('"system:masters" is invalid') },
])("the group $given", ({ given, want }) => expect(groupProblem(given)).toEqual(want));
