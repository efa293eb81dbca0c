/** `k8ts why` for the dashboard: what follows from the API and the flow records, as far as its user may read them. */
import { realClock } from "#base";
import { Client, https } from "#client";
import { ClusterError } from "#cluster";
import type { Explain } from "#dashboard";
import { headline } from "./answer.ts";
import { answerWhy } from "./gather.ts";
import { apiSource } from "./source.ts";

export const explain: Explain = async (
  { server, caPem, client: identity = {} },
  { resource, group, namespace, name },
) => {
  const clock = realClock();
  const transport = https({ server, ...(caPem !== undefined && { caPem }), ...identity }, { clock });
  const client = new Client({ transport, clock, userAgent: "k8ts-dashboard" });
  try {
    const type = group === "" ? resource : `${resource}.${group}`;
    // Flow records and the scheduler's attempts are for the cluster's own user: conditions and events remain.
    const answer = await answerWhy(apiSource(client), `${type}/${name}`, namespace);
    return { ...answer, what: headline(answer) };
  } catch (error) {
    // Of a kind that has no explanations.
    if (error instanceof ClusterError) return undefined;
    throw error;
  } finally {
    await client.close();
  }
};
