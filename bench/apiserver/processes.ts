/**
 * The processes of the benchmark: the server under test, the bare server, the load generator. Each ends with the scope
 * that started it.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BareServerOptions } from "./bare-server.ts";
import type { Target } from "./connection.ts";
import type { Job, Outcome } from "./load.ts";

const k8ts = join(import.meta.dirname, "..", "..", "bin", "k8ts");

export interface K8ts extends AsyncDisposable {
  readonly pid: number;
  readonly target: Target;
  /** From the start of the process until it says that it is ready, by its own clock. */
  readonly readyMs: number;
  residentMb(): number;
  stop(): Promise<void>;
}

/** The one without which there can be no Pods. It looks at nothing that benchmarks write. */
const FEW_CONTROLLERS = "--controllers=serviceaccount-controller";

/** The API server alone, or with the controllers that `up` runs beside it in the same process. */
export async function startK8ts(
  dir: string,
  what: "API server" | "control plane" = "API server",
  more: readonly string[] = [],
): Promise<K8ts> {
  mkdirSync(dir, { recursive: true });
  const dataDir = join(dir, "data");
  const args = [
    "up",
    "--store",
    "embedded",
    "--port",
    "0",
    "--nodes",
    "0",
    "--data-dir",
    dataDir,
    "--kubeconfig",
    join(dir, "kubeconfig"),
    ...(what === "API server" ? [FEW_CONTROLLERS, "--no-scheduler"] : []),
    ...more,
  ];
  const child = spawn(k8ts, args, { cwd: dir, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const start = performance.now();
  const runFile = join(dataDir, "run.json");
  while (!existsSync(runFile) || !readFileSync(runFile, "utf8").includes(`"pid": ${child.pid}`)) {
    if (child.exitCode !== null) throw new Error(`k8ts ended: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const readyMs = performance.now() - start;
  const { url } = JSON.parse(readFileSync(runFile, "utf8")) as { url: string };
  const pki = (name: string) => readFileSync(join(dataDir, "pki", name), "utf8");
  const stop = () => end(child, "SIGTERM");
  return {
    pid: child.pid ?? 0,
    target: {
      port: Number(new URL(url).port),
      caPem: pki("ca.crt"),
      certPem: pki("admin.crt"),
      keyPem: pki("admin.key"),
    },
    readyMs,
    residentMb: () => residentMb(child.pid ?? 0),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface BareServer extends AsyncDisposable {
  readonly target: Target;
}

/** Answers every request with the same bytes; its certificate is one of the cluster's. */
export async function startBare(dir: string, protocol: Job["protocol"], body: Buffer): Promise<BareServer> {
  const pki = (name: string) => readFileSync(join(dir, "data", "pki", name), "utf8");
  const child = fork(join(import.meta.dirname, "bare-server.ts"));
  const serving = { certPem: pki("apiserver.crt"), keyPem: pki("apiserver.key"), caPem: pki("ca.crt") };
  child.send({ ...serving, protocol, body: body.toString("base64") } satisfies BareServerOptions);
  const [port] = (await once(child, "message")) as [number];
  return {
    target: { port, caPem: serving.caPem, certPem: pki("admin.crt"), keyPem: pki("admin.key") },
    [Symbol.asyncDispose]: () => end(child, "SIGKILL"),
  };
}

export interface Generator extends AsyncDisposable {
  run(job: Job): Promise<Outcome>;
}

export function startGenerator(): Generator {
  const child = fork(join(import.meta.dirname, "load.ts"));
  return {
    async run(job) {
      child.send(job);
      const [outcome] = (await once(child, "message")) as [Outcome];
      if (outcome.error !== undefined) throw new Error(outcome.error);
      return outcome;
    },
    [Symbol.asyncDispose]: () => end(child, "SIGKILL"),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
