/**
 * The virtual address of three control planes, as an administrator outside uses it: kubectl on a fourth machine, while
 * the machine that has the address is killed. Minutes: it runs with K8TS_DRILLS=all only (vitest.config.ts).
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../../src/cluster/nodes/machine/command.ts";
import { findEtcd } from "../../src/store/testing/etcd-server.ts";
import { tool } from "../support/tools.ts";
import { Bridge } from "./support/bridge.ts";
import { missing } from "./support/leftovers.ts";
import type { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const needed = [
  missing,
  tool("kubectl") === undefined && "kubectl 1.36 is missing.",
  findEtcd() === undefined && "etcd is missing.",
];
const canRun = !needed.some(Boolean);
/** The Lease, the kernel's and kubectl's share, and a busy machine. */
const MOVED_MS = 15_000;

describe.runIf(canRun)("the virtual address of three control planes", () => {
  let bridge: Bridge;
  let planes: readonly Machine[];
  let outside: Machine;
  let address = "";

  beforeAll(async () => {
    bridge = await Bridge.create(4);
    planes = bridge.machines.slice(0, 3);
    outside = bridge.machines[3] as Machine;
    address = bridge.address(1).replace(/\d+$/, "200");
    for (const [index, machine] of planes.entries()) {
      machine.hostname = `cp-${index + 1}`;
      machine.home.env.PATH = [machine.home.env.PATH, dirname(findEtcd() ?? "")].join(delimiter);
    }
    const [first, ...others] = planes as [Machine, ...Machine[]];
    const listen = ["--listen", bridge.address(1), "--virtual-address", address];
    await first.ok("up", "--detach", "--store", "etcd", ...listen, "--nodes", "0", "--no-dashboard");
    const ticket = (await first.ok("token", "create", "--control-plane")).trim().split(/\s+/).slice(1);
    for (const machine of others) await machine.ok(...ticket, "--nodes", "0", "--detach");
    const text = await readFile(join(first.home.dataDir, "kubeconfig"), "utf8");
    const file = join(outside.home.dir, "admin");
    await writeFile(file, text.replace(/server: .*/, `server: https://${address}:6443`));
    outside.home.env.KUBECONFIG = file;
  }, 300_000);
  afterAll(() => bridge?.[Symbol.asyncDispose]());

  const holders = async () => {
    const shown = planes.map(({ namespace }) => run("ip", ["-n", namespace, "-o", "address", "show"]));
    return (await Promise.all(shown)).flatMap((text, index) => (text.includes(` ${address}/`) ? [index] : []));
  };

  it("answers again within seconds when its machine is killed, and nobody has it beside another", async () => {
    await until(
      () => outside.kubectl("get", "namespaces", "-o", "name").catch(() => ""),
      (text) => text !== "",
    );
    const [holder = 0] = await holders();
    const { pid } = (planes[holder] as Machine).home.runState();
    const seen: (readonly number[])[] = [];
    const looking = setInterval(() => void holders().then((now) => seen.push(now)), 100);
    const killedMs = performance.now();
    process.kill(pid, "SIGKILL");
    await until(
      () => existsSync(`/proc/${pid}/fd/0`),
      (runs) => !runs,
    );
    await until(
      () => outside.kubectl("create", "namespace", "after-the-kill", "--request-timeout=1s").catch(() => ""),
      (text) => text !== "",
    );
    const tookMs = performance.now() - killedMs;
    const [next = -1] = await holders();
    clearInterval(looking);
    process.stdout.write(`virtual address: kubectl answers ${(tookMs / 1000).toFixed(1)} s after the kill\n`);
    expect(next).not.toBe(holder);
    expect(seen.filter((each) => each.length > 1)).toEqual([]);
    expect(tookMs).toBeLessThan(MOVED_MS);

    // The killed one comes back, and the holder stops in order.
    await (planes[holder] as Machine).ok("up", "--detach", "--no-dashboard");
    const stoppedMs = performance.now();
    const stopping = (planes[next] as Machine).ok("down");
    await until(
      async () => {
        const [now = -1] = await holders();
        return now >= 0 && now !== next && (await outside.kubectl("get", "namespaces", "-o", "name").catch(() => ""));
      },
      (answer) => typeof answer === "string" && answer !== "",
    );
    process.stdout.write(
      `virtual address: kubectl answers ${((performance.now() - stoppedMs) / 1000).toFixed(1)} s after \`down\`\n`,
    );
    await stopping;
  }, 300_000);
});
