/**
 * One extender over HTTP.
 *
 * 1. It has exactly the verbs that its configuration names.
 * 2. If a response contains nodes or Pods that were not in the request, the attempt fails.
 */
import type { core } from "#api";
import type { Clock } from "#base";
import type {
  Extender,
  ExtenderConfig,
  ExtenderFiltered,
  ExtenderVictims,
  NodeInfo,
  PodInfo,
} from "../framework/index.ts";
import {
  bindMessage,
  namesMessage,
  nodesMessage,
  readError,
  readFilterAnswer,
  readPriorities,
  readVictims,
  victimsMessage,
} from "./messages.ts";
import { ExtenderError, poster } from "./post-json.ts";

export interface ExtenderContext {
  readonly clock: Clock;
  /** For extenders that do not cache nodes, and to look up victims. */
  nodeNamed(name: string): Pick<NodeInfo, "node" | "pods"> | undefined;
}

export function httpExtender(config: ExtenderConfig, { clock, nodeNamed }: ExtenderContext): Extender {
  const { urlPrefix, nodeCacheCapable, filterVerb, prioritizeVerb, bindVerb, preemptVerb } = config;
  const managed = new Set(config.managedResources.map(({ name }) => name));
  const { post, close } = poster(config, clock);

  const question = ({ pod }: PodInfo, names: readonly string[]) => {
    if (nodeCacheCapable) return namesMessage(pod, names);
    return nodesMessage(
      pod,
      names.flatMap((name) => nodeNamed(name)?.node ?? []),
    );
  };

  const filter = async (pod: PodInfo, names: readonly string[], signal: AbortSignal): Promise<ExtenderFiltered> => {
    const answer = readFilterAnswer(await post(filterVerb, question(pod, names), signal));
    if (answer.error !== "") throw new ExtenderError(answer.error);
    const fitting = (nodeCacheCapable ? (answer.names ?? answer.nodes) : answer.nodes) ?? [];
    const asked = new Set(names);
    const stranger = fitting.find((name) => !asked.has(name));
    if (stranger !== undefined)
      throw new ExtenderError(
        `extender ${JSON.stringify(urlPrefix)} claims a filtered node ${JSON.stringify(stranger)} which is not found in the input node list`,
      );
    return { fitting, failed: answer.failed, unresolvable: answer.unresolvable };
  };

  const prioritize = async (pod: PodInfo, names: readonly string[], signal: AbortSignal) =>
    readPriorities(await post(prioritizeVerb, question(pod, names), signal));

  const bind = async ({ pod }: PodInfo, node: string, signal: AbortSignal): Promise<void> => {
    const error = readError(await post(bindVerb, bindMessage(pod, node), signal));
    if (error !== "") throw new ExtenderError(error);
  };

  const preempt = async (
    pod: PodInfo,
    victims: ReadonlyMap<string, ExtenderVictims>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ExtenderVictims>> => {
    const byNode = new Map(
      [...victims].map(([node, { pods, pdbViolations }]) => [
        node,
        { pods: pods.map((each) => each.pod), pdbViolations },
      ]),
    );
    const answer = readVictims(await post(preemptVerb, victimsMessage(pod.pod, byNode, nodeCacheCapable), signal));
    return new Map(
      [...answer].map(([node, { uids, pdbViolations }]) => [
        node,
        { pods: uids.map((uid) => podOn(node, uid)), pdbViolations },
      ]),
    );
  };

  const podOn = (node: string, uid: string): PodInfo => {
    const found = nodeNamed(node)?.pods.get(uid);
    if (found === undefined)
      throw new ExtenderError(
        `extender: ${urlPrefix} claims to preempt pod (UID: ${uid}) on node: ${node}, but the pod is not found on that node`,
      );
    return found;
  };

  return {
    name: urlPrefix,
    weight: config.weight,
    ignorable: config.ignorable,
    isInterested: ({ pod }) =>
      managed.size === 0 || containersOf(pod).some((container) => asksForOne(container, managed)),
    ...(filterVerb === "" ? {} : { filter }),
    ...(prioritizeVerb === "" ? {} : { prioritize }),
    ...(bindVerb === "" ? {} : { bind }),
    ...(preemptVerb === "" ? {} : { preempt }),
    close: async () => close(),
  };
}

function containersOf({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

function asksForOne({ resources }: core.Container, managed: ReadonlySet<string>): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).some((name) => managed.has(name));
}
