/**
 * kill -9 of a whole cluster, again and again, while clients write and watch through its API. After each restart
 *
 * 1. nothing that was acknowledged is missing, and nothing else is there than a last write that was not;
 * 2. resourceVersions have not gone back;
 * 3. watchers resume where they were and get each change once and in order, or are told to list again. While the server
 *    runs, those that resume are never told so.
 */
import { expect, it } from "vitest";
import { seededRandom } from "#base";
import { Api } from "./support/api.ts";
import { Follower, revisionOf, stateOf } from "./support/follower.ts";
import { freePort } from "./support/free-port.ts";
import { JournalWriter } from "./support/journal-writer.ts";
import { Home } from "./support/k8ts.ts";

const ROUNDS = 20;
const CONFIG_MAPS = "/api/v1/namespaces/crash/configmaps";

it("20 times kill -9 under load: nothing acknowledged is lost, and watches resume", { timeout: 180_000 }, async () => {
  await using home = new Home();
  using apis = new DisposableStack();
  const api = (protocol: "http/1.1" | "h2") => apis.use(new Api(home, protocol));
  const port = String(await freePort());
  let ups = 0;
  const up = async () => {
    // Every other time with several serving threads: clients are on all of them.
    const threads = ups++ % 2 === 0 ? "1" : "3";
    const result = await home.k8ts(
      "up",
      "--store",
      "embedded",
      "--port",
      port,
      "--serving-threads",
      threads,
      "--detach",
    );
    expect(result).toMatchObject({ code: 0, stderr: "" });
  };
  await up();

  const admin = api("http/1.1");
  await admin.ok("POST", "/api/v1/namespaces", { metadata: { name: "crash" } });
  // With the first writer's label on it, all followers see it.
  await admin.ok("POST", CONFIG_MAPS, { metadata: { name: "marker", labels: { writer: "w0" } } });
  const writers = Array.from({ length: 6 }, (_, i) => {
    return new JournalWriter(`w${i}`, api(i % 2 === 0 ? "http/1.1" : "h2"), CONFIG_MAPS, seededRandom(i));
  });
  const watchers = [api("http/1.1"), api("h2"), api("h2")] as const;
  const everything = new Follower(watchers[0], CONFIG_MAPS);
  const followers = [
    everything,
    new Follower(watchers[1], "/api/v1/configmaps", "writer"),
    new Follower(watchers[2], CONFIG_MAPS, "writer=w0"),
  ];

  /** Lets the followers resume, and compares what they have made of the events with lists once they have caught up. */
  const resume = async (round: number) => {
    let dropped = false;
    const watching = Promise.all(
      followers.map(async (follower) => {
        await follower.follow();
        if (dropped) await follower.follow();
      }),
    );
    const marked = await admin.ok("PATCH", `${CONFIG_MAPS}/marker`, { data: { round: String(round) } });
    const caughtUp = Promise.all(followers.map((follower) => follower.reached(revisionOf(marked))));
    expect(await Promise.race([caughtUp, watching.then(() => "a watch has ended")])).not.toBe("a watch has ended");
    for (const { path, state } of followers) expect(state).toEqual(stateOf(await admin.ok("GET", path)));
    /** Breaks their connections, so that they resume from a server that goes on. */
    const drop = () => {
      dropped = true;
      for (const each of watchers) each.drop();
    };
    return { watching, drop };
  };

  const random = seededRandom(ROUNDS);
  for (let round = 1; round <= ROUNDS; round++) {
    const { watching, drop } = await resume(round);
    const lists = followers.map(({ gaps }) => gaps.length);
    const some = countdown(10 + random.integer(50));
    const enough = countdown(60 + random.integer(100));
    const acknowledged = () => {
      some.next();
      enough.next();
    };
    const writing = Promise.all(writers.map((writer) => writer.write(acknowledged)));
    await Promise.race([some.reached, writing, watching]);
    drop();
    await Promise.race([enough.reached, writing, watching]);
    process.kill(home.runState().pid, "SIGKILL");
    await Promise.all([writing, watching]);
    expect(followers.map(({ gaps }) => gaps.length)).toEqual(lists);

    await up();
    const list = await admin.ok("GET", CONFIG_MAPS);
    const found = stateOf(list);
    expect(writers.flatMap((writer) => writer.settle(found) ?? [])).toEqual([]);
    found.delete("marker");
    // A controller's.
    found.delete("kube-root-ca.crt");
    expect(found).toEqual(new Map(writers.flatMap(({ objects }) => [...objects])));
    const revisions = [...followers.map(({ revision }) => revision), ...writers.flatMap((it) => it.revisions)];
    expect(revisionOf(list)).toBeGreaterThanOrEqual(Math.max(...revisions));
  }

  const { watching } = await resume(ROUNDS + 1);
  await home.k8ts("down");
  await watching;
  const inGap = (revision: number) => everything.gaps.some(({ after, upTo }) => after < revision && revision <= upTo);
  const acknowledged = writers.flatMap(({ revisions }) => revisions);
  expect(acknowledged.filter((revision) => !everything.seen.has(revision) && !inGap(revision))).toEqual([]);
  const told = followers.map(({ gaps }) => gaps.length - 1);
  console.info(
    `${acknowledged.length} creations and patches acknowledged; told to list again after ${told} of ${ROUNDS} restarts`,
  );
});

function countdown(from: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = from;
  return {
    reached: promise,
    next: () => {
      if (--left === 0) resolve();
    },
  };
}
