import { afterEach, describe, expect, it } from "vitest";
import { settled, silentLogger, VirtualClock } from "#base";
import { type Change, type Entry, openMemoryStore, type Revision, StoreError } from "#store";
import { HeldStore } from "../testing/index.ts";
import { StoreFeed, type Subscriber } from "./feed.ts";
import { ResourceCache } from "./resource-cache.ts";

class Recorder implements Subscriber {
  readonly prefix: string;
  readonly told: string[] = [];

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  replace(entries: readonly Entry[], revision: Revision): void {
    this.told.push(`all ${entries.map(({ key }) => key.slice(this.prefix.length)).join(",")} at ${revision}`);
  }

  change({ key, revision, entry }: Change): void {
    this.told.push(`${entry === undefined ? "-" : "+"}${key.slice(this.prefix.length)} at ${revision}`);
  }
}

const VALUE = Buffer.from("{}");
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function setUp() {
  const clock = new VirtualClock();
  const memory = openMemoryStore({ clock });
  const store = new HeldStore(memory);
  const feed = new StoreFeed({ store, prefix: "/registry/", clock, log: silentLogger });
  const pods = new Recorder("/registry/core/pods/");
  const leases = new Recorder("/registry/leases/");
  feed.subscribe(pods);
  feed.subscribe(leases);
  const put = async (key: string) => {
    const outcome = await memory.create(`/registry/${key}`, VALUE);
    return outcome.ok ? outcome.revision : expect.unreachable();
  };
  const run = () => {
    const stop = new AbortController();
    const running = feed.run(stop.signal);
    const end = async () => {
      stop.abort();
      await running;
    };
    cleanups.push(end);
    return end;
  };
  cleanups.push(() => memory.close());
  return { clock, memory, store, feed, pods, leases, put, run };
}

describe("the feed", () => {
  it("lists once, then follows, and gives each cache its own", async () => {
    const { feed, pods, leases, put, run } = await setUp();
    await put("core/pods/a/x");
    await put("leases/l");
    await put("core/nodes/n");
    await feed.load();
    run();
    await feed.reached(await put("core/pods/a/y"));
    await feed.reached(await put("leases/m"));
    await feed.reached(await put("core/podsandmore/a/y"));
    expect(pods.told).toEqual(["all a/x at 3", "+a/y at 4"]);
    expect(leases.told).toEqual(["all l at 3", "+m at 5"]);
    expect(feed.revision).toBe(6);
  });

  it("starts some changes back, where the store still has them, and comes up to date", async () => {
    const { feed, pods, put, run } = await setUp();
    await put("core/pods/a/x");
    await put("core/pods/a/y");
    await put("core/pods/a/z");
    expect(await feed.load(2)).toBe(3);
    expect(pods.told).toEqual(["all a/x at 1"]);
    run();
    await feed.reached(3);
    expect(pods.told.slice(1)).toEqual(["+a/y at 2", "+a/z at 3"]);
  });

  it("starts where history begins, if less of it is left", async () => {
    const { feed, memory, pods, put } = await setUp();
    await put("core/pods/a/x");
    await put("core/pods/a/y");
    await memory.compact(2);
    expect(await feed.load(100)).toBe(2);
    expect(pods.told).toEqual(["all a/x,a/y at 2"]);
  });

  it("lists in pages without losing any", async () => {
    const { feed, pods, put } = await setUp();
    for (let i = 0; i < 4_100; i++) await put(`core/pods/a/${String(i).padStart(4, "0")}`);
    await feed.load();
    expect(pods.told[0]?.split(",")).toHaveLength(4_100);
  });

  it("says when a revision has been reached, also one that concerns nobody", async () => {
    const { feed, put, store, run } = await setUp();
    await feed.load();
    run();
    store.hold();
    const revision = await put("core/pods/a/x");
    let reached = false;
    const waiting = feed.reached(revision).then(() => {
      reached = true;
    });
    await settled();
    expect(reached).toBe(false);
    store.release();
    await waiting;
    expect(feed.revision).toBe(revision);
    await feed.reached(revision);
  });

  it("lets who waits give up", async () => {
    const { feed, run, put } = await setUp();
    await feed.load();
    run();
    const patience = new AbortController();
    const waiting = feed.reached(99, patience.signal);
    const why = new Error("enough");
    patience.abort(why);
    await expect(waiting).rejects.toBe(why);
    await expect(feed.reached(99, patience.signal)).rejects.toBe(why);
    await feed.reached(await put("core/pods/a/x"));
  });

  it("lists again when the history it needs is gone, and goes on from there", async () => {
    const { clock, memory, store, feed, pods, put, run } = await setUp();
    await feed.load();
    run();
    await feed.reached(await put("core/pods/a/x"));
    store.hold();
    await put("core/pods/a/y");
    await settled();
    await put("core/pods/a/z");
    await memory.compact(await memory.revision());
    store.release();
    await clock.advance(1_000);
    await feed.reached(await put("core/pods/b/x"));
    expect(pods.told.slice(0, 2)).toEqual(["all  at 0", "+a/x at 1"]);
    expect(pods.told.slice(-2)).toEqual(["all a/x,a/y,a/z at 3", "+b/x at 4"]);
    expect(pods.told).not.toContain("+a/z at 3");
  });

  it("comes back after the store was away, with whoever waited", async () => {
    const { clock, store, feed, pods, put, run } = await setUp();
    await feed.load();
    run();
    store.hold();
    const revision = await put("core/pods/a/x");
    const waiting = feed.reached(revision);
    store.fail(new StoreError("Unavailable", "gone for a while"));
    await clock.advance(1_000);
    await waiting;
    expect(pods.told).toEqual(["all  at 0", "all a/x at 1"]);
  });

  it("lets nobody wait for ever once it has ended", async () => {
    const { feed, run } = await setUp();
    await feed.load();
    const end = run();
    const waiting = feed.reached(99);
    const refused = expect(waiting).rejects.toBeDefined();
    await end();
    await refused;
    await expect(feed.reached(99)).rejects.toBeDefined();
  });

  it("ends when the store is closed", async () => {
    const { memory, feed } = await setUp();
    await feed.load();
    const running = feed.run(new AbortController().signal);
    await settled();
    await memory.close();
    await running;
  });
});

