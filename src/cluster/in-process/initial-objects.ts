/**
 * What a cluster has from its start: roles of its nodes, manifests, and Helm charts.
 *
 *     nodes ready ──► roles ──► manifests, in their order ──► helm upgrade --install ──► announced
 *
 * 1. Everything is applied again at each start: what is as it should be stays as it is.
 * 2. What an object needs may come a moment later: a definition that is not served yet, a default ServiceAccount. It is
 *    tried again for a while.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type core, isStatusError, kinds } from "#api";
import type { Clock } from "#base";
import { applyAll, Client, type InProcessHandle, inProcess, objectsOf } from "#client";
import type { InitialChart, InitialObjects, NodeOwn } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";

const USER = { name: "k8ts-start", groups: ["system:masters", "system:authenticated"] };
const APPLYING = { fieldManager: "k8ts-up" };
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;
/** Refusals that no waiting mends. */
const LASTING = ["Invalid", "BadRequest", "MethodNotAllowed", "RequestEntityTooLarge"];

export interface InitialOptions {
  readonly initial: InitialObjects;
  readonly nodes: readonly NodeOwn[];
  readonly handle: InProcessHandle;
  /** For helm. */
  readonly kubeconfig: string;
  readonly clock: Clock;
}

/** How many objects and charts there are, in words. */
export async function applyInitial({ initial, nodes, handle, kubeconfig, clock }: InitialOptions): Promise<string> {
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  try {
    for (const { name, role } of nodes) {
      if (role === undefined) continue;
      const object = { metadata: { labels: { [`node-role.kubernetes.io/${role}`]: "" } } };
      await patiently(clock, () => client.of<core.Node>(kinds.Node).patch(name, { type: "merge", object }));
    }
    const objects = await readAll(initial.manifests);
    for (const object of objects) await patiently(clock, () => applyAll(client, [object], APPLYING));
    for (const chart of initial.charts) await install(chart, kubeconfig);
    const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
    const { length: charts } = initial.charts;
    return [count(objects.length, "object"), ...(charts === 0 ? [] : [count(charts, "chart")])].join(", ");
  } finally {
    await client.close();
  }
}

async function readAll(manifests: readonly string[]) {
  try {
    return await objectsOf(manifests);
  } catch (error) {
    throw new ClusterError(`The manifests cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

async function patiently(clock: Clock, work: () => Promise<unknown>): Promise<void> {
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = [error, cause].find((each) => isStatusError(each))?.reason ?? "";
      if (LASTING.includes(reason) || clock.monotonic() >= deadline)
        throw new ClusterError(`--config: ${message}`, { cause: error });
      await clock.sleep(PAUSE_MS);
    }
  }
}

async function install({ name, chart, namespace, values }: InitialChart, kubeconfig: string): Promise<void> {
  const given = values === undefined ? [] : ["--values", "-"];
  const args = ["upgrade", "--install", name, chart, "--namespace", namespace, "--create-namespace", ...given];
  const helm = spawn("helm", args, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ["pipe", "ignore", "pipe"],
  });
  let said = "";
  helm.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  // It may end before it reads.
  helm.stdin.on("error", () => {}).end(JSON.stringify(values ?? {}));
  const [code] = (await once(helm, "close")) as [number | null];
  if (code !== 0)
    throw new ClusterError(
      `The chart ${chart} could not be installed: ${said.trim().split("\n").at(-1) ?? `code ${code}`}`,
    );
}
