/** What `k8ts up` does unless it is told otherwise, where that decides who gets in. */
import { describe, expect, it } from "vitest";
import { configFrom, type UpOptions, upCommand } from "./up.ts";

function configOf(...words: readonly string[]) {
  const command = upCommand().exitOverride();
  command.parseOptions([...words]);
  return configFrom(command.opts<UpOptions>());
}

describe("k8ts up", () => {
  it("listens on loopback", () => {
    expect(configOf().bindAddress).toBe("127.0.0.1");
  });

  it("leaves authentication and authorization at their defaults, and knows no static tokens", () => {
    const { authentication, authorization } = configOf();
    expect(authentication).toEqual({ requestHeader: {} });
    expect(authorization).toEqual({});
  });

  it.each([
    { word: "--anonymous-auth=false", want: { anonymousAuth: false } },
    { word: "--service-account-extend-token-expiration=false", want: { serviceAccountExtendTokenExpiration: false } },
  ])("$word", ({ word, want }) => {
    expect(configOf(word).authentication).toEqual({ requestHeader: {}, ...want });
  });
});
