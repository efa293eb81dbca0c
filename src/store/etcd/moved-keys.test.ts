import { describe, expect, it } from "vitest";
import { realClock, VirtualClock } from "#base";
import { openMemoryStore } from "../memory/index.ts";
import { describeStore, WatchReader } from "../testing/index.ts";
import { movedKeys } from "./moved-keys.ts";

/** As long as the prefix that it replaces: keys may be as long as the contract says. */
const ELSEWHERE = "!";

describeStore("the contract through moved keys", {
  open: async () => movedKeys(openMemoryStore({ clock: realClock() }), { from: "/", to: ELSEWHERE }),
  close: (store) => store.close(),
});

describe("moved keys", () => {
  const open = () => {
    const inner = openMemoryStore({ clock: new VirtualClock() });
    return { inner, store: movedKeys(inner, { from: "/registry/", to: "/mine/" }) };
  };

  it("are below the other prefix in the store, and only those are seen", async () => {
    const { inner, store } = open();
    await inner.create("/registry/core/pods/other", Buffer.from("another cluster's"));
    await store.create("/registry/core/pods/web", Buffer.from("own"));
    expect((await inner.list("")).entries.map(({ key }) => key)).toEqual([
      "/mine/core/pods/web",
      "/registry/core/pods/other",
    ]);
    expect((await store.list("")).entries.map(({ key }) => key)).toEqual(["/registry/core/pods/web"]);
    expect(await store.count("/registry/")).toBe(1);
    expect(await store.create("/registry/core/pods/web", Buffer.from("x"))).toMatchObject({
      ok: false,
      current: { key: "/registry/core/pods/web", revision: 2 },
    });
  });

  it("are in watches, and others are not", async () => {
    const { inner, store } = open();
    const watch = new WatchReader(store, "/registry/", 0);
    await inner.create("/registry/a", Buffer.from("x"));
    await store.create("/registry/b", Buffer.from("x"));
    const [change] = await watch.changes(1);
    expect(change).toMatchObject({ key: "/registry/b", revision: 2, entry: { key: "/registry/b" } });
    await watch.stop();
  });

  it.each([
    { after: "", want: ["/registry/a", "/registry/b"] },
    { after: "/registry/a", want: ["/registry/b"] },
    { after: "/a", want: ["/registry/a", "/registry/b"] },
    { after: "/z", want: [] },
  ])("are listed after $after", async ({ after, want }) => {
    const { store } = open();
    for (const name of ["a", "b"]) await store.create(`/registry/${name}`, Buffer.from("x"));
    const page = await store.list("/registry/", { after });
    expect([page.revision, page.entries.map(({ key }) => key)]).toEqual([2, want]);
  });

  it("refuses keys of others", async () => {
    const { store } = open();
    await expect(store.get("/other/a")).rejects.toThrow("Keys of this store begin with /registry/");
  });
});
