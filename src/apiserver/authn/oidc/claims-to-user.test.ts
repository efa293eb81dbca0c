import { describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import { type Changes, jwtAuthenticator } from "../testing/jwt-authenticator.ts";
import { celExpressions } from "./cel-expressions.ts";
import { claimsToUser } from "./claims-to-user.ts";

const claims: JsonObject = {
  sub: "jane",
  email: "jane@acme.com",
  email_verified: true,
  roles: ["dev", "", "ops"],
  org: { id: 7, name: "acme" },
  nothing: null,
};
const expression = (text: string) => ({ claim: "", prefix: undefined, expression: text });
const user = (changes: Changes, given = claims) => claimsToUser(jwtAuthenticator(changes), celExpressions())(given);

describe("a user by expressions", () => {
  it.each<{ name: string; mappings: Changes["claimMappings"]; want: object }>([
    {
      name: "a name made of claims",
      mappings: { username: expression("claims.email_verified ? claims.email : 'x:' + claims.sub") },
      want: { name: "jane@acme.com" },
    },
    {
      name: "groups as a list, without empty ones",
      mappings: { groups: expression("claims.roles.map(r, r == '' ? '' : 'acme:' + r)") },
      want: { groups: ["acme:dev", "acme:ops"] },
    },
    { name: "one group", mappings: { groups: expression("claims.org.name") }, want: { groups: ["acme"] } },
    { name: "no group", mappings: { groups: expression("claims.nothing") }, want: { groups: [] } },
    {
      name: "a group if there is one",
      mappings: { groups: expression("claims.?team.orValue('none')") },
      want: { groups: ["none"] },
    },
    { name: "a uid", mappings: { uid: { claim: "", expression: "string(claims.org.id)" } }, want: { uid: "7" } },
    {
      name: "extra, without what is empty",
      mappings: {
        extra: [
          { key: "acme.com/org", valueExpression: "claims.org.name" },
          { key: "acme.com/none", valueExpression: "''" },
        ],
      },
      want: { extra: { "acme.com/org": ["acme"] } },
    },
  ])("$name", ({ mappings, want }) => {
    expect(user({ claimMappings: mappings ?? {} })).toMatchObject(want);
  });

  it.each<{ name: string; changes: Changes; want: string | RegExp }>([
    {
      name: "a name that is empty",
      changes: { claimMappings: { username: expression("''") } },
      want: "oidc: empty username via CEL expression is not allowed",
    },
    {
      name: "a name that is a number",
      changes: { claimMappings: { username: expression("claims.org.id") } },
      want: "oidc: error evaluating username claim expression: username claim expression must return a string",
    },
    {
      name: "a claim that is not there",
      changes: { claimMappings: { username: expression("claims.upn") } },
      want: /^oidc: error evaluating username claim expression: expression 'claims.upn' resulted in error: .*no such key: upn/,
    },
    {
      name: "groups that are none",
      changes: { claimMappings: { groups: expression("claims.org") } },
      want: "oidc: error evaluating group claim expression: expression must return a string or a list of strings",
    },
    {
      name: "a rule that fails",
      changes: { claimValidationRules: [{ expression: "claims.org.name == 'other'", message: "not one of us" }] },
      want: "oidc: error evaluating claim validation expression: validation expression 'claims.org.name == 'other'' failed: not one of us",
    },
    {
      name: "a rule about the user that fails",
      changes: { userValidationRules: [{ expression: "!user.username.startsWith('oidc:')", message: "reserved" }] },
      want: "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('oidc:')' failed: reserved",
    },
  ])("is refused: $name", ({ changes, want }) => {
    expect(user(changes)).toEqual({ refused: [typeof want === "string" ? want : expect.stringMatching(want)] });
  });

  it("passes rules that hold", () => {
    const changes: Changes = {
      claimValidationRules: [{ expression: "claims.org.id > 3" }],
      userValidationRules: [
        { expression: "user.groups.all(g, !g.startsWith('system:')) && user.uid == ''", message: "" },
      ],
    };
    expect(user(changes)).toMatchObject({ name: "oidc:jane" });
  });

  it("does not run for ever", () => {
    const many = { ...claims, roles: Array.from({ length: 2_000 }, (_, i) => `r${i}`) };
    const nested = "claims.roles.all(a, claims.roles.all(b, claims.roles.all(c, a + b != c)))";
    const refused = user({ claimValidationRules: [{ expression: nested }] }, many);
    expect(refused).toEqual({ refused: [expect.stringContaining("resulted in error")] });
  });
});
