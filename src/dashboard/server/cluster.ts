/**
 * `cluster`: the parts of the cluster and how they are: API servers, leaders, members of the store, versions,
 * certificates. What `k8ts status` shows, given by the command.
 *
 * 1. It is asked with the user's credentials: what they do not allow is named in `refused`.
 * 2. Store and certificates are facts of the machine: only a dashboard of the cluster's own admin has them.
 */
import type { ServerResponse } from "node:http";
import { answerStatus } from "./proxy.ts";
import type { Upstream } from "./upstream.ts";

export interface ClusterReport {
  /** Of the API server that answered. */
  readonly version: string;
  readonly nodes: readonly {
    readonly name: string;
    readonly status: string;
    readonly roles: readonly string[];
    readonly address: string;
    readonly version: string;
    readonly runtime: string;
    readonly system: string;
  }[];
  readonly apiServers: readonly { readonly name: string; readonly address: string; readonly alive: boolean }[];
  /** Without a Lease the component of the API server's process works alone. */
  readonly leaders: readonly {
    readonly component: string;
    readonly holder: string;
    readonly alive: boolean;
    readonly since: string;
    readonly transitions: number;
  }[];
  readonly storeMembers: readonly ReportedMember[];
  /** Of this machine. */
  readonly certificates: readonly { readonly name: string; readonly expires: string }[];
  /** What could not be read, and why. */
  readonly refused: readonly string[];
}

export interface ReportedMember {
  readonly name: string;
  readonly endpoint: string;
  readonly isLeader: boolean;
  readonly isLearner: boolean;
  /** Bytes. */
  readonly dbSize: number;
  /** How many entries of the log it has not got yet, behind the first. */
  readonly raftIndexLag: number;
  /** Empty: it does not say, or is the embedded store. */
  readonly version: string;
  readonly health: "healthy" | "unhealthy";
  /** Why it is unhealthy. */
  readonly reason?: string | undefined;
}

export type DescribeCluster = (upstream: Upstream) => Promise<ClusterReport>;

export async function answerCluster(
  describe: DescribeCluster | undefined,
  upstream: () => Promise<Upstream>,
  response: ServerResponse,
): Promise<void> {
  if (describe === undefined) return answerStatus(response, 404, "NotFound", "This dashboard knows no cluster.");
  try {
    const report = await describe(await upstream());
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(report));
  } catch (error) {
    answerStatus(response, 502, "BadGateway", (error as Error).message);
  }
}
