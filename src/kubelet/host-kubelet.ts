/** A kubelet on this machine from what its flags say: kubeconfig → client, socket → runtime. */
import { mkdir } from "node:fs/promises";
import { type Clock, type Logger, MetricsRegistry, registerProcessMetrics, systemRandom } from "#base";
import { Client, https } from "#client";
import { readKubeconfig } from "#pki";
import type { KubeletConfig } from "./config.ts";
import { criRuntime } from "./cri/index.ts";
import { type KubeletOptions, runKubelet } from "./kubelet.ts";

export interface HostKubeletOptions {
  readonly config: KubeletConfig;
  readonly kubeconfig: string;
  /** How to ask for a certificate where there is no kubeconfig yet. */
  readonly bootstrapKubeconfig?: string;
  /** Where certificates are that the kubelet has asked for. */
  readonly certDir: string;
  readonly runtimeEndpoint: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly serve?: KubeletOptions["serve"];
}

/** Until the signal aborts. */
export async function runHostKubelet(options: HostKubeletOptions, signal: AbortSignal): Promise<void> {
  const { config, kubeconfig, runtimeEndpoint, version, clock, log, serve } = options;
  await using parts = new AsyncDisposableStack();
  await mkdir(config.rootDir, { recursive: true, mode: 0o750 });
  const {
    server,
    caPem,
    client: credentials = {},
    tlsServerName,
    insecureSkipTlsVerify,
  } = await readKubeconfig(kubeconfig);
  const connection = { server, caPem, tlsServerName, insecureSkipTlsVerify, ...credentials };
  const client = new Client({ transport: https(connection, { clock }), clock, userAgent: `kubelet/${version}` });
  parts.defer(() => client.close());
  const runtime = criRuntime({ endpoint: runtimeEndpoint, clock, log });
  parts.defer(() => runtime.close());
  const metrics = new MetricsRegistry();
  parts.use(registerProcessMetrics(metrics));
  const random = systemRandom();
  await runKubelet(
    { config, client, runtime, clock, random, log, metrics, version, ...(serve !== undefined && { serve }) },
    signal,
  );
}
