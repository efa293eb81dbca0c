import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../http/exchange.ts";
import { authenticator } from "./authenticator.ts";
import { parseTokenFile } from "./token-file.ts";
import { ANONYMOUS, type UserInfo } from "./user.ts";

const request = (authorization?: string, user?: UserInfo): ApiRequest => ({
  method: "GET",
  path: "/",
  query: new URLSearchParams(),
  headers: authorization === undefined ? {} : { authorization },
  body: async () => Buffer.alloc(0),
  signal: new AbortController().signal,
  ...(user !== undefined && { user }),
});

describe("who makes a request", () => {
  const ann: UserInfo = { name: "ann", uid: "1", groups: ["dev"] };
  const authenticate = authenticator(new Map([["secret", ann]]));
  const known = { ...ann, groups: ["dev", "system:authenticated"] };
  const component: UserInfo = { name: "system:kube-scheduler", groups: [] };

  it.each([
    { name: "nobody said anything", given: request(), want: ANONYMOUS },
    { name: "an empty header", given: request(""), want: ANONYMOUS },
    { name: "a token", given: request("Bearer secret"), want: known },
    { name: "a token, in other letters", given: request("  bearer   secret "), want: known },
    {
      name: "the transport knows",
      given: request(undefined, component),
      want: { ...component, groups: ["system:authenticated"] },
    },
    {
      name: "the transport counts more than a token",
      given: request("Bearer secret", component),
      want: { ...component, groups: ["system:authenticated"] },
    },
    { name: "who is authenticated already stays as is", given: request(undefined, known), want: known },
  ])("$name", async ({ given, want }) => {
    expect(await authenticate(given)).toEqual(want);
  });

  it("refuses a token that it does not know", async () => {
    await expect(authenticate(request("Bearer guess"))).rejects.toMatchObject({
      code: 401,
      reason: "Unauthorized",
      message: "Unauthorized",
    });
  });
});

describe("the static token file", () => {
  it("reads tokens, users, uids and groups", () => {
    const text = [
      "# comment",
      "",
      "t1,ann,u1",
      't2,bob,u2,"dev,ops"',
      't3,"eve ""x""",u3,solo',
      " t4 , dan , u4 \r",
      "",
    ].join("\n");
    expect(Object.fromEntries(parseTokenFile(text, "tokens.csv"))).toEqual({
      t1: { name: "ann", uid: "u1", groups: [] },
      t2: { name: "bob", uid: "u2", groups: ["dev", "ops"] },
      t3: { name: 'eve "x"', uid: "u3", groups: ["solo"] },
      t4: { name: "dan", uid: "u4", groups: [] },
    });
  });

  it.each(["t1,ann", ",ann,u1", "t1,,u1", "t1"])("refuses %s, and says where", (line) => {
    expect(() => parseTokenFile(`ok,user,uid\n${line}`, "tokens.csv")).toThrow(/^tokens\.csv, line 2: /);
  });
});
