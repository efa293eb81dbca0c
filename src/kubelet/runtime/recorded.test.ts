import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { RuntimeCalls } from "./recorded.ts";
import { type PodSandboxConfig, type Runtime, RuntimeError } from "./runtime.ts";

const SANDBOX = { metadata: { uid: "u1", name: "p", namespace: "n", attempt: 0 } } as PodSandboxConfig;
const CONTAINER = { metadata: { name: "c", attempt: 0 } } as Parameters<Runtime["createContainer"]>[1];

/** A class, as runtimes are: its methods need their own `this`. */
class Scripted {
  readonly #id = "id-1";
  readonly images = { pull: async () => "ref" } as unknown as Runtime["images"];
  async runPodSandbox() {
    return this.#id;
  }
  async createContainer() {
    return this.#id;
  }
  async startContainer() {
    throw new RuntimeError("Unknown", "no such command");
  }
  async listContainers() {
    return [this.#id];
  }
}

describe("calls to the runtime", () => {
  const calls = new RuntimeCalls(new VirtualClock());
  const runtime = calls.recording(new Scripted() as unknown as Runtime);

  it("are kept by Pod until they are taken, failures included", async () => {
    await runtime.runPodSandbox(SANDBOX, "");
    const id = await runtime.createContainer("s", CONTAINER, SANDBOX);
    await expect(runtime.startContainer(id)).rejects.toThrow("no such command");
    await runtime.images.pull("image", { sandbox: SANDBOX });
    const { calls: taken } = calls.take("u1", 0, 41);
    expect(taken.map(({ what, failed }) => [what, failed])).toEqual([
      ["RunPodSandbox", undefined],
      ["CreateContainer c", undefined],
      ["StartContainer c", "no such command"],
      ["PullImage image", undefined],
    ]);
    expect(calls.take("u1", 7, 42)).toEqual({ startedAt: 7, woken: [42], calls: [] });
  });

  it("leave the others as they are", async () => {
    expect(await runtime.listContainers()).toEqual(["id-1"]);
  });

  it("of drivers are in the order in which they began, with the changes that were waited for", async () => {
    const { record, waitedFor } = calls.of("u2");
    await record("volumes", "mount data", () => record("driver", "NodeStageVolume", async () => waitedFor(17)));
    const taken = calls.take("u2", 0, 41);
    expect(taken.calls.map(({ to, what }) => `${to} ${what}`)).toEqual([
      "driver NodeStageVolume",
      "volumes mount data",
    ]);
    expect(taken.woken).toEqual([41, 17]);
  });

  it("are bounded", async () => {
    for (let turn = 0; turn < 40; turn++) await runtime.runPodSandbox(SANDBOX, "");
    expect(calls.take("u1", 0, 41).calls).toHaveLength(16);
  });
});
