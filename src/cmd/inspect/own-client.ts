/** Typed requests of commands to a running cluster, as its admin. */
import { isStatusError } from "#api";
import { realClock } from "#base";
import type { Client } from "#client";
import { ClusterError, type DataDir } from "#cluster";
import { runningServer } from "./running-server.ts";

/** Refusals of the API server become one sentence. */
export async function withClient<T>(dir: DataDir, work: (client: Client) => Promise<T>): Promise<T> {
  const { server, caPem, client: user } = await runningServer(dir);
  const credentials = user !== undefined && "certPem" in user ? { certPem: user.certPem, keyPem: user.keyPem } : {};
  // Loaded on demand, so that other commands start without it.
  const { Client, https } = await import("#client");
  const clock = realClock();
  const client = new Client({ transport: https({ server, caPem, ...credentials }, { clock }), clock });
  try {
    return await work(client);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new ClusterError(`The API server at ${server} returned: ${error.message}`, { cause: error });
  } finally {
    await client.close();
  }
}
