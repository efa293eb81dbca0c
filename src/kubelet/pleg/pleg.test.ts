import { describe, expect, it } from "vitest";
import { seededRandom, silentLogger, TaskGroup, VirtualClock } from "#base";
import { POD_UID } from "../containers/index.ts";
import type { Container, PodSandbox } from "../runtime/runtime.ts";
import { simulatedRuntime } from "../runtime/simulated/index.ts";
import { changedPods, relisted } from "./changes.ts";
import { Pleg } from "./pleg.ts";

const sandboxOf = (uid: string, state: PodSandbox["state"] = "ready") =>
  ({ id: `s-${uid}`, state, labels: { [POD_UID]: uid } }) as unknown as PodSandbox;
const containerOf = (uid: string, state: Container["state"]) =>
  ({ id: `c-${uid}`, state, labels: { [POD_UID]: uid } }) as unknown as Container;

describe("two listings", () => {
  const before = relisted({ sandboxes: [sandboxOf("a"), sandboxOf("b")], containers: [containerOf("a", "running")] });
  it.each<[string, Parameters<typeof relisted>[0], string[]]>([
    ["the same", { sandboxes: [sandboxOf("a"), sandboxOf("b")], containers: [containerOf("a", "running")] }, []],
    ["one has ended", { sandboxes: [sandboxOf("a"), sandboxOf("b")], containers: [containerOf("a", "exited")] }, ["a"]],
    [
      "a sandbox is lost",
      { sandboxes: [sandboxOf("a"), sandboxOf("b", "notReady")], containers: [containerOf("a", "running")] },
      ["b"],
    ],
    [
      "one is gone, one is new",
      { sandboxes: [sandboxOf("a"), sandboxOf("c")], containers: [containerOf("a", "running")] },
      ["b", "c"],
    ],
    [
      "not a pod's",
      {
        sandboxes: [sandboxOf("a"), sandboxOf("b"), { ...sandboxOf("x"), labels: {} }],
        containers: [containerOf("a", "running")],
      },
      [],
    ],
  ])("%s", (_, listing, want) => expect(changedPods(before, relisted(listing))).toEqual(want));
});

describe("a runtime's life", () => {
  const sandbox = {
    metadata: { name: "web", namespace: "default", uid: "u1", attempt: 0 },
    labels: { [POD_UID]: "u1", "io.kubernetes.pod.name": "web" },
    annotations: {},
    logDirectory: "/logs",
    linux: { namespaces: { network: "POD" } },
  } as never;

  function setUp() {
    const clock = new VirtualClock();
    const runtime = simulatedRuntime({ clock });
    const told: string[] = [];
    let listed: ReadonlySet<string> = new Set();
    let returns = 0;
    const pleg = new Pleg({
      runtime,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      onPod: (uid) => told.push(uid),
      onBack: () => {
        returns++;
      },
      onListed: (uids) => {
        listed = uids;
      },
    });
    const tasks = new TaskGroup();
    tasks.run("pleg", (signal) => pleg.run(signal));
    return { clock, runtime, told, pleg, listed: () => listed, returns: () => returns, stop: () => tasks.stop() };
  }

  it("an event is passed on at once", async () => {
    const { clock, runtime, told, stop } = setUp();
    await clock.advance(0);
    await runtime.runPodSandbox(sandbox, "");
    await clock.advance(0);
    expect(told).toEqual(["u1"]);
    await stop();
  });

  it("what happens without an event is found by the next listing", async () => {
    const { clock, runtime, told, listed, stop } = setUp();
    runtime.down();
    await clock.advance(0);
    runtime.up();
    await runtime.runPodSandbox(sandbox, "");
    await clock.advance(1000);
    expect(told).toContain("u1");
    expect(listed()).toEqual(new Set(["u1"]));
    await stop();
  });

  it("the return of a runtime is noticed, however short it was away", async () => {
    const { clock, runtime, returns, stop } = setUp();
    await clock.advance(1000);
    runtime.down();
    await clock.advance(300);
    expect(returns()).toBe(0);
    runtime.up();
    await clock.advance(200);
    expect(returns()).toBe(1);
    await clock.advance(10_000);
    expect(returns()).toBe(1);
    await stop();
  });

  it("a long absence of the runtime is a problem until it returns", async () => {
    const { clock, runtime, pleg, stop } = setUp();
    await clock.advance(0);
    runtime.down();
    await clock.advance(170_000);
    expect(pleg.problem).toBeUndefined();
    await clock.advance(20_000);
    expect(pleg.problem).toContain("PLEG is not healthy");
    runtime.up();
    await clock.advance(2000);
    expect(pleg.problem).toBeUndefined();
    await stop();
  });
});
