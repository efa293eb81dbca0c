/**
 * Explains the state of a Pod, as a chain from the visible state to its cause.
 *
 *     deleted · terminating · pending without a node · pending on a node · failed · restarting · not ready · running
 */

import type { core } from "#api";
import { table } from "#base";
import { ageOf, type Reason, type WhyAnswer } from "./answer.ts";
import { whoOf } from "./chain.ts";
import type { PodFacts } from "./facts.ts";
import { whyThere, whyUnscheduled } from "./scheduling.ts";
import { deletionReasons, endingOf } from "./why-gone.ts";

type Part = Omit<WhyAnswer, "what">;

export function whyPod(facts: PodFacts): WhyAnswer {
  const { pod, name, now } = facts;
  if (pod === undefined) return { what: `pod/${name} does not exist`, ...whyGone(facts) };
  const { metadata, spec, status } = pod;
  const since = (time: string | undefined) => (time === undefined ? "" : ` since ${ageOf(Date.parse(time), now)}`);
  if (metadata.deletionTimestamp !== undefined)
    return { what: `pod/${name} is being deleted${since(metadata.deletionTimestamp)}`, ...whyEnding(facts) };
  const phase = status?.phase ?? "Pending";
  const started = since(status?.startTime ?? metadata.creationTimestamp);
  if (phase === "Failed") return { what: `pod/${name} has failed`, ...whyFailed(pod) };
  if (phase === "Succeeded")
    return {
      what: `pod/${name} is done`,
      because: [{ text: "all containers exited with 0", evidence: "status.phase" }],
      help: [],
    };
  if (spec?.nodeName === undefined || spec.nodeName === "")
    return { what: `pod/${name} is Pending${since(metadata.creationTimestamp)}`, ...whyUnscheduled(facts) };
  const trouble = nodeTrouble(facts) ?? containerTrouble(pod);
  if (trouble !== undefined) return { what: `pod/${name} is ${phase}${started}`, ...trouble };
  const unready = whyUnready(pod, facts.events);
  if (unready !== undefined) return { what: `pod/${name} is ${phase} and not ready${started}`, ...unready };
  return { what: `pod/${name} is ${phase} on ${spec.nodeName}${started}`, ...withRefusals(facts, whyThere(facts)) };
}

/** An eviction of it was refused. */
function withRefusals({ requests }: PodFacts, { because, help }: Part): Part {
  const refused = requests.findLast(({ subresource, status }) => subresource === "eviction" && status === 429);
  if (refused === undefined) return { because, help };
  const text = `${whoOf(refused)} tried to evict it, and its disruption budget did not allow it`;
  return {
    because: [...because, { text, evidence: `flow record ${refused.seq}, 429` }],
    help: [...help, "`kubectl get pdb` shows the budget, `k8ts why pdb/NAME` explains it"],
  };
}

function whyGone({ requests, name, events, records = [] }: PodFacts): Part {
  const ending = endingOf(requests);
  if (ending === undefined)
    return { because: [{ text: `there is no record of a pod ${name}`, evidence: "API and flow records" }], help: [] };
  return { because: [...deletionReasons(ending, records), ...toldBefore(events)], help: [] };
}

/** The reason given when it was evicted. */
function toldBefore(events: PodFacts["events"]): Reason[] {
  const reported = events.findLast(({ reason = "" }) =>
    ["TaintManagerEviction", "Preempted", "Evicted"].includes(reason),
  );
  return reported === undefined ? [] : [{ text: reported.message ?? "", evidence: `event ${reported.reason}` }];
}

function whyEnding({ pod, requests, records = [] }: PodFacts): Part {
  const because: Reason[] = [];
  const disruption = condition(pod, "DisruptionTarget");
  if (disruption !== undefined)
    because.push({
      text: disruption.message ?? disruption.reason ?? "",
      evidence: `condition DisruptionTarget, ${disruption.reason}`,
    });
  const ending = endingOf(requests);
  if (ending !== undefined) because.push(...deletionReasons(ending, records));
  const finalizers = pod?.metadata.finalizers ?? [];
  if (finalizers.length > 0) {
    because.push({ text: `it is kept by finalizers: ${finalizers.join(", ")}`, evidence: "metadata.finalizers" });
    return { because, help: ["the controller that added these finalizers must remove them"] };
  }
  const grace = pod?.metadata.deletionGracePeriodSeconds ?? 0;
  because.push({ text: `its containers have ${grace}s to terminate`, evidence: "metadata.deletionGracePeriodSeconds" });
  return { because, help: grace > 0 ? ["`kubectl delete pod --force --grace-period=0` does not wait"] : [] };
}

