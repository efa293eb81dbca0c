import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type MemoryStore, openMemoryStore, StoreError } from "#store";
import { configMap, HeldStore, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const X = `${CONFIG_MAPS}/x`;

describe("two servers on one store", () => {
  let memory: MemoryStore;
  /** What the second server hears of the store can be held up. */
  let held: HeldStore;
  let one: TestServer;
  let two: TestServer;
  const clock = () => one.clock;

  beforeEach(async () => {
    const time = new VirtualClock();
    memory = openMemoryStore({ clock: time });
    held = new HeldStore(memory);
    one = await testServer({ store: memory, clock: time, seed: 1 });
    two = await testServer({ store: held, clock: time, seed: 2 });
  });
  afterEach(async () => {
    held.release();
    await Promise.all([one.close(), two.close()]);
    await memory.close();
  });

  /** Whether an answer came while the second server heard nothing. */
  async function whileHeld<T>(ask: () => Promise<T>): Promise<{ early: boolean; answer: T }> {
    let early = true;
    const asked = ask().then((answer) => ({ early, answer }));
    await two.settle();
    early = false;
    held.release();
    return asked;
  }

  it("see each other's writes", async () => {
    await one.request("POST", CONFIG_MAPS, { body: configMap("x", { by: "one" }) });
    expect((await two.request("GET", X)).json.data).toEqual({ by: "one" });
    await two.request("PUT", X, { body: configMap("x", { by: "two" }) });
    expect((await one.request("GET", X)).json.data).toEqual({ by: "two" });
    await one.request("DELETE", X);
    expect((await two.request("GET", X)).status).toBe(404);
  });

  it.each([
    { name: "get", ask: () => two.request("GET", X), fresh: true },
    { name: "list", ask: () => two.request("GET", CONFIG_MAPS), fresh: true },
    { name: "get of any state", ask: () => two.request("GET", `${X}?resourceVersion=0`), fresh: false },
    { name: "list of any state", ask: () => two.request("GET", `${CONFIG_MAPS}?resourceVersion=0`), fresh: false },
  ])("$name: as new as the store is $fresh", async ({ ask, fresh }) => {
    held.hold();
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { early, answer } = await whileHeld(ask);
    expect([early, answer.text.includes('"uid"')]).toEqual([!fresh, fresh]);
  });

  it("a watch without a revision begins with the newest state, one of any state with what is there", async () => {
    held.hold();
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const any = await two.watch(
      `${CONFIG_MAPS}?watch=1&resourceVersion=0&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    expect(any.events.map(({ type }) => type)).toEqual(["BOOKMARK"]);
    const { early, answer } = await whileHeld(() => two.watch(`${CONFIG_MAPS}?watch=1`));
    expect([early, await answer.seen(), await any.seen()]).toEqual([false, ["ADDED x"], ["BOOKMARK 0", "ADDED x"]]);
  });

  it("a watch from a revision of the other never repeats what its caller knows", async () => {
    held.hold();
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { list } = await one.request("GET", CONFIG_MAPS);
    const watch = await two.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
    held.release();
    await one.request("PUT", X, { body: configMap("x", { a: "1" }) });
    expect(await watch.seen()).toEqual(["MODIFIED x"]);
  });

  it("a list not older than a revision of the other waits for it", async () => {
    held.hold();
    const { metadata } = await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { early, answer } = await whileHeld(() =>
      two.request("GET", `${CONFIG_MAPS}?resourceVersion=${metadata.resourceVersion}`),
    );
    expect([early, answer.list.names]).toEqual([false, ["default/x"]]);
  });

  it("a list can be continued at the other", async () => {
    for (const name of ["a", "b", "c"]) await one.request("POST", CONFIG_MAPS, { body: configMap(name) });
    const first = await one.request("GET", `${CONFIG_MAPS}?limit=2`);
    await one.request("POST", CONFIG_MAPS, { body: configMap("bb") });
    const { list } = await two.request("GET", `${CONFIG_MAPS}?limit=2&continue=${first.list.metadata.continue}`);
    expect([...first.list.names, ...list.names]).toEqual(["default/a", "default/b", "default/c"]);
  });

  it("conflicts between them are seen", async () => {
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const body = (by: string) => configMap("x", { by }, { resourceVersion: "1" });
    const answers = await Promise.all([
      one.request("PUT", X, { body: body("one") }),
      two.request("PUT", X, { body: body("two") }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it("changes that name no revision all come through, whoever makes them", async () => {
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const headers = { "content-type": "application/merge-patch+json" };
    const names = Array.from({ length: 12 }, (_, i) => `k${i}`);
    const answers = await Promise.all(
      names.map((name, i) => (i % 2 ? one : two).request("PATCH", X, { headers, body: { data: { [name]: "1" } } })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const written = names.filter((_, i) => answers[i]?.status === 200).sort();
    expect(Object.keys((await two.request("GET", X)).json.data as object).sort()).toEqual(written);
  });

  it("watchers are told when history was missed, and can start again", async () => {
    await one.request("POST", CONFIG_MAPS, { body: configMap("a") });
    const watch = await two.watch(`${CONFIG_MAPS}?watch=1`);
    await two.settle();
    held.hold();
    for (const name of ["b", "c"]) await one.request("POST", CONFIG_MAPS, { body: configMap(name) });
    await memory.compact(await memory.revision());
    held.release();
    held.fail(new StoreError("Compacted", "history is gone"));
    await clock().advance(1_000);
    const seen = await watch.seen();
    expect([seen.at(0), seen.at(-1), watch.ended]).toEqual(["ADDED a", "ERROR 410", true]);
    const again = await two.watch(`${CONFIG_MAPS}?watch=1`);
    await one.request("DELETE", `${CONFIG_MAPS}/a`);
    expect(await again.seen()).toEqual(["ADDED a", "ADDED b", "ADDED c", "DELETED a"]);
  });

  const headers = { "content-type": "application/merge-patch+json" };
  it.each([
    {
      name: "update",
      write: (rv: string) => two.request("PUT", X, { body: configMap("x", { a: "2" }, { resourceVersion: rv }) }),
    },
    { name: "patch", write: () => two.request("PATCH", X, { headers, body: { data: { a: "2" } } }) },
    {
      name: "delete",
      write: (resourceVersion: string) => two.request("DELETE", X, { body: { preconditions: { resourceVersion } } }),
    },
  ])("$name works on what the other has just written", async ({ write }) => {
    held.hold();
    await one.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { metadata } = await one.request("PUT", X, { body: configMap("x", { a: "1" }) });
    const { answer } = await whileHeld(() => write(metadata.resourceVersion ?? ""));
    expect(answer.status).toBe(200);
  });

  it("a write is answered only when its own server shows it", async () => {
    await two.settle();
    held.hold();
    const { early, answer } = await whileHeld(() => two.request("POST", CONFIG_MAPS, { body: configMap("x") }));
    expect([early, answer.status]).toEqual([false, 201]);
    expect((await two.request("GET", `${X}?resourceVersion=0`)).status).toBe(200);
  });
});
