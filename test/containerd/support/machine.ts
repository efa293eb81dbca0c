/**
 * A machine for a cluster with real nodes: a network namespace that leads nowhere, and a home of its own.
 * `outside.ts` has one that leads to another namespace.
 */
import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run as runProgram } from "../../../src/cluster/nodes/machine/command.ts";
import { type Result, type Running, start } from "../../support/command.ts";
import { Home } from "../../support/k8ts.ts";
import { tool } from "../../support/tools.ts";
import { leftovers } from "./leftovers.ts";

const nodeFolder = dirname(realpathSync(process.execPath));
/** For `up`: nodes have this machine's Node by the same path, for Pods that run scripts with it. */
export const WITH_NODE: readonly string[] = ["--node-mount", `${nodeFolder}:${nodeFolder}:ro`];
const binary = join(import.meta.dirname, "..", "..", "..", "bin", "k8ts");

/** More flags of `up`, to run these tests on other nodes by hand: K8TS_TEST_UP=--node-user-namespaces. */
const MORE = (process.env.K8TS_TEST_UP ?? "").split(" ").filter(Boolean);
const withFlags = (args: readonly string[]) => (args[0] === "up" ? [...args, ...MORE] : args);

export class Machine implements AsyncDisposable {
  readonly home = new Home();
  readonly namespace = `k8ts-test-${randomBytes(3).toString("hex")}`;
  /** Of programs that are started from now on. Default: that of this machine. */
  hostname: string | undefined;
  readonly #running = new Set<Running>();

  static async create(): Promise<Machine> {
    const machine = new Machine();
    await machine.makeNamespace();
    return machine;
  }

  protected async makeNamespace(): Promise<void> {
    await runProgram("ip", ["netns", "add", this.namespace]);
    await runProgram("ip", ["-n", this.namespace, "link", "set", "lo", "up"]);
  }

  /** How a program gets there. */
  protected get entering(): readonly string[] {
    return [`--net=${this.network}`];
  }

  /** Its network, for what is not started by `start`. */
  get network(): string {
    return `/run/netns/${this.namespace}`;
  }

  /** One that only the machine itself reaches. */
  async addAddress(address: string): Promise<void> {
    await runProgram("ip", ["-n", this.namespace, "address", "add", `${address}/32`, "dev", "lo"]);
  }

  start(program: string, ...args: readonly string[]): Running {
    const { env, dir } = this.home;
    const named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', this.hostname ?? ""];
    const command = [...(this.hostname === undefined ? [] : named), program, ...args];
    const running = start("nsenter", [...this.entering, "--", ...command], { env, cwd: dir });
    this.#running.add(running);
    running.process.once("close", () => this.#running.delete(running));
    return running;
  }

  k8ts(...args: readonly string[]): Promise<Result> {
    return this.start(binary, ...withFlags(args)).ended();
  }

  startK8ts(...args: readonly string[]): Running {
    return this.start(binary, ...withFlags(args));
  }

  /** What it prints where it succeeds. */
  async ok(...args: readonly string[]): Promise<string> {
    return succeeded(args, await this.k8ts(...args));
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return succeeded(args, await this.start(tool("kubectl") ?? "kubectl", ...args).ended());
  }

  async apply(object: object): Promise<void> {
    const file = join(this.home.dir, `${randomBytes(4).toString("hex")}.json`);
    await writeFile(file, JSON.stringify(object));
    await this.kubectl("apply", "-f", file);
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl(...args, "-o", "json")) as T;
  }

  leftovers(): string[] {
    return leftovers(this.home.dataDir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.k8ts("down");
    for (const running of [...this.#running]) await running[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
    await runProgram("ip", ["netns", "delete", this.namespace]);
  }
}

function succeeded(args: readonly string[], { code, stdout, stderr }: Result): string {
  if (code !== 0) throw new Error(`${args.join(" ")}: exit code ${code}: ${stderr}${stdout}`);
  return stdout;
}
