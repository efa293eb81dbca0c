import { describe, expect, it } from "vitest";
import { isStatusError } from "#api";
import { decodeContinue, encodeContinue } from "./continue-token.ts";

const encoded = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

describe("continue tokens", () => {
  it.each([
    { revision: 937, after: "completed-phase-only" },
    { revision: 1, after: "ns/name" },
    { revision: -1, after: "ns/name" },
  ])("%o there and back", (token) => {
    expect(decodeContinue(encodeContinue(token))).toEqual(token);
  });

  it("is the one that other servers make", () => {
    const token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTM3LCJzdGFydCI6Ii9jb21wbGV0ZWQtcGhhc2Utb25seVx1MDAwMCJ9";
    expect(encodeContinue({ revision: 937, after: "completed-phase-only" })).toBe(token);
  });

  const v = "meta.k8s.io/v1";
  const start = "/a\0";
  it.each([
    { name: "no JSON", token: "abc", want: "invalid character 'i' looking for beginning of value" },
    { name: "bytes that are no text", token: "_w", want: "invalid character '\\u00ff' looking for beginning of value" },
    {
      name: "another version",
      token: encoded({ v: "v2", rv: 1, start }),
      want: "server does not recognize this encoded version v2",
    },
    {
      name: "no revision",
      token: encoded({ v, start }),
      want: "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    },
    {
      name: "revision 0",
      token: encoded({ v, rv: 0, start }),
      want: "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    },
    {
      name: "half a revision",
      token: encoded({ v, rv: 1.5, start }),
      want: "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    },
    { name: "no start", token: encoded({ v, rv: 1 }), want: "encoded start key empty (version meta.k8s.io/v1)" },
    { name: "a way out of the list", token: encoded({ v, rv: 1, start: "/../secrets\0" }), want: "/../secrets\0" },
  ])("refuses $name", ({ token, want }) => {
    try {
      decodeContinue(token);
      expect.unreachable();
    } catch (error) {
      expect(isStatusError(error, "BadRequest") && error.message).toBe(
        `invalid continue token: continue key is not valid: ${want}`,
      );
    }
  });
});
