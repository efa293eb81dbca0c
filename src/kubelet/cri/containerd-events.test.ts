import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type Container, type PodSandbox, RuntimeError, type RuntimeEvent } from "../runtime/runtime.ts";
import { agrees, type Change, type CriView, changeIn, confirmedEvents, type Seen } from "./containerd-events.ts";
import { containerdMethods } from "./containerd-messages.ts";

describe("changeIn", () => {
  const methods = containerdMethods();
  const envelope = (topic: string, value: Buffer) => ({ namespace: "k8s.io", topic, event: { typeUrl: "", value } });
  const ofContainer = methods.ContainerId.encode({ id: "c1" });
  it.each([
    ["/containers/create", ofContainer, { type: "created", id: "c1" }],
    ["/containers/delete", ofContainer, { type: "deleted", id: "c1" }],
    ["/tasks/start", ofContainer, { type: "started", id: "c1" }],
    ["/tasks/exit", methods.TaskExit.encode({ containerId: "c1", id: "c1" }), { type: "stopped", id: "c1" }],
    ["/tasks/exit", methods.TaskExit.encode({ containerId: "c1", id: "an-exec" }), undefined],
    ["/tasks/oom", ofContainer, { type: "stopped", id: "c1", isLate: true }],
    ["/images/create", ofContainer, undefined],
  ])("%s", (topic, value, want) => {
    expect(changeIn(envelope(topic, value), methods)).toEqual(want);
  });

  it("an event that is cut off is an error of the runtime", () => {
    const cutOff = Buffer.concat([ofContainer, Buffer.from([0x12, 0x7f])]);
    expect(() => changeIn(envelope("/tasks/start", cutOff), methods)).toThrow(RuntimeError);
  });

  it("an empty envelope is no change", () => {
    expect(changeIn({ namespace: "", topic: "/tasks/start", event: null }, methods)).toBeUndefined();
  });
});

describe("agrees", () => {
  it.each<[Change["type"], Seen["state"], boolean]>([
    ["created", "absent", false],
    ["created", "created", true],
    ["started", "created", false],
    ["started", "ended", true],
    ["stopped", "running", false],
    ["stopped", "ended", true],
    ["stopped", "absent", true],
    ["deleted", "ended", false],
    ["deleted", "absent", true],
  ])("%s, while CRI shows it %s: %s", (type, state, want) => {
    expect(agrees({ type, id: "x" }, { state })).toBe(want);
  });
});

/** A CRI that knows these, as tests change them. */
class View implements CriView {
  readonly containers = new Map<string, Container["state"]>();
  readonly sandboxes = new Map<string, PodSandbox["state"]>();
  async container(id: string) {
    const state = this.containers.get(id);
    return state === undefined ? undefined : ({ id, podSandboxId: "s", state } as Container);
  }
  async sandbox(id: string) {
    const state = this.sandboxes.get(id);
    return state === undefined ? undefined : ({ id, state } as PodSandbox);
  }
}

async function* told(changes: readonly Change[]): AsyncGenerator<Change> {
  yield* changes;
}

describe("confirmedEvents", () => {
  const run = (changes: readonly Change[], view: View, clock: VirtualClock) => {
    const events: RuntimeEvent[] = [];
    const ended = (async () => {
      const stop = new AbortController();
      const following = confirmedEvents({ changes: () => held(changes, stop.signal), view, clock }, stop.signal);
      for await (const event of following) {
        events.push(event);
        if (events.length === changes.length) stop.abort();
      }
    })();
    return { events, ended };
  };
  /** Stays open behind the changes, as a subscription does. */
  async function* held(changes: readonly Change[], signal: AbortSignal): AsyncGenerator<Change> {
    yield* told(changes);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  it("waits until CRI agrees, and holds up no other container meanwhile", async () => {
    const [view, clock] = [new View(), new VirtualClock()];
    view.containers.set("slow", "running").set("quick", "exited");
    const { events, ended } = run(
      [
        { type: "stopped", id: "slow" },
        { type: "stopped", id: "quick" },
      ],
      view,
      clock,
    );
    await clock.advance(20);
    expect(events).toEqual([{ type: "stopped", containerId: "quick", podSandboxId: "s" }]);
    view.containers.set("slow", "exited");
    await clock.advance(200);
    await ended;
    expect(events[1]).toEqual({ type: "stopped", containerId: "slow", podSandboxId: "s" });
  });

  it("keeps the order of one container, and its sandbox beyond its end", async () => {
    const [view, clock] = [new View(), new VirtualClock()];
    view.containers.set("c", "created");
    const { events, ended } = run(
      [
        { type: "started", id: "c" },
        { type: "deleted", id: "c" },
      ],
      view,
      clock,
    );
    await clock.advance(10);
    expect(events).toEqual([]);
    view.containers.set("c", "running");
    await clock.advance(50);
    view.containers.delete("c");
    await clock.advance(2000);
    await ended;
    expect(events).toEqual([
      { type: "started", containerId: "c", podSandboxId: "s" },
      { type: "deleted", containerId: "c", podSandboxId: "s" },
    ]);
  });

  it("passes on a second later what CRI has to hear of first, and holds up nothing else", async () => {
    const [view, clock] = [new View(), new VirtualClock()];
    view.containers.set("c", "running");
    const { events, ended } = run(
      [
        { type: "stopped", id: "c", isLate: true },
        { type: "stopped", id: "c" },
      ],
      view,
      clock,
    );
    view.containers.set("c", "exited");
    await clock.advance(100);
    const stopped = { type: "stopped", containerId: "c", podSandboxId: "s" };
    expect(events).toEqual([stopped]);
    await clock.advance(1000);
    await ended;
    expect(events).toEqual([stopped, stopped]);
  });

  it("does not wait for ever", async () => {
    const [view, clock] = [new View(), new VirtualClock()];
    view.sandboxes.set("s", "ready");
    const { events, ended } = run([{ type: "stopped", id: "s" }], view, clock);
    await clock.advance(900);
    expect(events).toEqual([]);
    await clock.advance(2000);
    await ended;
    expect(events).toEqual([{ type: "stopped", containerId: "s", podSandboxId: "s" }]);
  });

  it("ends quietly when a question is under way while the signal aborts", async () => {
    const stop = new AbortController();
    const asked = Promise.withResolvers<void>();
    const view: CriView = {
      container: () => {
        asked.resolve();
        return new Promise((_, reject) => stop.signal.addEventListener("abort", () => reject(stop.signal.reason)));
      },
      sandbox: async () => undefined,
    };
    const changes = (signal: AbortSignal) => held([{ type: "started", id: "c" }], signal);
    const all = Array.fromAsync(confirmedEvents({ changes, view, clock: new VirtualClock() }, stop.signal));
    await asked.promise;
    stop.abort();
    expect(await all).toEqual([]);
  });

  it("throws what the subscription throws, and leaves it when its consumer leaves", async () => {
    const [view, clock] = [new View(), new VirtualClock()];
    async function* broken(): AsyncGenerator<Change> {
      yield { type: "stopped", id: "c" };
      throw new Error("the runtime is gone");
    }
    const events = confirmedEvents({ changes: broken, view, clock }, new AbortController().signal);
    await expect(Array.fromAsync(events)).rejects.toThrow("the runtime is gone");

    let left = false;
    async function* followed(signal: AbortSignal): AsyncGenerator<Change> {
      yield* held([{ type: "stopped", id: "c" }], signal);
      left = true;
    }
    for await (const _ of confirmedEvents({ changes: followed, view, clock }, new AbortController().signal)) break;
    expect(left).toBe(true);
  });
});