function whyFailed(pod: core.Pod): Part {
  const { status } = pod;
  const because: Reason[] = [];
  if (status?.reason !== undefined && status.reason !== "")
    because.push({ text: `${status.reason}: ${status.message ?? ""}`, evidence: "status.reason" });
  for (const each of statusesOf(pod)) {
    const ended = each.state?.terminated;
    if (ended !== undefined && ended.exitCode !== 0)
      because.push({
        text: `container ${each.name} exited with ${ended.exitCode} (${ended.reason})`,
        evidence: "containerStatuses",
      });
  }
  const evicted = status?.reason === "Evicted";
  return {
    because,
    help: evicted
      ? ["adjust its requests and limits, or free resources on the node"]
      : ["`kubectl logs` shows its output"],
  };
}

function nodeTrouble({ pod, nodes }: PodFacts): Part | undefined {
  const name = pod?.spec?.nodeName ?? "";
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined)
    return {
      because: [{ text: `its node ${name} no longer exists`, evidence: "no such Node" }],
      help: ["it will be garbage collected soon"],
    };
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return {
    because: [
      { text: `its node ${name} is not ready`, evidence: `Node condition Ready=${ready?.status}` },
      { text: ready?.message ?? "it has reported no status", evidence: ready?.reason ?? "no condition" },
    ],
    help: [
      `inspect the node: \`kubectl describe node ${name}\`; Pods of controllers are replaced after their toleration ends`,
    ],
  };
}

const WAITING_HELP: Readonly<Record<string, string>> = table({
  ErrImagePull:
    "check the image name and whether the node can reach the registry; `k8ts image import` works without one",
  ImagePullBackOff:
    "check the image name and whether the node can reach the registry; `k8ts image import` works without one",
  InvalidImageName: "fix the image name",
  ErrImageNeverPull: "the image is not on the node, and its pull policy is Never: `k8ts image import`",
  CreateContainerConfigError: "a ConfigMap, Secret or other object that the container refers to is missing",
  CreateContainerError: "the container's command, mounts or user do not fit its image",
  RunContainerError: "the container's command cannot be started",
  CrashLoopBackOff: "`kubectl logs --previous` shows its last output",
});

function containerTrouble(pod: core.Pod): Part | undefined {
  for (const each of statusesOf(pod)) {
    const { waiting } = each.state ?? {};
    if (waiting === undefined || waiting.reason === "ContainerCreating" || waiting.reason === "PodInitializing")
      continue;
    const because: Reason[] = [
      { text: `container ${each.name}: ${waiting.reason}`, evidence: "containerStatuses.state.waiting" },
    ];
    const last = each.lastState?.terminated;
    if (last !== undefined)
      because.push({
        text: `it exited with ${last.exitCode} (${last.reason}), ${each.restartCount} restarts so far`,
        evidence: "lastState.terminated",
      });
    else if (waiting.message !== undefined) because.push({ text: waiting.message, evidence: "waiting.message" });
    const memory = last?.reason === "OOMKilled" ? ["it exceeded its memory limit: raise the limit"] : [];
    const help = WAITING_HELP[waiting.reason ?? ""];
    return { because, help: [...memory, ...(help === undefined ? [] : [help])] };
  }
  return undefined;
}

function whyUnready(pod: core.Pod, events: PodFacts["events"]): Part | undefined {
  const ready = condition(pod, "Ready");
  if (ready?.status === "True") return undefined;
  const because: Reason[] = [
    { text: ready?.message ?? "no status yet", evidence: `condition Ready, ${ready?.reason}` },
  ];
  const starting = statusesOf(pod).find(({ state }) => state?.waiting !== undefined);
  if (starting !== undefined) {
    because.push({
      text: `container ${starting.name}: ${starting.state?.waiting?.reason}`,
      evidence: "containerStatuses.state.waiting",
    });
    const warning = events.findLast(({ type }) => type === "Warning");
    if (warning !== undefined) because.push({ text: warning.message ?? "", evidence: `event ${warning.reason}` });
    return { because, help: [] };
  }
  const unready = (pod.status?.containerStatuses ?? []).filter((each) => !each.ready);
  for (const { name } of unready)
    because.push({
      text: `container ${name} is running and its readiness probe has not succeeded`,
      evidence: "containerStatuses.ready",
    });
  return { because, help: unready.length === 0 ? [] : ["`kubectl describe pod` shows the probe's results"] };
}

function condition(pod: core.Pod | undefined, type: string): core.PodCondition | undefined {
  return pod?.status?.conditions?.find((each) => each.type === type);
}

function statusesOf({ status }: core.Pod): readonly core.ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
