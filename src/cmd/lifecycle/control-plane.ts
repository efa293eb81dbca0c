/** `k8ts join --control-plane`: takes over what control planes share, then runs like `k8ts up --listen`. */
import { hostname } from "node:os";
import { createLogger, realClock } from "#base";
import { Client, https } from "#client";
import { ClusterError, controlPlaneTools, type DataDir, readStoreRecord, workerTools } from "#cluster";
import { sentenceFor } from "../process/sentence.ts";
import { openTerminal } from "./foreground.ts";
import type { MachineOptions } from "./run-machine.ts";
import { upCommand } from "./up.ts";

export interface ControlPlaneOptions extends MachineOptions {
  /** `host:port` of an API server. */
  readonly endpoint: string;
  readonly token?: string;
  readonly caHash?: string;
  readonly name?: string;
  readonly nodeIp?: string;
  readonly nodes?: "0" | "1";
  readonly certificateKey: string;
}

export async function runControlPlane(dir: DataDir, options: ControlPlaneOptions): Promise<void> {
  try {
    // A machine that has joined before goes on, as `k8ts up` does.
    const isKnown = (await readStoreRecord(dir)) !== undefined;
    const flags = [...(isKnown ? [] : await takePart(dir, options)), ...nodeFlags(options)];
    await upCommand().parseAsync(["--data-dir", dir.path, ...flags], { from: "user" });
  } catch (error) {
    // The parent of a detached process says it; it knows only what it is told.
    if (process.send === undefined) throw error;
    openTerminal().reporter.failed(sentenceFor(error));
    process.exitCode = 1;
  }
}

/** Returns flags of `up` that describe this machine and the cluster. */
async function takePart(dir: DataDir, options: ControlPlaneOptions): Promise<readonly string[]> {
  const { endpoint, token, caHash, certificateKey, name = hostname().split(".")[0] ?? "" } = options;
  if (token === undefined || caHash === undefined)
    throw new ClusterError("A machine that joins for the first time needs --token and --ca-hash.");
  const { joinCluster } = await workerTools();
  const clock = realClock();
  const log = createLogger({ clock, format: "pretty", level: "warn", write: (line) => process.stderr.write(line) });
  const request = { endpoint, token, caHash, nodeName: name, nodeIp: options.nodeIp, labels: {}, taints: [] };
  const found = await joinCluster(dir, undefined, request, clock);
  const transport = https({ server: `https://${endpoint}`, caPem: found.caPem, token }, { clock });
  const client = new Client({ transport, clock, userAgent: "k8ts-join" });
  try {
    const { joinControlPlane } = await controlPlaneTools();
    await joinControlPlane({ client, certificateKey, dir, address: found.nodeIp, name, clock, log });
  } finally {
    await client.close();
  }
  const listen = found.nodeIp.includes(":") ? `[${found.nodeIp}]` : found.nodeIp;
  const services = ["--service-cluster-ip-range", found.serviceRanges.join()];
  const virtual = found.virtualAddress === undefined ? [] : ["--virtual-address", found.virtualAddress];
  const flags = ["--listen", listen, ...virtual, ...services, "--cluster-cidr", found.podRanges.join()];
  return options.nodes === "0" ? flags : [...flags, "--node-name", name];
}

/** What `join` was told about this machine's node, as `up` is told it. */
function nodeFlags({ nodes, yes, nodeMount = [], nodeLoopDevices, outside }: ControlPlaneOptions): readonly string[] {
  return [
    ...(nodes === undefined ? [] : ["--nodes", nodes]),
    ...(yes === true ? ["--yes"] : []),
    ...nodeMount.flatMap((mount) => ["--node-mount", mount]),
    ...(nodeLoopDevices === true ? ["--node-loop-devices"] : []),
    ...(outside === undefined ? [] : [outside ? "--outside" : "--no-outside"]),
  ];
}
