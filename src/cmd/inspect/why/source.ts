/** Where `k8ts why` reads: the API, the flow records, the scheduler's attempts, the logs. */
import { StatusError } from "#api";
import { type Clock, realClock } from "#base";
import type { Client } from "#client";
import type { DataDir } from "#cluster";
import type { FlowRecord } from "#flows";
import type { OngoingPull } from "#kubelet";
import { askServer, bodyText } from "../ask-server.ts";
import { fetchRecords } from "../flow.ts";
import type { SchedulingAttempt } from "./facts.ts";

export interface WhySource {
  readonly client: Client;
  readonly records: readonly FlowRecord[];
  readonly clock: Clock;
  /** Empty if the scheduler does not say: conditions and events remain. */
  attempts(uid: string): Promise<readonly SchedulingAttempt[]>;
  /** Of the instance before; empty if there is no log. */
  lastWords(namespace: string, pod: string, container: string): Promise<readonly string[]>;
  /** What a node's kubelet is pulling. Default: nobody knows. */
  pulls?(node: string): Promise<readonly OngoingPull[]>;
}

const MAX_LINES = 5;

/** A running cluster, read by its admin. */
export async function clusterSource(client: Client, dir: DataDir): Promise<WhySource> {
  const { records } = await fetchRecords(dir);
  return {
    ...apiSource(client),
    records,
    async attempts(uid) {
      const response = await askServer(dir, `/k8ts/scheduling?uid=${encodeURIComponent(uid)}`);
      const text = await bodyText(response);
      return response.statusCode === 200 ? (JSON.parse(text) as SchedulingAttempt[]) : [];
    },
  };
}

/** The API alone, with the rights of its client: conditions, events and logs. */
export function apiSource(client: Client): WhySource {
  return {
    client,
    records: [],
    clock: realClock(),
    attempts: async () => [],
    async lastWords(namespace, pod, container) {
      const query = `container=${encodeURIComponent(container)}&previous=true&tailLines=${MAX_LINES}`;
      const text = await client.text(`/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`).catch(withoutLog);
      return text.split("\n").filter((line) => line.trim() !== "");
    },
    async pulls(node) {
      const text = await client.text(`/api/v1/nodes/${node}/proxy/pulls`).catch(withoutLog);
      return text === "" ? [] : (JSON.parse(text) as { readonly pulls: readonly OngoingPull[] }).pulls;
    },
  };
}

/** There was no instance before, its log is gone, or the user may not read it: the answer goes without. */
function withoutLog(error: unknown): string {
  if (error instanceof StatusError) return "";
  throw error;
}
