/** Runs the real `bin/k8ts` in a home of its own, and takes everything away afterwards. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Result, type Running, start } from "./command.ts";

const binary = join(import.meta.dirname, "..", "..", "bin", "k8ts");

export class Home {
  readonly dir = mkdtempSync(join(tmpdir(), "k8ts-test-"));
  readonly dataDir = join(this.dir, "data");
  readonly kubeconfig = join(this.dir, "kube", "config");
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: this.dir,
    K8TS_HOME: this.dataDir,
    KUBECONFIG: this.kubeconfig,
    // Nothing leaves this machine, unless a test says so.
    K8TS_OUTSIDE: "off",
  };
  /** Another build's, for tests of upgrades. */
  program = binary;
  readonly #running = new Set<Running>();

  /** Runs a command to its end. */
  k8ts(...args: string[]): Promise<Result> {
    return this.start(...args).ended();
  }

  /** Starts a command and leaves it running. A new cluster has the nodes that a test asks for, and no others. */
  start(...args: string[]): Running {
    const asks = args.some((arg) => /^--(nodes|runtime|config)\b/.test(arg));
    const at = args.indexOf("--data-dir");
    const isNew = !existsSync(join(args[at === -1 ? -1 : at + 1] ?? this.dataDir, "last.json"));
    const without = args[0] === "up" && !asks && isNew ? ["--nodes", "0"] : [];
    const running = start(this.program, [...args, ...without], { env: this.env, cwd: this.dir });
    this.#running.add(running);
    running.process.once("close", () => this.#running.delete(running));
    return running;
  }

  runState(): { pid: number; url: string } {
    return JSON.parse(readFileSync(join(this.dataDir, "run.json"), "utf8"));
  }

  log(): Record<string, unknown>[] {
    return readFileSync(join(this.dataDir, "k8ts.log"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.k8ts("down");
    for (const running of [...this.#running]) await running[Symbol.asyncDispose]();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
