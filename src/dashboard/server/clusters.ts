/**
 * `clusters`: GET lists those of this machine's user; POST `clusters?name=…` gives a link to the dashboard of one.
 *
 * 1. Only a dashboard of the cluster's own admin has them: a link gives the other admin's rights.
 */
import type { ServerResponse } from "node:http";
import { answerStatus } from "./proxy.ts";

export interface KnownCluster {
  readonly name: string;
  readonly state: "running" | "starting" | "stopped";
  /** It is the one that this page shows. */
  readonly isThis: boolean;
}

export interface Clusters {
  list(): Promise<readonly KnownCluster[]>;
  /** Works once. Throws why there is none. */
  linkTo(name: string): Promise<string>;
}

export async function answerClusters(
  clusters: Clusters | undefined,
  query: URLSearchParams,
  method: string,
  response: ServerResponse,
): Promise<void> {
  const answer = (body: object) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  try {
    if (method === "GET") answer({ items: (await clusters?.list()) ?? [] });
    else if (method !== "POST") answerStatus(response, 405, "MethodNotAllowed", `Clusters have no ${method}.`);
    else if (clusters === undefined)
      answerStatus(response, 403, "Forbidden", "This dashboard does not lead to other clusters.");
    else answer({ link: await clusters.linkTo(query.get("name") ?? "") });
  } catch (error) {
    answerStatus(response, 502, "BadGateway", (error as Error).message);
  }
}
