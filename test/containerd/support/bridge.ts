/**
 * Machines on one bridge, which leads nowhere else: each a network namespace with an address, a data directory and a
 * containerd of its own.
 */
import { randomBytes } from "node:crypto";
import { run } from "../../../src/cluster/nodes/machine/command.ts";
import { Machine } from "./machine.ts";

export class Bridge implements AsyncDisposable {
  readonly machines: readonly Machine[];
  readonly #namespace: string;

  private constructor(namespace: string, machines: readonly Machine[]) {
    this.#namespace = namespace;
    this.machines = machines;
  }

  static async create(count: number): Promise<Bridge> {
    const namespace = `k8ts-test-${randomBytes(3).toString("hex")}`;
    const made: Machine[] = [];
    await run("ip", ["netns", "add", namespace]);
    await run("ip", ["-n", namespace, "link", "add", "lan", "type", "bridge"]);
    await run("ip", ["-n", namespace, "link", "set", "lan", "up"]);
    const bridge = new Bridge(namespace, made);
    try {
      for (let number = 1; number <= count; number++) {
        const machine = await Machine.create();
        made.push(machine);
        await bridge.#plug(machine, number);
      }
      return bridge;
    } catch (error) {
      await bridge[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** From 1 on. */
  address(number: number): string {
    return `10.77.0.${number}`;
  }

  async #plug(machine: Machine, number: number): Promise<void> {
    await run("ip", ["-n", machine.namespace, "-batch", "-"], {
      input: [
        `link add eth0 type veth peer name port${number} netns ${this.#namespace}`,
        `address add ${this.address(number)}/24 dev eth0`,
        "link set eth0 up",
        "",
      ].join("\n"),
    });
    await run("ip", ["-n", this.#namespace, "link", "set", `port${number}`, "master", "lan", "up"]);
    // Where Service addresses go before they are translated. Nobody is there.
    await run("ip", ["-n", machine.namespace, "route", "add", "default", "via", this.address(254)]);
  }

  /** Takes a machine off the bridge, and puts it back. */
  async setPlugged(number: number, plugged: boolean): Promise<void> {
    await run("ip", ["-n", this.#namespace, "link", "set", `port${number}`, plugged ? "up" : "down"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const machine of this.machines.toReversed()) await machine[Symbol.asyncDispose]();
    await run("ip", ["netns", "delete", this.#namespace]);
  }
}
