/** Requests wait for what any thread had shown before. */
import { expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { openMemoryStore } from "#store";
import { StoreFeed } from "../cache/feed.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { inStep } from "./serving-thread.ts";

const request = { path: "/" } as ApiRequest;
const response = { status: 200, headers: {}, body: [] };

async function opened(newest: () => number) {
  const clock = realClock();
  const store = openMemoryStore({ clock });
  const feed = new StoreFeed({ store, prefix: "/", clock, log: silentLogger });
  await feed.load();
  const ending = new AbortController();
  const running = feed.run(ending.signal);
  const seen: number[] = [];
  const handle = inStep(
    () => {
      seen.push(feed.revision);
      return response;
    },
    { thread: { newest, isFirst: false }, feed, clock },
  );
  const close = async () => {
    ending.abort();
    await running;
    await store.close();
  };
  return { store, handle, seen, close };
}

it("begins a request at once when the caches are as new as any thread", async () => {
  const { handle, seen, close } = await opened(() => 0);
  expect(handle(request)).toBe(response);
  expect(seen).toEqual([0]);
  await close();
});

it("begins a request when the caches have reached what was shown elsewhere", async () => {
  const { store, handle, seen, close } = await opened(() => 2);
  const answer = handle(request);
  expect(seen).toEqual([]);
  await store.create("/a", Buffer.from("{}"));
  await store.create("/b", Buffer.from("{}"));
  expect(await answer).toBe(response);
  expect(seen).toEqual([2]);
  await close();
});

it("leaves requests to the thread that has to answer them", () => {
  const elsewhere = ({ path }: ApiRequest) => (path === "/metrics" ? { ...response, status: 299 } : undefined);
  const feed = { revision: 5 } as StoreFeed;
  const thread = { newest: () => 5, isFirst: false, elsewhere };
  const handle = inStep(() => response, { thread, feed, clock: realClock() });
  expect(handle({ path: "/metrics" } as ApiRequest)).toMatchObject({ status: 299 });
  expect(handle(request)).toBe(response);
});
