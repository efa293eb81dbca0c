import { afterEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { seededRandom, silentLogger } from "#base";
import { testServer } from "../apiserver/testing/index.ts";
import { eventRecorder } from "./event-recorder.ts";
import { Client } from "./requests/client.ts";
import { inProcess } from "./transport/in-process.ts";

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", uid: "u1", resourceVersion: "7" },
};
const started = { about: pod, type: "Normal", reason: "Started", note: "started" } as const;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function recording() {
  const server = await testServer();
  const client = new Client({
    transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }),
    clock: server.clock,
  });
  open.push(
    () => server.close(),
    () => client.close(),
  );
  const recorder = eventRecorder({
    events: client.of(kinds.Event),
    controller: "test-controller",
    instance: "here",
    clock: server.clock,
    random: seededRandom(1),
    log: silentLogger,
  });
  const recorded = async () => {
    await recorder.flush();
    return (await client.of(kinds.Event).in("default").list()).items;
  };
  return { server, recorder, recorded };
}

describe("the event recorder", () => {
  it("says what happened, to what, and who says so", async () => {
    const { recorder, recorded } = await recording();
    recorder.record(started);
    expect(await recorded()).toMatchObject([
      {
        metadata: { namespace: "default", name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
        regarding: { kind: "Pod", name: "web", uid: "u1" },
        reportingController: "test-controller",
        reportingInstance: "here",
        reason: "Started",
        action: "Started",
        note: "started",
        type: "Normal",
      },
    ]);
  });

  it("makes one series of what happens again", async () => {
    const { recorder, recorded } = await recording();
    for (let i = 0; i < 10; i++) recorder.record(started);
    const [event, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(event?.series).toMatchObject({ count: 10 });
  });

  it("begins anew after a while, and for something else", async () => {
    const { server, recorder, recorded } = await recording();
    recorder.record(started);
    recorder.record({ ...started, note: "started again" });
    await recorder.flush();
    await server.clock.advance(10 * 60_000);
    recorder.record(started);
    expect(await recorded()).toHaveLength(3);
  });

  it("does not let one object flood the cluster", async () => {
    const { recorder, recorded } = await recording();
    for (let i = 0; i < 100; i++) recorder.record({ ...started, note: `number ${i}` });
    expect(await recorded()).toHaveLength(25);
  });

  it("survives a server that refuses", async () => {
    const { server, recorder, recorded } = await recording();
    recorder.record({ ...started, about: { ...pod, metadata: { ...pod.metadata, name: "NOT VALID" } } });
    await recorder.flush();
    recorder.record(started);
    expect(await recorded()).toHaveLength(1);
    await server.settle();
  });
});
