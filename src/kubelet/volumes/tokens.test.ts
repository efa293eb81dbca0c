import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { silentLogger, VirtualClock } from "#base";
import type { Client } from "#client";
import { PodTokens } from "./tokens.ts";

const pod: core.Pod = {
  metadata: { name: "web", namespace: "shop", uid: "u1" },
  spec: { serviceAccountName: "robot", containers: [] },
};

function setUp() {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  let isAway = false;
  const create = async (request: { readonly spec: { readonly expirationSeconds: number } }) => {
    if (isAway) throw new Error("away");
    asked.push(request.spec);
    const expirationTimestamp = new Date(clock.now() + request.spec.expirationSeconds * 1000).toISOString();
    return { status: { token: `token ${asked.length}`, expirationTimestamp } };
  };
  const client = { of: () => ({ in: () => ({ subresource: () => ({ create }) }) }) } as unknown as Client;
  const tokens = new PodTokens({ client, clock, log: silentLogger });
  const get = (audience?: string) =>
    tokens.get(
      pod,
      { path: "token", expirationSeconds: 1000, ...(audience !== undefined && { audience }) },
      new AbortController().signal,
    );
  const away = (value: boolean) => {
    isAway = value;
  };
  return { clock, asked, tokens, get, away };
}

describe("tokens of pods", () => {
  it("are bound to the pod, kept, and renewed at 80 % of their life", async () => {
    const { clock, asked, get } = setUp();
    expect(await get()).toBe("token 1");
    expect(asked).toEqual([
      { expirationSeconds: 1000, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "web", uid: "u1" } },
    ]);
    await clock.advance(799_000);
    expect(await get()).toBe("token 1");
    await clock.advance(1000);
    expect(await get()).toBe("token 2");
  });

  it("each audience has its own", async () => {
    const { asked, get } = setUp();
    await get();
    await get("vault");
    expect(asked[1]).toMatchObject({ audiences: ["vault"] });
  });

  it("one that cannot be renewed is used as long as it is valid", async () => {
    const { clock, get, away } = setUp();
    await get();
    away(true);
    await clock.advance(900_000);
    expect(await get()).toBe("token 1");
    await clock.advance(100_000);
    await expect(get()).rejects.toThrow("away");
  });

  it("is forgotten with its pod", async () => {
    const { tokens, get } = setUp();
    await get();
    tokens.forget("u1");
    expect(await get()).toBe("token 2");
  });
});
