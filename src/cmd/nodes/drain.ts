/**
 * `k8ts node drain`: no new Pods on a node, and those that it has go away, as PodDisruptionBudgets allow.
 *
 *     cordon ══► planDrain ──► evictions, each repeated while a budget refuses it ──► Pods are gone
 */
import { type Command, Option } from "commander";
import { type core, isStatusError, type KubeObject, kinds } from "#api";
import { type Clock, realClock } from "#base";
import type { Client } from "#client";
import { ClusterError } from "#cluster";
import { withClient } from "../inspect/own-client.ts";
import { integer, millisecondsOrZero } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { type DrainFlags, planDrain } from "./drain-plan.ts";

const RETRY_MS = 1_000;
const POLL_MS = 200;

export interface DrainOptions extends DataDirOption, Partial<DrainFlags> {
  readonly gracePeriod: number;
  readonly timeout: number;
}

export function drainOptions(): readonly Option[] {
  return [
    new Option("--ignore-daemonsets", "leave Pods of DaemonSets"),
    new Option("--delete-emptydir-data", "also Pods with emptyDir volumes, whose data is lost"),
    new Option("--force", "also Pods without a controller, which nobody makes anew"),
    new Option("--grace-period <seconds>", "of each Pod; -1: its own").argParser(integer).default(-1),
    new Option("--timeout <duration>", "give up after this time; 0: never")
      .argParser(millisecondsOrZero)
      .default(0, "0"),
  ];
}

export function addDrain(node: Command): void {
  const drain = node
    .command("drain <name>")
    .description("move all Pods away from a node, and let no new ones there")
    .addOption(dataDirOption())
    .action((name: string, options: DrainOptions) =>
      withClient(dataDirOf(options), async (client) => {
        await drainNode(client, name, options, realClock());
        process.stdout.write(`${name} is drained; \`kubectl uncordon ${name}\` lets Pods there again.\n`);
      }),
    );
  for (const option of drainOptions()) drain.addOption(option);
}

/** Throws ClusterError. A node with Pods that are in the way is left as it is. */
export async function drainNode(client: Client, name: string, options: DrainOptions, clock: Clock): Promise<void> {
  const { ignoreDaemonsets = false, deleteEmptydirData = false, force = false, timeout } = options;
  const pods = client.of<core.Pod>(kinds.Pod);
  const { items } = await pods.list({ fieldSelector: `spec.nodeName=${name}` });
  const sets = await client.of<KubeObject>(kinds.DaemonSet).list();
  const daemonSets = new Set(sets.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
  const plan = planDrain(items, daemonSets, { ignoreDaemonsets, deleteEmptydirData, force });
  if (plan.problems.length > 0) throw new ClusterError(`${name} is not drained: ${plan.problems.join(" ")}`);
  await client
    .of<core.Node>(kinds.Node)
    .patch(name, { type: "merge", object: { spec: { unschedulable: true } } })
    .catch((error: unknown) => {
      if (!isStatusError(error, "NotFound")) throw error;
      throw new ClusterError(`There is no node ${name}: \`k8ts node ls\` lists all nodes.`, { cause: error });
    });
  for (const pod of plan.ignored) process.stdout.write(`${pod} stays: it is one of a DaemonSet.\n`);
  const deadline = timeout === 0 ? Number.POSITIVE_INFINITY : clock.monotonic() + timeout;
  await Promise.all(plan.evict.map((pod) => evict(client, pod, options, clock, deadline)));
}

async function evict(
  client: Client,
  { metadata: { name = "", namespace = "", uid = "" } = {} }: core.Pod,
  { gracePeriod }: DrainOptions,
  clock: Clock,
  deadline: number,
): Promise<void> {
  const pods = client.of<core.Pod>(kinds.Pod).in(namespace);
  const deleteOptions = { preconditions: { uid }, ...(gracePeriod >= 0 && { gracePeriodSeconds: gracePeriod }) };
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, deleteOptions };
  const late = (why: string) => {
    if (clock.monotonic() >= deadline) throw new ClusterError(`${namespace}/${name} is not gone in time: ${why}.`);
  };
  for (;;) {
    try {
      await pods.subresource(name, "eviction").create(eviction);
      break;
    } catch (error) {
      if (isStatusError(error, "NotFound") || isStatusError(error, "Conflict")) return; // gone, or another of its name
      if (!isStatusError(error, "TooManyRequests")) throw error;
      late(error.message);
      await clock.sleep(RETRY_MS);
    }
  }
  process.stdout.write(`${namespace}/${name} is evicted.\n`);
  while (await isThere(pods, name, uid)) {
    late("it is still terminating");
    await clock.sleep(POLL_MS);
  }
}

async function isThere(pods: ReturnType<Client["of"]>, name: string, uid: string): Promise<boolean> {
  try {
    return (await pods.get(name)).metadata.uid === uid;
  } catch (error) {
    if (isStatusError(error, "NotFound")) return false;
    throw error;
  }
}
