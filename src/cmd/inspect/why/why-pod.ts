/**
 * Explains the state of a Pod, as a chain from the visible state to its cause.
 *
 *     deleted · terminating · pending without a node · pending on a node · failed · restarting · not ready · running
 */

import type { core } from "#api";
import { forAge, type Explained as Part, type Reason, type WhyAnswer } from "./answer.ts";
import { whoOf } from "./chain.ts";
import { containerTrouble, statusesOf, whyUnready } from "./containers.ts";
import type { PodFacts } from "./facts.ts";
import { whyThere, whyUnscheduled } from "./scheduling.ts";
import { deletionReasons, endingOf } from "./why-gone.ts";

export function whyPod(facts: PodFacts): WhyAnswer {
  const { pod, name, now } = facts;
  if (pod === undefined) return { what: `pod/${name} does not exist`, ...whyGone(facts) };
  const { metadata, spec, status } = pod;
  if (metadata.deletionTimestamp !== undefined)
    return { what: `pod/${name} has been Terminating${forAge(metadata.deletionTimestamp, now)}`, ...whyEnding(facts) };
  const phase = status?.phase ?? "Pending";
  const age = forAge(metadata.creationTimestamp, now);
  if (phase === "Failed") return { what: `pod/${name} has failed`, ...whyFailed(pod) };
  if (phase === "Succeeded")
    return {
      what: `pod/${name} is done`,
      because: [{ text: "all containers exited with 0", evidence: "status.phase" }],
      help: [],
    };
  if (spec?.nodeName === undefined || spec.nodeName === "")
    return { what: `pod/${name} has been Pending${age}`, ...whyUnscheduled(facts) };
  const trouble = nodeTrouble(facts) ?? containerTrouble(facts, pod);
  if (trouble !== undefined) return { what: `pod/${name} has been ${phase}${age}`, ...trouble };
  const unready = whyUnready(facts, pod);
  if (unready !== undefined) return { what: `pod/${name} has been ${phase} and not ready${age}`, ...unready };
  return { what: `pod/${name} has been ${phase} on ${spec.nodeName}${age}`, ...withRefusals(facts, whyThere(facts)) };
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
    return {
      cause: `the finalizers ${finalizers.join(", ")} keep it`,
      because,
      help: ["the controller that added these finalizers must remove them"],
    };
  }
  const grace = pod?.metadata.deletionGracePeriodSeconds ?? 0;
  because.push({ text: `its containers have ${grace}s to terminate`, evidence: "metadata.deletionGracePeriodSeconds" });
  const cause = `its containers have ${grace} s to end`;
  return { cause, because, help: grace > 0 ? ["`kubectl delete pod --force --grace-period=0` does not wait"] : [] };
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
  const [first] = because;
  return {
    cause: first?.text,
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
      cause: `its node ${name} no longer exists`,
      because: [{ text: `its node ${name} no longer exists`, evidence: "no such Node" }],
      help: ["it will be garbage collected soon"],
    };
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return {
    cause: `its node ${name} is not ready: ${ready?.message ?? "it has reported no status"}`,
    because: [
      { text: `its node ${name} is not ready`, evidence: `Node condition Ready=${ready?.status}` },
      { text: ready?.message ?? "it has reported no status", evidence: ready?.reason ?? "no condition" },
    ],
    help: [
      `inspect the node: \`kubectl describe node ${name}\`; Pods of controllers are replaced after their toleration ends`,
    ],
  };
}

function condition(pod: core.Pod | undefined, type: string): core.PodCondition | undefined {
  return pod?.status?.conditions?.find((each) => each.type === type);
}
