/** The report of a cluster for the dashboard, as far as its user may read it. */
import { realClock } from "#base";
import { Client, https } from "#client";
import type { DataDir } from "#cluster";
import type { ClusterReport, DescribeCluster } from "#dashboard";
import { localFacts, readFacts } from "./facts.ts";
import { clusterReport } from "./report.ts";

/** `dir`: of the cluster whose admin the user is. Undefined: somebody else, who sees nothing of the machine. */
export async function describeCluster(
  dir: DataDir | undefined,
  { server, caPem, client: identity }: Parameters<DescribeCluster>[0],
): Promise<ClusterReport> {
  const clock = realClock();
  const transport = https({ server, ...(caPem !== undefined && { caPem }), ...identity }, { clock });
  const client = new Client({ transport, clock, userAgent: "k8ts-dashboard" });
  try {
    const local = dir === undefined ? undefined : await localFacts(dir);
    return clusterReport(await readFacts(client, local, clock.now()));
  } finally {
    await client.close();
  }
}
