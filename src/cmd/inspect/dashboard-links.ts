/** Links to dashboards of running clusters: of this one, and of the others of this user, for the page's switch. */
import { readFile } from "node:fs/promises";
import { ClusterError, commandFor, type DataDir, findRunning, listClusters } from "#cluster";
import type { Clusters, Dashboard } from "#dashboard";
import { runningServer } from "./running-server.ts";

const TIMEOUT_MS = 10_000;

/** A fresh one of the dashboard that the cluster's process serves. */
export async function linkOf(dir: DataDir): Promise<string> {
  await runningServer(dir);
  const text = await readFile(dir.dashboard, "utf8").catch(() => undefined); // it serves none
  if (text === undefined)
    throw new ClusterError(
      `This cluster serves no dashboard: \`${commandFor(dir, "up")}\` without --no-dashboard does, or \`k8ts dashboard --serve\`.`,
    );
  const { url, secret } = JSON.parse(text) as Dashboard["access"];
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 200) return (await response.text()).trim();
    throw new Error(`status ${response.status}`);
  } catch (error) {
    throw new ClusterError(`The dashboard of this cluster does not answer: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** As `k8ts ls` lists them. */
export function clustersBeside(own: DataDir, env: NodeJS.ProcessEnv = process.env): Clusters {
  return {
    list: async () =>
      Promise.all(
        (await listClusters(env)).map(async (dir) => {
          const found = await findRunning(dir);
          const state = !found.running ? "stopped" : found.state === undefined ? "starting" : "running";
          return { name: dir.name ?? "", state, isThis: dir.path === own.path } as const;
        }),
      ),
    linkTo: async (name) => {
      const dir = (await listClusters(env)).find((each) => each.name === name);
      if (dir === undefined) throw new ClusterError(`There is no cluster ${JSON.stringify(name)}.`);
      return linkOf(dir);
    },
  };
}
