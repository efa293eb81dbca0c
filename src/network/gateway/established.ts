/** Waits for a CustomResourceDefinition: before it is established, a watch of its kind is refused. */
import { kinds } from "#api";
import { type Clock, childController, type Logger, type Random } from "#base";
import { type Client, Informer } from "#client";
import { ChangeSignal } from "../kernel/change-signal.ts";

const LONG_MS = 3_600_000;

export interface EstablishedOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Returns once the definition of that name is established; throws once the signal aborts. */
export async function definitionEstablished(
  { client, clock, random, log }: EstablishedOptions,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  using watching = childController(signal);
  const selectors = { fieldSelector: `metadata.name=${name}` };
  const informer = new Informer({ client: client.of(kinds.CustomResourceDefinition), clock, random, log, selectors });
  const changed = new ChangeSignal();
  informer.onChange(() => changed.mark());
  const running = informer.run(watching.signal);
  const established = async () => {
    const conditions = () => informer.cache.list().flatMap(({ status }) => status?.conditions ?? []);
    const isEstablished = () => conditions().some(({ type, status }) => type === "Established" && status === "True");
    while (!isEstablished()) await changed.wait(clock, LONG_MS, watching.signal);
  };
  try {
    await Promise.race([established(), running]);
    signal.throwIfAborted();
  } finally {
    watching.abort();
    await running;
  }
}
