/** Where `k8ts why` reads: the API, the flow records, the scheduler's attempts, the logs. */
import { type Clock, realClock } from "#base";
import type { Client } from "#client";
import type { DataDir } from "#cluster";
import type { FlowRecord } from "#flows";
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
}

const MAX_LINES = 5;

/** A running cluster. */
export async function clusterSource(client: Client, dir: DataDir): Promise<WhySource> {
  const { records } = await fetchRecords(dir);
  const asked = async (path: string): Promise<string | undefined> => {
    const response = await askServer(dir, path);
    const text = await bodyText(response);
    return response.statusCode === 200 ? text : undefined;
  };
  return {
    client,
    records,
    clock: realClock(),
    async attempts(uid) {
      const text = await asked(`/k8ts/scheduling?uid=${encodeURIComponent(uid)}`);
      return text === undefined ? [] : (JSON.parse(text) as SchedulingAttempt[]);
    },
    async lastWords(namespace, pod, container) {
      const query = `container=${encodeURIComponent(container)}&previous=true&tailLines=${MAX_LINES}`;
      const text = await asked(`/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`);
      return (text ?? "").split("\n").filter((line) => line.trim() !== "");
    },
  };
}
