/** Runs the real `bin/k8ts` in a home of its own, and takes everything away afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = join(import.meta.dirname, "..", "..", "bin", "k8ts");

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Home {
  readonly dir = mkdtempSync(join(tmpdir(), "k8ts-test-"));
  readonly dataDir = join(this.dir, "data");
  readonly kubeconfig = join(this.dir, "kube", "config");
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: this.dir,
    K8TS_HOME: this.dataDir,
    KUBECONFIG: this.kubeconfig,
  };
  readonly #running = new Set<ChildProcess>();

  /** Runs a command to its end. */
  async k8ts(...args: string[]): Promise<Result> {
    const child = this.start(...args);
    const [code] = await once(child.process, "close");
    return { code: code as number | null, stdout: child.stdout(), stderr: child.stderr() };
  }

  /** Starts a command and leaves it running. */
  start(...args: string[]) {
    const child = spawn(binary, args, { env: this.env, cwd: this.dir, stdio: ["ignore", "pipe", "pipe"] });
    this.#running.add(child);
    child.once("close", () => this.#running.delete(child));
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    return {
      process: child,
      stdout: () => output.stdout,
      stderr: () => output.stderr,
      /** Resolves when the text has been printed; rejects if the process ends before. */
      async printed(text: string): Promise<void> {
        while (!output.stdout.includes(text)) {
          if (child.exitCode !== null)
            throw new Error(`k8ts ${args.join(" ")} ended: ${output.stdout}${output.stderr}`);
          await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
        }
      },
    };
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
    for (const child of this.#running) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}
