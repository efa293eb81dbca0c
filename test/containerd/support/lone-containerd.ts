/** A containerd of its own in a network namespace of its own, for the tests of a file. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock, silentLogger } from "../../../src/base/index.ts";
import { sharedPlace } from "../../../src/cluster/nodes/isolation/place.ts";
import { run } from "../../../src/cluster/nodes/machine/command.ts";
import { inspectMachine } from "../../../src/cluster/nodes/machine/machine.ts";
import { endProcess, type ProcessId } from "../../../src/cluster/nodes/machine/processes.ts";
import { writePodNetwork } from "../../../src/cluster/nodes/node.ts";
import { powerOffAll } from "../../../src/cluster/nodes/power-off.ts";
import { containerdReady, startContainerd } from "../../../src/cluster/nodes/runtime/containerd.ts";
import { type NodeNames, nodeNames, siteNames } from "../../../src/cluster/nodes/site/names.ts";
import { writeSpec } from "../../../src/cluster/nodes/site/record.ts";
import { criRuntime, type Runtime } from "../../../src/kubelet/index.ts";

export class LoneContainerd implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "k8ts-containerd-"));
  readonly clock = realClock();
  readonly #site = siteNames(this.dir);
  readonly node: NodeNames = nodeNames(this.#site, "lone");
  readonly runtime: Runtime = criRuntime({ endpoint: this.node.socket, clock: this.clock, log: silentLogger });
  #process: ProcessId | undefined;

  async start(): Promise<void> {
    const options = { machine: await inspectMachine(this.dir), clock: this.clock, log: silentLogger };
    const place = sharedPlace(this.node);
    await writeSpec(this.node, { wanted: "running" });
    if (this.#process === undefined) {
      await run("ip", ["netns", "add", this.node.namespace]);
      await run("ip", ["-n", this.node.namespace, "link", "set", "lo", "up"]);
    }
    this.#process = await startContainerd(place, options);
    await writePodNetwork(place, ["10.244.7.0/24"]);
    await containerdReady(this.node, place, this.#process, options);
  }

  /** As kill -9 does. */
  async kill(): Promise<void> {
    if (this.#process !== undefined) await endProcess(this.#process, 0, this.clock);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close();
    await this.kill();
    await powerOffAll(this.#site, this.clock);
    await rm(this.dir, { recursive: true, force: true });
  }
}
