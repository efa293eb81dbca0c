/** A server on a store that others write to, and that hears of their writes late: its answers are true all the same. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { openMemoryStore, type Store } from "#store";
import { configMap, HeldStore, type TestAnswer, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const headers = { "content-type": "application/merge-patch+json" };

let store: Store;
let held: HeldStore;
let other: TestServer;
let late: TestServer;

/**
 * `late` knows a first state of `changed` and `deleted`; what happened to them since, and `created`, it has not heard
 * of.
 */
beforeEach(async () => {
  const clock = new VirtualClock();
  store = openMemoryStore({ clock });
  held = new HeldStore(store);
  other = await testServer({ store, clock, seed: 1 });
  late = await testServer({ store: held, clock, seed: 2 });
  for (const name of ["changed", "deleted"]) await create(name);
  await late.settle();
  held.hold();
  await other.request("PATCH", `${CONFIG_MAPS}/changed`, { body: { data: { count: "2" } }, headers });
  await other.request("DELETE", `${CONFIG_MAPS}/deleted`);
  await create("created");
});

afterEach(async () => {
  held.release();
  await Promise.all([other.close(), late.close()]);
  await store.close();
});

const create = (name: string) => other.request("POST", CONFIG_MAPS, { body: configMap(name, { count: "1" }) });
const get = (name: string) => late.request("GET", `${CONFIG_MAPS}/${name}`);
const remove = (name: string) => late.request("DELETE", `${CONFIG_MAPS}/${name}`);
const patch = (name: string, count: string) =>
  late.request("PATCH", `${CONFIG_MAPS}/${name}`, { body: { data: { count } }, headers });
const update = async (state: "newest" | "old") => {
  const { metadata } = await other.request("GET", `${CONFIG_MAPS}/changed`);
  const resourceVersion = state === "newest" ? metadata.resourceVersion : "1";
  const body = configMap("changed", { count: "3" }, { resourceVersion });
  return late.request("PUT", `${CONFIG_MAPS}/changed`, { body });
};

describe("a server whose cache is behind", () => {
  const cases: { name: string; ask: () => Promise<TestAnswer>; want: number; leaves?: readonly [string, string] }[] = [
    { name: "reads what was created", ask: () => get("created"), want: 200 },
    { name: "does not read what was deleted", ask: () => get("deleted"), want: 404 },
    { name: "changes what was created", ask: () => patch("created", "2"), want: 200, leaves: ["created", "2"] },
    { name: "does not change what was deleted", ask: () => patch("deleted", "2"), want: 404 },
    { name: "changes what was the same before", ask: () => patch("changed", "1"), want: 200, leaves: ["changed", "1"] },
    { name: "takes an update of the newest state", ask: () => update("newest"), want: 200, leaves: ["changed", "3"] },
    { name: "refuses an update of an old state", ask: () => update("old"), want: 409, leaves: ["changed", "2"] },
    { name: "deletes what was created", ask: () => remove("created"), want: 200 },
    { name: "does not delete what was deleted", ask: () => remove("deleted"), want: 404 },
  ];
  it.each(cases)("$name", async ({ ask, want, leaves }) => {
    const answer = ask();
    await late.settle();
    held.release();
    expect((await answer).status).toBe(want);
    if (leaves === undefined) return;
    const [name, count] = leaves;
    expect((await other.request("GET", `${CONFIG_MAPS}/${name}`)).json).toMatchObject({ data: { count } });
  });

  it.each([
    { name: "a read", ask: () => get("created") },
    { name: "a change", ask: () => patch("changed", "4") },
    { name: "a creation", ask: () => late.request("POST", CONFIG_MAPS, { body: configMap("own") }) },
    { name: "a deletion", ask: () => remove("created") },
  ])("and hears nothing more does not keep $name waiting", async ({ ask }) => {
    const answer = ask();
    await late.settle();
    await late.clock.advance(5_000);
    expect(await answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });
});
