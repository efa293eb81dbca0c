/** join.json: what a machine that joined a cluster knows of it. Its token is not kept. */
import { readFile } from "node:fs/promises";
import type { core } from "#api";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, writeFileAtomic } from "../data/data-dir.ts";

export interface JoinRecord {
  /** `host:port` of the API server that it joined by. */
  readonly endpoint: string;
  readonly caPem: string;
  readonly nodeName: string;
  readonly nodeIp: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly core.Taint[];
  readonly clusterName: string;
  readonly podRanges: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly clusterDns: string;
  /** Of the API servers, for clients outside. */
  readonly virtualAddress?: string | undefined;
  readonly proxyMode: string;
  readonly featureGates: Readonly<Record<string, boolean>>;
}

/** Undefined: this is the directory of a cluster, or of nothing yet. */
export async function readJoinRecord({ join }: DataDir): Promise<JoinRecord | undefined> {
  const text = await readFile(join, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JoinRecord;
  } catch (error) {
    throw new ClusterError(`${join} is damaged: \`k8ts reset\` and join again.`, { cause: error });
  }
}

export async function writeJoinRecord({ join }: DataDir, record: JoinRecord): Promise<void> {
  await writeFileAtomic(join, `${JSON.stringify(record, undefined, 2)}\n`);
}
