/**
 * The way in: ports of this machine that lead into the cluster, kept up to date.
 *
 *     Services, EndpointSlices, Nodes --► planDoors ──► Doors ──► published.json
 *     publish.json                    ···►
 */
import { stat } from "node:fs/promises";
import { kinds } from "#api";
import { type Clock, type Logger, processQueue, type Random, TaskGroup, WorkQueue } from "#base";
import { Client, Informers, type InProcessHandle, inProcess, objectKey } from "#client";
import type { DataDir } from "../../data/data-dir.ts";
import { Doors } from "./doors.ts";
import { planDoors } from "./plan.ts";
import { forgetDoors, readWanted, writeDoors } from "./records.ts";

const USER = { name: "k8ts-nodes", groups: ["system:masters", "system:authenticated"] };
const { Service, Node, EndpointSlice } = kinds;
const SERVICE_NAME = "kubernetes.io/service-name";
const LOOK_MS = 200;
/** Ports that were in use may be free again. */
const RETRY_MS = 5000;
const GATHER_MS = 30;
const KEY = "doors";

export interface EntrancesOptions {
  readonly dir: DataDir;
  readonly handle: InProcessHandle;
  readonly localhost: boolean;
  /** Undefined: there is none. */
  readonly ingress: { readonly address: string; readonly ports: ReadonlyMap<number, number> } | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Runs until the signal aborts; then all ports are closed. */
export async function keepEntrances(options: EntrancesOptions, signal: AbortSignal): Promise<void> {
  const { dir, handle, localhost, ingress, clock, random, log } = options;
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  const doors = new Doors(clock);
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const [services, nodes, slices] = [informers.of(Service), informers.of(Node), informers.of(EndpointSlice)];
  const slicesOf = slices.cache.index("service", ({ metadata }) => [
    `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME]}`,
  ]);
  const queue = new WorkQueue<string>({ clock, random, backoff: { initialMs: 200, maxMs: 30_000 } });
  try {
    await informers.synced();
    for (const informer of [services, nodes, slices]) informer.onChange(() => queue.addAfter(KEY, GATHER_MS));
    queue.add(KEY);
    tasks.run("publish.json", (running) => watchFile(dir.publish, () => queue.add(KEY), clock, running));
    let [last, problems] = ["", ""];
    const onFailure = (error: unknown) => {
      log.warn("ports of this machine could not be opened; trying again", { error });
      return "retry" as const;
    };
    tasks.run("ports of this machine", (running) =>
      processQueue(queue, { concurrency: 1, signal: running, onFailure }, async () => {
        const plan = planDoors({
          ...{ publications: await readWanted(dir), localhost, ingress },
          ...{ services: services.cache.list(), nodes: nodes.cache.list() },
          slicesOf: (service) => slicesOf(objectKey(service)),
        });
        const shown = await doors.set(plan);
        const closed = shown.filter(({ problem }) => problem !== undefined);
        if (closed.length > 0) queue.addAfter(KEY, RETRY_MS);
        const saying = closed.map(({ at, to, problem }) => `${at} ──► ${to}: ${problem}`).join("; ");
        if (saying !== problems && saying !== "") log.warn("some ports are not published", { why: saying });
        problems = saying;
        const now = JSON.stringify(shown);
        if (now === last) return;
        await writeDoors(dir, shown);
        last = now;
      }),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
    await doors.close();
    await forgetDoors(dir);
    await client.close();
  }
}

async function watchFile(path: string, onChange: () => void, clock: Clock, signal: AbortSignal): Promise<void> {
  const look = () =>
    stat(path).then(
      ({ mtimeMs, ino }) => `${mtimeMs} ${ino}`,
      () => "none",
    );
  let seen = await look();
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal);
    const now = await look();
    if (now !== seen) onChange();
    seen = now;
  }
}
