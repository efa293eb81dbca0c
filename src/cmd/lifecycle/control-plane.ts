/** `k8ts join --control-plane`: takes over what control planes share, then runs like `k8ts up --listen`. */
import { hostname } from "node:os";
import { createLogger, realClock } from "#base";
import { Client, https } from "#client";
import { ClusterError, controlPlaneTools, type DataDir, readStoreRecord, workerTools } from "#cluster";
import { upCommand } from "./up.ts";

export interface ControlPlaneOptions {
  /** `host:port` of an API server. */
  readonly endpoint: string;
  readonly token?: string;
  readonly caHash?: string;
  readonly name?: string;
  readonly nodeIp?: string;
  readonly certificateKey: string;
}

export async function runControlPlane(dir: DataDir, options: ControlPlaneOptions): Promise<void> {
  const { endpoint, token, caHash, certificateKey, name = hostname().split(".")[0] ?? "" } = options;
  const flags: string[] = [];
  // A machine that has joined before goes on, as `k8ts up` does.
  if ((await readStoreRecord(dir)) === undefined) {
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
    flags.push("--listen", listen, "--node-name", name, "--service-cluster-ip-range", found.serviceRanges.join());
    flags.push("--cluster-cidr", found.podRanges.join());
  }
  await upCommand().parseAsync(["--data-dir", dir.path, ...flags], { from: "user" });
}
