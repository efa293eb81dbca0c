/** A node's containerd: started if it is not running, with the built-in images. */
import { readFile } from "node:fs/promises";
import type { Clock, Logger } from "#base";
import { criRuntime, type Runtime } from "#kubelet";
import { ClusterError } from "../../config/errors.ts";
import { type BuiltInImage, machineImages } from "../../images/index.ts";
import type { Place } from "../isolation/place.ts";
import { findProgram, run } from "../machine/command.ts";
import type { Machine } from "../machine/machine.ts";
import { isAlive, type ProcessId } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import { containerdConfig, snapshotterIn } from "./containerd-config.ts";

const NAMESPACE = "k8s.io";
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 25;

export interface ContainerdOptions {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal?: AbortSignal;
  /** The environment of containerd: its proxy to registries. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startContainerd(place: Place, { machine, env }: ContainerdOptions): Promise<ProcessId> {
  const { containerdRoot, optDir, cniDir, stateDir, ipamDir, containerdConfig: config, containerdLog } = place.files;
  await place.run("mkdir", ["-p", "-m", "711", containerdRoot, optDir, cniDir, stateDir, ipamDir]);
  await place.write(config, containerdConfig(place.files, machine), 0o600);
  return place.start({
    program: findProgram("containerd") ?? "containerd",
    args: ["--config", config, "--log-level", "warn"],
    logFile: containerdLog,
    env,
  });
}

/** Resolves when it responds and has the built-in images. */
export async function containerdReady(
  node: NodeNames,
  place: Place,
  process: ProcessId,
  options: ContainerdOptions,
): Promise<void> {
  const { clock, log, signal } = options;
  const runtime = openRuntime(node, { clock, log });
  try {
    await answering(runtime, node, place, process, options);
    const missing: BuiltInImage[] = [];
    for (const image of await machineImages()) {
      if ((await runtime.images.status(image.name, signal)) === undefined) missing.push(image);
    }
    for (const { archive } of missing) await importImage(node, archive);
    for (const { name } of missing) await known(runtime, name, options);
  } finally {
    await runtime.close();
  }
}

type Waiting = Pick<ContainerdOptions, "clock" | "signal">;

async function answering(
  runtime: Runtime,
  node: NodeNames,
  place: Place,
  process: ProcessId,
  waiting: Waiting,
): Promise<void> {
  const { clock, signal } = waiting;
  const deadline = clock.monotonic() + START_TIMEOUT_MS;
  for (;;) {
    // It reports its version before it has recovered its Pods.
    const failure = await runtime.listPodSandboxes({}, signal).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure === undefined) return;
    const isOver = clock.monotonic() >= deadline;
    if (isOver || !(await isAlive(process))) {
      const lastLine = (await place.run("tail", ["-n", "1", place.files.containerdLog])).trim();
      throw new ClusterError(
        `containerd of node ${node.name} ${isOver ? "does not respond" : "has exited"}: ${lastLine || failure.message}. Its log is ${node.containerdLog}.`,
      );
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** An imported image appears in CRI a moment later. */
async function known(runtime: Runtime, image: string, { clock, signal }: Waiting): Promise<void> {
  const deadline = clock.monotonic() + START_TIMEOUT_MS;
  while ((await runtime.images.status(image, signal)) === undefined) {
    if (clock.monotonic() >= deadline) throw new ClusterError(`containerd does not show the image ${image}.`);
    await clock.sleep(POLL_MS, signal);
  }
}

/** The runtime of a running node. */
export function openRuntime({ socket }: NodeNames, options: Pick<ContainerdOptions, "clock" | "log">): Runtime {
  return criRuntime({ endpoint: socket, ...options });
}

/** Returns the names of the imported image. */
export async function importImage(
  node: Pick<NodeNames, "socket" | "containerdConfig">,
  archive: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<string[]> {
  const config = await readFile(node.containerdConfig, "utf8");
  const args = ["--address", node.socket, "--namespace", NAMESPACE, "images", "import"];
  const output = await run("ctr", [...args, "--snapshotter", snapshotterIn(config), "-"], { input: archive });
  return [...output.matchAll(/^unpacking (\S+) /gm)].map((match) => match[1] ?? "");
}
