/**
 * A cluster of five machines on one bridge: three control planes with an etcd member each, which are no nodes, and two
 * workers. An administrator works on the first worker, through its balancer. A sixth machine is nothing at first.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { findEtcd } from "../../../src/store/testing/etcd-server.ts";
import { Bridge } from "./bridge.ts";
import type { Machine } from "./machine.ts";
import { until } from "./wait.ts";

const HOSTNAMES = ["cp-1", "cp-2", "cp-3", "worker-1", "worker-2", "cp-4"];
const BALANCER = "https://127.0.0.1:6444";

export class ControlPlanes implements AsyncDisposable {
  readonly planes: readonly Machine[];
  readonly workers: readonly Machine[];
  readonly #bridge: Bridge;
  #adminConfig = "";

  private constructor(bridge: Bridge) {
    this.#bridge = bridge;
    const { machines } = bridge;
    this.planes = [...machines.slice(0, 3), ...machines.slice(5)];
    this.workers = machines.slice(3, 5);
    for (const [i, machine] of machines.entries()) {
      machine.hostname = HOSTNAMES[i];
      machine.home.env.PATH = [machine.home.env.PATH, dirname(findEtcd() ?? "")].join(delimiter);
    }
  }

  static async make(): Promise<ControlPlanes> {
    return new ControlPlanes(await Bridge.create(HOSTNAMES.length));
  }

  /** `up`, and all four others at once. */
  async start(): Promise<void> {
    const first = this.plane(1);
    await first.ok("up", "--detach", "--store", "etcd", "--listen", this.address(1), "--nodes", "0", "--no-dashboard");
    const args = await this.#ticket();
    const asNode = args.slice(0, args.indexOf("--control-plane"));
    await Promise.all([this.joinPlanes(2, 3), ...this.workers.map((worker) => worker.ok(...asNode, "--detach"))]);
    this.#adminConfig = join(this.worker(1).home.dir, "admin");
    const text = await readFile(join(first.home.dataDir, "kubeconfig"), "utf8");
    await writeFile(this.#adminConfig, text.replace(/server: .*/, `server: ${BALANCER}`));
    this.worker(1).home.env.KUBECONFIG = this.#adminConfig;
  }

  /** Machines that are nothing yet, at once. */
  async joinPlanes(...numbers: readonly number[]): Promise<void> {
    const args = await this.#ticket();
    await Promise.all(numbers.map((number) => this.plane(number).ok(...args, "--nodes", "0", "--detach")));
  }

  /** From 1 on. The fourth is the sixth machine. */
  plane(number: number): Machine {
    return found(this.planes[number - 1]);
  }

  worker(number: number): Machine {
    return found(this.workers[number - 1]);
  }

  /** Of machines: control planes are 1 to 3, workers 4 and 5. */
  address(number: number): string {
    return this.#bridge.address(number);
  }

  get access(): { readonly kubeconfig: string; readonly server: string } {
    return { kubeconfig: this.#adminConfig, server: BALANCER };
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.worker(1).kubectl(...args);
  }

  /** Off the bridge: nothing arrives, and nothing is refused. */
  async unplug(number: number): Promise<void> {
    await this.#bridge.setPlugged(number, false);
  }

  async plug(number: number): Promise<void> {
    await this.#bridge.setPlugged(number, true);
  }

  /** SIGKILL for the API server with controllers and scheduler; etcd ends by itself, as it is tied to it. */
  async killServer(number: number): Promise<void> {
    const { pid } = this.plane(number).home.runState();
    const etcd = this.etcdPid(number);
    process.kill(pid, "SIGKILL");
    await until(
      () => [pid, ...(etcd === undefined ? [] : [etcd])].filter((each) => isRunning(each)),
      (left) => left.length === 0,
    );
  }

  /** All at once, as when the power fails. */
  async killMachine(number: number): Promise<void> {
    const etcd = this.etcdPid(number);
    if (etcd !== undefined) process.kill(etcd, "SIGKILL");
    await this.killServer(number);
  }

  async restart(number: number): Promise<void> {
    await this.plane(number).ok("up", "--detach", "--no-dashboard");
  }

  etcdPid(number: number): number | undefined {
    const { pid } = this.plane(number).home.runState();
    return childrenOf(pid).find((child) => text(`/proc/${child}/comm`).trim() === "etcd");
  }

  /** The number of the control plane whose etcd member leads, as `viewer` sees it. */
  async etcdLeader(viewer = 1): Promise<number> {
    const line = await until(
      async () => (await this.plane(viewer).ok("members")).split("\n").find((each) => / leader /.test(each)) ?? "",
      (each) => each !== "",
    );
    return Number(/cp-(\d)/.exec(line)?.[1]);
  }

  /** The number of the control plane that holds a Lease of kube-system. */
  async holderOf(lease: string): Promise<number> {
    const holder = await this.kubectl(
      "get",
      "lease",
      lease,
      "-n",
      "kube-system",
      "-o",
      "jsonpath={.spec.holderIdentity}",
    );
    return Number(/^cp-(\d)/.exec(holder)?.[1]);
  }

  /** The arguments of a control plane's `k8ts`. */
  async #ticket(): Promise<readonly string[]> {
    const printed = await this.plane(1).ok("token", "create", "--control-plane");
    return printed.trim().split(/\s+/).slice(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bridge[Symbol.asyncDispose]();
  }
}

function found(machine: Machine | undefined): Machine {
  if (machine === undefined) throw new Error("there is no such machine");
  return machine;
}

function isRunning(pid: number): boolean {
  const stat = text(`/proc/${pid}/stat`);
  return stat !== "" && stat.charAt(stat.lastIndexOf(")") + 2) !== "Z";
}

function childrenOf(parent: number): readonly number[] {
  if (!existsSync(`/proc/${parent}`)) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && new RegExp(`^PPid:\\s${parent}$`, "m").test(text(`/proc/${name}/status`)))
    .map(Number);
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // it has just ended
  }
}
