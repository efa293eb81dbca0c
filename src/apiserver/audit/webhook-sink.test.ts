import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { realClock, seededRandom, settled, VirtualClock } from "#base";
import { postBytes } from "./post-bytes.ts";
import { eventOf } from "./testing.ts";
import { DEFAULT_BATCH, WebhookSink, type WebhookSinkOptions } from "./webhook-sink.ts";

const event = (text: string) => eventOf(['{"auditID":', Buffer.from(`"${text}"}`)]);

function start(options: Partial<WebhookSinkOptions> = {}, fails: () => boolean = () => false) {
  const clock = new VirtualClock();
  const lost: string[] = [];
  /** The ids in each body that was taken. */
  const taken: string[][] = [];
  let tries = 0;
  const sink = new WebhookSink({
    mode: "batch",
    post: {
      close: () => {},
      send: async (body) => {
        tries++;
        if (fails()) throw new Error("not now");
        const { items } = JSON.parse(body.toString()) as { items: { auditID: string }[] };
        taken.push(items.map(({ auditID }) => auditID));
      },
    },
    batch: { ...DEFAULT_BATCH, maxSize: 3, bufferSize: 6 },
    initialBackoffMs: 10_000,
    failed: (plugin, _, events) => void lost.push(`${plugin} ${events}`),
    clock,
    random: seededRandom(1),
    ...options,
  });
  const push = (...ids: string[]) => {
    for (const id of ids) sink.push(event(id));
  };
  return { sink, clock, lost, taken, push, tries: () => tries };
}

describe("batches", () => {
  it("go when they are full, or after a while", async () => {
    const { clock, taken, push } = start();
    push("a", "b", "c", "d");
    await settled();
    expect(taken).toEqual([["a", "b", "c"]]);
    await clock.advance(29_999);
    expect(taken.length).toBe(1);
    await clock.advance(1);
    expect(taken).toEqual([["a", "b", "c"], ["d"]]);
    expect(clock.pending).toBe(0);
  });

  it("go no faster than they may", async () => {
    const { clock, taken, push } = start({ batch: { ...DEFAULT_BATCH, maxSize: 1, throttle: { qps: 10, burst: 2 } } });
    push("a", "b", "c", "d");
    await settled();
    expect(taken).toEqual([["a"], ["b"]]);
    await clock.advance(100);
    expect(taken.length).toBe(3);
    await clock.advance(100);
    expect(taken.length).toBe(4);
  });

  it("are cut by their size", async () => {
    const { clock, taken, push } = start({
      truncation: { maxEventBytes: 18, maxBatchBytes: 33 },
      batch: { ...DEFAULT_BATCH, maxSize: 9 },
    });
    push("aaa", "bb", "cc", "too long");
    await clock.advance(30_000);
    await clock.advance(30_000);
    expect(taken).toEqual([["aaa", "bb"], ["cc"]]);
  });

  it("go at once where requests wait for them", async () => {
    const { sink, taken, push } = start({ mode: "blocking" });
    push("a");
    expect(await sink.written()).toBe(true);
    expect(taken).toEqual([["a"]]);
  });
});

describe("a receiver that fails", () => {
  it("is tried again, five times in all", async () => {
    let failures = 4;
    const { clock, taken, lost, push, tries } = start({}, () => failures-- > 0);
    push("a", "b", "c");
    await clock.advance(200_000);
    expect([taken, lost, tries()]).toEqual([[["a", "b", "c"]], [], 5]);
  });

  it("loses what it never took", async () => {
    const { clock, lost, push, tries } = start({}, () => true);
    push("a", "b", "c");
    await clock.advance(8_000);
    expect(tries()).toBe(1);
    await clock.advance(200_000);
    expect([lost, tries(), clock.pending]).toEqual([["webhook 3"], 5, 0]);
  });

  it("has so many events waiting for it, and no more", async () => {
    const { lost, push } = start({ batch: { ...DEFAULT_BATCH, maxSize: 100, bufferSize: 4 } }, () => true);
    push("a", "b", "c", "d", "e");
    expect(lost).toEqual(["buffered 1"]);
  });

  it("gets one more chance at the end", async () => {
    let down = true;
    const { sink, clock, taken, push } = start({}, () => down);
    push("a", "b", "c", "d");
    await settled();
    down = false;
    await sink.close();
    expect([taken.flat().sort(), clock.pending]).toEqual([["a", "b", "c", "d"], 0]);
    sink.push(event("late"));
    expect(taken.flat()).not.toContain("late");
  });
});

describe("over the network", () => {
  it("sends JSON with its token, and minds the answer's code", async () => {
    const asked: { authorization?: string | undefined; type?: string | undefined; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        asked.push({ authorization: request.headers.authorization, type: request.headers["content-type"], body });
        response.writeHead(asked.length === 1 ? 200 : 503).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const post = postBytes(
      {
        context: "c",
        server: `http://127.0.0.1:${port}/audit`,
        namespace: undefined,
        caPem: undefined,
        client: { token: "t" },
        tlsServerName: undefined,
        insecureSkipTlsVerify: false,
      },
      realClock(),
    );
    try {
      await post.send(Buffer.from("{}"));
      expect(asked).toEqual([{ authorization: "Bearer t", type: "application/json", body: "{}" }]);
      await expect(post.send(Buffer.from("{}"))).rejects.toThrow("HTTP status 503");
    } finally {
      post.close();
      server.close();
      await once(server, "close");
    }
  });
});