describe("who joins late", () => {
  it("starts with what is there, then follows", async () => {
    const { feed, put, run } = await setUp();
    await put("widgets/a");
    await feed.load();
    run();
    const widgets = new Recorder("/registry/widgets/");
    await feed.join(widgets);
    await put("widgets/b");
    await settled();
    expect(widgets.told).toEqual(["all a at 1", "+b at 2"]);
    expect(feed.revision).toBe(2);
  });

  it("misses nothing and sees nothing twice, whatever is written while it joins", async () => {
    const { feed, store, put, run } = await setUp();
    await put("widgets/a");
    await feed.load();
    run();
    await settled();
    store.hold();
    await put("widgets/b");
    const widgets = new Recorder("/registry/widgets/");
    const joining = feed.join(widgets);
    await settled();
    const last = await put("widgets/c");
    // The store is ahead of the feed: the caches must not be.
    expect(widgets.told).toEqual([]);
    store.release();
    await joining;
    await feed.reached(last);
    expect(widgets.told).toEqual(["all a,b at 2", "+c at 3"]);
  });

  it("takes the feed's own list if that starts again meanwhile", async () => {
    const { clock, feed, store, put, run } = await setUp();
    await feed.load();
    run();
    await settled();
    store.hold();
    await put("widgets/a");
    const widgets = new Recorder("/registry/widgets/");
    const joining = feed.join(widgets);
    await settled();
    store.fail(new StoreError("Compacted", "too old"));
    store.release();
    await clock.advance(5_000);
    await joining;
    await put("widgets/b");
    await settled();
    expect(widgets.told).toEqual(["all a at 1", "+b at 2"]);
  });

  it("is told no more once it has left, nor if the store fails it", async () => {
    const { feed, memory, put, run } = await setUp();
    await feed.load();
    const end = run();
    const widgets = new Recorder("/registry/widgets/");
    const leave = await feed.join(widgets);
    leave();
    await put("widgets/a");
    await settled();
    expect(widgets.told).toEqual(["all  at 0"]);
    await end();
    await memory.close();
    await expect(feed.join(new Recorder("/registry/gadgets/"))).rejects.toThrow();
  });

  it("takes over the state of another feed, of a fork of its store, and of no other revision", async () => {
    const { memory, feed, put, run } = await setUp();
    const cache = new ResourceCache("/registry/core/configmaps/");
    feed.subscribe(cache);
    await put("core/configmaps/a/x");
    await put("core/pods/a/x");
    await feed.load();
    run();
    const frozen = feed.frozen((each) => (each instanceof ResourceCache ? new ResourceCache(each.prefix) : undefined));
    const fork = memory.fork();
    const clock = new VirtualClock();
    const adopting = async () => {
      const other = new StoreFeed({ store: fork, prefix: "/registry/", clock, log: silentLogger });
      const [own, pods] = [new ResourceCache(cache.prefix), new Recorder("/registry/core/pods/")];
      other.subscribe(own);
      other.subscribe(pods);
      return { adopted: await other.adopt(frozen), object: own.get("a/x"), told: pods.told, revision: other.revision };
    };
    expect(await adopting()).toEqual({ adopted: true, object: cache.get("a/x"), told: ["all a/x at 2"], revision: 2 });
    // What happens later, on either side, is not in it.
    await feed.reached(await put("core/configmaps/a/y"));
    expect((await adopting()).object).toBe(cache.get("a/x"));
    await fork.create("/registry/core/configmaps/a/z", VALUE);
    expect(await adopting()).toMatchObject({ adopted: false, object: undefined, told: [] });
    await fork.close();
  });
});
