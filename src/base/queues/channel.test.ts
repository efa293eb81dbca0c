import { describe, expect, it } from "vitest";
import { Channel } from "./channel.ts";

async function collect<T>(channel: Channel<T>): Promise<{ items: T[]; error?: unknown }> {
  const items: T[] = [];
  try {
    for await (const item of channel) items.push(item);
    return { items };
  } catch (error) {
    return { items, error };
  }
}

describe("Channel", () => {
  const endings = [
    { name: "close", end: (channel: Channel<number>) => channel.close(), want: { items: [1, 2] } },
    { name: "fail", end: (channel: Channel<number>) => channel.fail("bad"), want: { items: [1, 2], error: "bad" } },
  ];
  it.each(endings)("delivers what waits before $name, whoever comes first", async ({ end, want }) => {
    const early = new Channel<number>({ capacity: 5 });
    const collected = collect(early);
    const late = new Channel<number>({ capacity: 5 });
    for (const channel of [early, late]) {
      channel.push(1);
      channel.push(2);
      end(channel);
      end(channel);
      expect([channel.push(3), channel.closed]).toEqual([false, true]);
    }
    expect(await collected).toEqual(want);
    expect(await collect(late)).toEqual(want);
  });

  it("throws a failure once", async () => {
    const channel = new Channel<number>({ capacity: 1 });
    const iterator = channel[Symbol.asyncIterator]();
    channel.fail(new Error("bad"));
    await expect(iterator.next()).rejects.toThrow("bad");
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it("refuses more than its capacity and tells when there is room", async () => {
    const channel = new Channel<number>({ capacity: 2 });
    expect([1, 2, 3].map((n) => channel.push(n))).toEqual([true, true, false]);
    const room = channel.room();
    const iterator = channel[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    expect(await room).toBe(true);
    expect(await channel.room()).toBe(true);
    expect([channel.push(4), channel.push(5), channel.length]).toEqual([true, false, 2]);
    const closing = channel.room();
    channel.close();
    expect([await closing, await channel.room()]).toEqual([false, false]);
  });

  it("tells the producer when the consumer leaves", async () => {
    let left = 0;
    const channel = new Channel<number>({ capacity: 10, onLeave: () => left++ });
    for (const n of [1, 2, 3]) channel.push(n);
    for await (const item of channel) if (item === 2) break;
    expect([left, channel.length, channel.closed, channel.push(4)]).toEqual([1, 0, true, false]);
  });

  it("has one consumer, and some capacity", () => {
    const channel = new Channel<number>({ capacity: 1 });
    channel[Symbol.asyncIterator]();
    expect(() => channel[Symbol.asyncIterator]()).toThrow("one consumer");
    expect(() => new Channel({ capacity: 0 })).toThrow(RangeError);
  });

  it("keeps order and loses nothing when a producer waits for room", async () => {
    const channel = new Channel<number>({ capacity: 7 });
    const numbers = Array.from({ length: 1_000 }, (_, i) => i);
    const produce = async () => {
      for (const n of numbers) while (!channel.push(n)) if (!(await channel.room())) return;
      channel.close();
    };
    const [{ items }] = await Promise.all([collect(channel), produce()]);
    expect(items).toEqual(numbers);
  });

  it("answers several calls of next in order", async () => {
    const channel = new Channel<number>({ capacity: 1 });
    const iterator = channel[Symbol.asyncIterator]();
    const results = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    channel.push(1);
    channel.push(2);
    channel.close();
    expect((await results).map(({ value }) => value)).toEqual([1, 2, undefined]);
  });
});
