/**
 * The balancer of a node: its members are the endpoints of the Service `kubernetes`.
 *
 *     EndpointSlices --► members ══► file, for the next start ──► Balancer
 *
 * The watch goes through the balancer itself: the file, or the addresses given, say where to begin.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { type discovery, kinds } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informer } from "#client";
import { addressText, Balancer } from "./balancer.ts";
import { readyzCheck } from "./check.ts";

export interface ApiBalancerOptions {
  readonly host: string;
  readonly port: number;
  /** `host:port` of API servers, for a start without the file. */
  readonly members: readonly string[];
  readonly file: string;
  readonly client: Client;
  readonly caPem: string | undefined;
  /** Called once it takes connections. */
  readonly onListening?: (() => void) | undefined;
  readonly onChange?: ((usable: (address: string) => boolean) => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function runApiBalancer(options: ApiBalancerOptions, signal: AbortSignal): Promise<void> {
  const { client, caPem, file, clock, random, log } = options;
  const known = await rememberedMembers(file, log);
  const members = known.length > 0 ? known : options.members;
  const balancer = await Balancer.open({ ...options, members, check: readyzCheck({ caPem, clock }) });
  options.onListening?.();
  const tasks = new TaskGroup({ parent: signal });
  try {
    const slices = new Informer<discovery.EndpointSlice>({
      ...{ client: client.of(kinds.EndpointSlice).in("default"), clock, random, log },
      selectors: { labelSelector: "kubernetes.io/service-name=kubernetes" },
    });
    let remembered = known.join();
    slices.onChange(() => {
      const addresses = membersIn(slices.cache.list());
      balancer.setAddresses(addresses);
      if (addresses.length === 0 || addresses.join() === remembered) return;
      remembered = addresses.join();
      tasks.run("members on disk", () => remember(file, addresses, log));
    });
    tasks.run("health of API servers", (running) => balancer.run(running));
    tasks.run("API servers", (running) => slices.run(running));
    await tasks.done();
  } finally {
    await tasks.stop();
    await balancer.close();
  }
}

/** The endpoints of the Service `kubernetes`, in a fixed order. Pure. */
export function membersIn(slices: readonly discovery.EndpointSlice[]): readonly string[] {
  const all = slices.flatMap(({ endpoints = [], ports = [] }) => {
    const port = (ports ?? []).find(({ name }) => name === "https")?.port;
    if (port === undefined) return [];
    return endpoints.flatMap(({ addresses, conditions }) =>
      conditions?.ready === false ? [] : addresses.map((host) => addressText(host, port)),
    );
  });
  return [...new Set(all)].sort();
}

/** Empty before the first start, and if it is damaged: the addresses given count then. */
export async function rememberedMembers(file: string, log: Pick<Logger, "warn">): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "[]";
    throw error;
  });
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read) && read.every((each) => typeof each === "string")) return read;
  } catch {
    // said below
  }
  log.warn("the remembered API servers cannot be read", { file });
  return [];
}

async function remember(file: string, addresses: readonly string[], log: Logger): Promise<void> {
  try {
    await writeFile(`${file}.new`, `${JSON.stringify(addresses)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    log.warn("the API servers could not be remembered", { file, error });
  }
}
