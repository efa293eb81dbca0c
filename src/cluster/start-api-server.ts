/** The phase of a start that starts the API server, and the other threads that serve with it. */
import type { LocalExtensions } from "#apiserver";
import { registerProcessMetrics } from "#base";
import type { ClusterPki } from "#pki";
import type { Store } from "#store";
import type { Tracing } from "#tracing";
import { portsToTry } from "./config/ports.ts";
import { servingPki } from "./config/serving-pki.ts";
import { readLastStart } from "./data/run-state.ts";
import { type ClusterApiServer, type ServerOfCluster, startClusterApiServer } from "./in-process/api-server.ts";
import { type Start, step } from "./start.ts";
import type { ServerThreads } from "./threads/server-threads.ts";

export interface ApiServerParts {
  readonly pki: ClusterPki;
  readonly store: Store;
  readonly tracing: Tracing | undefined;
  readonly extensions: LocalExtensions;
  readonly simulatedMetrics: (node: string, path: string) => string | undefined;
  readonly machineIp: string | undefined;
  readonly podSecurityLevel: "baseline" | undefined;
  readonly threads: ServerThreads | undefined;
}

export function startApiServer(start: Start, parts: ApiServerParts): Promise<ClusterApiServer> {
  const { config, dir, starting, metrics, notes } = start;
  starting.use(registerProcessMetrics(metrics));
  return step("API server", start, async () => {
    const ports = portsToTry(config.port, (await readLastStart(dir))?.port);
    const options = { ...start, ...parts, ports, flowRecordsFile: dir.flowRecords };
    const { threads, extensions, pki, machineIp, podSecurityLevel } = parts;
    const api = await startClusterApiServer({ ...options, threads: threads?.share }, starting);
    const names = [...extensions.keys()];
    const own = { config, pki: servingPki(pki), machineIp, podSecurityLevel };
    await threads?.start({ kind: "cluster", ...own, extensions: names } satisfies ServerOfCluster, api, extensions);
    const [wanted = 0] = ports;
    if (wanted !== 0 && api.port !== wanted) notes.push(`Port ${wanted} is in use: the API server has ${api.port}.`);
    return [api, api.url];
  });
}
