/** A client of a running cluster as its admin, with what goes with it. */
import { type Clock, type Random, realClock, systemRandom } from "#base";
import { Client, https } from "#client";
import type { DataDir } from "#cluster";
import { runningServer } from "./running-server.ts";

export interface Admin extends AsyncDisposable {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

export async function adminClient(dir: DataDir): Promise<Admin> {
  const clock = realClock();
  const { server, caPem, client: user = {} } = await runningServer(dir);
  const client = new Client({ transport: https({ server, caPem, ...user }, { clock }), clock });
  return { client, clock, random: systemRandom(), [Symbol.asyncDispose]: () => client.close() };
}
