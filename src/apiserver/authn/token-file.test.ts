import { describe, expect, it } from "vitest";
import { parseTokenFile, staticTokens } from "./token-file.ts";

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

  it("knows the tokens in it, and no others", async () => {
    const authenticate = staticTokens(new Map([["t1", { name: "ann", groups: [] }]]));
    expect(await authenticate("t1", [])).toEqual({ user: { name: "ann", groups: [] } });
    expect(await authenticate("t", [])).toBeUndefined();
  });
});
