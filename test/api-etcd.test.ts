/** Two API servers on one real etcd: as good as one for whoever uses either, and patient when etcd goes away. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type EtcdServer, findEtcd, startEtcd } from "../src/store/testing/etcd-server.ts";
import { Api, type Body, type Reply } from "./support/api.ts";
import { Follower, revisionOf, stateOf } from "./support/follower.ts";
import { Home } from "./support/k8ts.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** The store gives up after 5 s. */
const REFUSED_WITHIN_MS = 15_000;

describe.skipIf(findEtcd() === undefined)("two API servers on one etcd (needs etcd)", () => {
  let etcd: EtcdServer;
  const homes: Home[] = [];
  const up = async (home: Home) => {
    const result = await home.k8ts(
      "up",
      "--store",
      "etcd",
      // These servers have authorities of their own, which they would publish in turn.
      "--controllers",
      "*,-root-ca-certificate-publisher-controller",
      "--etcd-servers",
      etcd.endpoints.join(),
      "--port",
      "0",
      "--detach",
    );
    expect(result).toMatchObject({ code: 0, stderr: "" });
  };

  beforeAll(async () => {
    etcd = await startEtcd({ members: 1, tls: false, dir: mkdtempSync(join(tmpdir(), "k8ts-test-etcd-")) });
    homes.push(new Home(), new Home());
    // Both at once, on an empty etcd: what a cluster begins with is made by both, and there is one of each.
    await Promise.all(homes.map(up));
  });

  afterAll(async () => {
    await Promise.all(homes.map((home) => home[Symbol.asyncDispose]()));
    await etcd?.stop();
  });

  it("a write through one is seen by a watcher on the other", async () => {
    const [a, b] = clients();
    for (const [writer, reader] of [
      [a, b],
      [b, a],
    ] as const) {
      const { follower } = await following(reader);
      const name = await create(writer, "seen");
      for (let i = 0; i < 150; i++) {
        const written = await writer.ok("PATCH", `${CONFIG_MAPS}/${name}`, { data: { count: String(i) } });
        await follower.reached(revisionOf(written));
      }
      expect(follower.state).toEqual(stateOf(await writer.ok("GET", follower.path)));
    }
  });

  it("every request through one builds on the last answer of the other", async () => {
    let [one, other] = clients();
    for (let i = 0; i < 40; i++) {
      const name = await create(one, "handed-over");
      const path = `${CONFIG_MAPS}/${name}`;
      // What was just made is there to be read, listed, changed and deleted.
      const read = await other.ok("GET", path);
      expect(stateOf(await one.ok("GET", CONFIG_MAPS)).get(name)?.revision).toBe(revisionOf(read));
      await one.ok("PATCH", path, { data: { count: "1" } });
      const second = await other.ok("PATCH", path, { data: { count: "2" } });
      // An update that names the newest resourceVersion is not in conflict with an older state.
      const third = await one.ok("PUT", path, { ...second, data: { count: "3" } });
      expect(await other.call("PUT", path, { ...second, data: { count: "4" } })).toMatchObject({ status: 409 });
      // What looks like no change in an older state is one.
      await other.ok("PATCH", path, { data: { count: "2" } });
      await one.ok("PATCH", path, { data: { count: "3" } });
      const last = await other.ok("GET", path);
      expect(last.data).toEqual({ count: "3" });
      expect(revisionOf(last)).toBeGreaterThan(revisionOf(third));
      await other.ok("PATCH", path, { metadata: { labels: { last: "yes" } } });
      await one.ok("DELETE", path, {});
      expect(await other.call("GET", path)).toMatchObject({ status: 404 });
      expect(await other.call("PATCH", path, { data: { count: "5" } })).toMatchObject({ status: 404 });
      expect(await other.call("DELETE", path)).toMatchObject({ status: 404 });
      await other.ok("POST", CONFIG_MAPS, { metadata: { name } });
      await one.ok("DELETE", path);
      [one, other] = [other, one];
    }
  });

  it("pages and resourceVersions of one are valid on the other", async () => {
    const [a, b] = clients();
    const label = "labelSelector=pages";
    const names = ["page-0", "page-1", "page-2", "page-3", "page-4"];
    const make = (name: string) => a.ok("POST", CONFIG_MAPS, { metadata: { name, labels: { pages: "" } } });
    for (const name of names) await make(name);
    const whole = await a.ok("GET", `${CONFIG_MAPS}?${label}`);

    const pages: Body[] = [await a.ok("GET", `${CONFIG_MAPS}?${label}&limit=2`)];
    // The list goes on as it began, whatever happens meanwhile.
    await b.ok("DELETE", `${CONFIG_MAPS}/page-3`);
    await a.ok("PATCH", `${CONFIG_MAPS}/page-4`, { data: { changed: "yes" } });
    await b.ok("POST", CONFIG_MAPS, { metadata: { name: "page-5", labels: { pages: "" } } });
    for (const api of [b, a]) {
      const token = encodeURIComponent(pages.at(-1)?.metadata?.continue ?? "");
      pages.push(await api.ok("GET", `${CONFIG_MAPS}?${label}&limit=2&continue=${token}`));
    }
    expect(pages.flatMap((page) => [...stateOf(page)])).toEqual([...stateOf(whole)]);
    expect(new Set(pages.map(revisionOf))).toEqual(new Set([revisionOf(pages[0] ?? {})]));
    expect(pages.at(-1)?.metadata?.continue ?? "").toBe("");

    const revision = revisionOf(whole);
    const exact = await b.ok("GET", `${CONFIG_MAPS}?${label}&resourceVersion=${revision}&resourceVersionMatch=Exact`);
    expect([...stateOf(exact)]).toEqual([...stateOf(whole)]);
    const changed = await b.ok("PATCH", `${CONFIG_MAPS}/page-0`, { data: { changed: "yes" } });
    expect(await a.ok("GET", `${CONFIG_MAPS}/page-0?resourceVersion=${revisionOf(changed)}`)).toEqual(changed);

    const events: string[] = [];
    for await (const { type, object } of b.watch(`${CONFIG_MAPS}?${label}&watch=true&resourceVersion=${revision}`)) {
      events.push(`${type} ${object.metadata?.name}`);
      if (object.metadata?.name === "page-0") break;
    }
    expect(events).toEqual(["DELETED page-3", "MODIFIED page-4", "ADDED page-5", "MODIFIED page-0"]);
  });

  it("concurrent updates through both never lose one", async () => {
    const [a, b] = clients();
    const path = `${CONFIG_MAPS}/${await create(a, "counter")}`;
    const perClient = 25;
    const increment = async (api: Api) => {
      for (let done = 0; done < perClient; ) {
        const current = await api.ok("GET", path);
        const count = String(Number(current.data?.count ?? "0") + 1);
        const { status, text } = await api.call("PUT", path, { ...current, data: { ...current.data, count } });
        if (status === 200) done++;
        else if (status !== 409) throw new Error(text);
      }
    };
    // Patches of other fields of the same object: the server itself has to try again.
    const mark = async (api: Api, name: string) => {
      for (let i = 0; i < perClient; i++)
        await api.ok("PATCH", path, { metadata: { labels: { [`${name}-${i}`]: "" } } });
    };
    const [a2, b2] = clients();
    const [a3, b3] = clients();
    const incrementing = [a, a2, b, b2].map(increment);
    await Promise.all([...incrementing, mark(a3, "a"), mark(b3, "b")]);
    for (const api of [a, b]) {
      const { data, metadata } = await api.ok("GET", path);
      expect(data).toEqual({ count: String(4 * perClient) });
      expect(Object.keys(metadata?.labels ?? {})).toHaveLength(2 * perClient);
    }
  });

  it("kill -9 of one leaves the other's clients and watches untouched, and it comes back", async () => {
    const [killed, b] = clients();
    const [first] = homes as [Home, Home];
    const { follower, ended } = await following(b);
    const path = `${CONFIG_MAPS}/${await create(killed, "survivor")}`;
    const stop = new AbortController();
    const write = async () => {
      let count = 0;
      for (; !stop.signal.aborted; count++) await b.ok("PATCH", path, { data: { count: String(count) } });
      return count;
    };
    const writing = write();
    process.kill(first.runState().pid, "SIGKILL");
    await up(first);
    stop.abort();
    const count = await writing;
    expect(count).toBeGreaterThan(0);

    const last = await killed.ok("PATCH", path, { data: { by: "the one that was killed" } });
    expect(last.data).toEqual({ count: String(count - 1), by: "the one that was killed" });
    await follower.reached(revisionOf(last));
    expect(follower.gaps).toHaveLength(1);
    expect(follower.state).toEqual(stateOf(await killed.ok("GET", follower.path)));
    expect(ended()).toBe(false);
  });

  it.each([
    { name: "killed", stop: () => etcd.kill(0), start: () => etcd.restart(0) },
    { name: "frozen", stop: () => etcd.pause(0), start: () => etcd.resume(0) },
  ])("etcd $name: what needs it is refused in time, and everything resumes by itself", async ({ stop, start }) => {
    const [a, b] = clients();
    const path = `${CONFIG_MAPS}/${await create(a, "patient")}`;
    // A write that was refused may have happened all the same.
    const doomed = `${CONFIG_MAPS}/${await create(a, "doomed")}`;
    const { follower, ended } = await following(b);
    await stop();
    try {
      const refused = (call: Promise<Reply>) => within(REFUSED_WITHIN_MS, call);
      const answers = await Promise.all([
        ...clients().map((api) => refused(api.call("PATCH", path, { data: { count: "1" } }))),
        ...clients().map((api) => refused(api.call("POST", CONFIG_MAPS, { metadata: { generateName: "lost-" } }))),
        ...clients().map((api) => refused(api.call("DELETE", doomed))),
        ...clients().map((api) => refused(api.call("GET", path))),
        ...clients().map((api) => refused(api.call("GET", CONFIG_MAPS))),
      ]);
      for (const { status, body } of answers) {
        expect({ status, body }).toMatchObject({
          status: expect.toSatisfy((code: number) => code === 503 || code === 504),
          body: { kind: "Status", message: expect.stringContaining("etcd is not available") },
        });
      }
      const ready = await within(REFUSED_WITHIN_MS, a.call("GET", "/readyz?verbose"));
      expect(ready).toMatchObject({ status: 500, text: expect.stringContaining("[-]etcd failed") });
      // A read that does not ask for the newest state needs no etcd.
      expect(await b.ok("GET", `${path}?resourceVersion=0`)).toMatchObject({ kind: "ConfigMap" });
    } finally {
      start();
    }
    await etcd.healthy();
    await expect.poll(async () => (await a.call("GET", "/readyz")).status).toBe(200);
    await expect.poll(async () => (await a.call("PATCH", path, { data: { back: "yes" } })).status).toBe(200);
    const last = await b.ok("PATCH", path, { data: { back: "on both" } });
    await follower.reached(revisionOf(last));
    expect(follower.state).toEqual(stateOf(await a.ok("GET", follower.path)));
    expect(follower.gaps).toHaveLength(1);
    expect(ended()).toBe(false);
  });

  /** One of each server, open until the end of the test. */
  function clients(): [Api, Api] {
    const [a, b] = homes.map((home, i) => new Api(home, i === 0 ? "http/1.1" : "h2"));
    if (a === undefined || b === undefined) throw new Error("both servers run while tests do");
    onTestFinished(() => {
      for (const api of [a, b]) api[Symbol.dispose]();
    });
    return [a, b];
  }

  /** A watch through the server of `api`, on a connection of its own, that has begun. */
  async function following(api: Api): Promise<{ follower: Follower; ended: () => boolean }> {
    const own = api.another();
    const follower = new Follower(own, CONFIG_MAPS);
    let end = false;
    const done = follower.follow().finally(() => {
      end = true;
    });
    onTestFinished(() => {
      own[Symbol.dispose]();
      return done;
    });
    const name = await create(api, "began");
    await follower.reached(revisionOf(await api.ok("GET", `${CONFIG_MAPS}/${name}`)));
    return { follower, ended: () => end };
  }
});

let made = 0;
async function create(api: Api, name: string): Promise<string> {
  const { metadata } = await api.ok("POST", CONFIG_MAPS, { metadata: { name: `${name}-${++made}` } });
  return metadata?.name ?? "";
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
