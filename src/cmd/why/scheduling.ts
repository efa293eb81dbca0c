/** Why a Pod has no node yet, or why it has this one. */
import type { Reason, WhyAnswer } from "./answer.ts";
import type { PodFacts, SchedulingAttempt } from "./facts.ts";

type Part = Omit<WhyAnswer, "what">;

export function whyUnscheduled(facts: PodFacts): Part {
  const { pod, attempts, nodes } = facts;
  const gates = (pod?.spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0) {
    return {
      because: [{ text: `it waits for its scheduling gates: ${gates.join(", ")}`, evidence: "spec.schedulingGates" }],
      help: ["whoever set the gates has to take them away"],
    };
  }
  const last = attempts.at(-1);
  const condition = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (last === undefined && condition?.status !== "False") return nobodyLooked(facts);
  const message = last?.outcome.kind === "scheduled" ? "" : (last?.outcome.message ?? condition?.message ?? "");
  const because: Reason[] = [{ text: message, evidence: "condition PodScheduled" }];
  for (const { plugin, reasons, nodes: count } of last?.rejections ?? [])
    because.push({
      text: `${count} of ${last?.nodeCount} nodes: ${reasons.join(", ")}`,
      evidence: `scheduler plugin ${plugin}`,
    });
  const reasons = last?.rejections.flatMap((each) => each.reasons) ?? [];
  const words = reasons.length === 0 ? [message] : reasons;
  const nominated = pod?.status?.nominatedNodeName;
  if (nominated !== undefined)
    because.push({ text: `others make room for it on ${nominated}`, evidence: "status.nominatedNodeName" });
  return { because, help: nodes.length === 0 ? ["there is no node: add one"] : [...new Set(words.flatMap(helpFor))] };
}

function nobodyLooked({ pod }: PodFacts): Part {
  const name = pod?.spec?.schedulerName ?? "default-scheduler";
  if (name === "default-scheduler") {
    return {
      because: [{ text: "no scheduler has looked at it yet", evidence: "no condition PodScheduled" }],
      help: ["is the scheduler running? `k8ts status`"],
    };
  }
  return {
    because: [
      {
        text: `it asks for the scheduler ${name}, and none of that name has looked at it`,
        evidence: "spec.schedulerName",
      },
    ],
    help: [`run a scheduler called ${name}, or leave schedulerName out`],
  };
}

export function whyThere({ pod, attempts }: PodFacts): Part {
  const node = pod?.spec?.nodeName ?? "";
  const attempt = attempts.findLast(({ outcome }) => outcome.kind === "scheduled");
  if (attempt === undefined) return { because: [{ text: `it is on ${node}`, evidence: "spec.nodeName" }], help: [] };
  const [best, ...others] = attempt.best;
  const because: Reason[] = [
    {
      text: `${attempt.fitting} of ${attempt.nodeCount} nodes fitted, ${node} was the best`,
      evidence: `attempt ${attempt.attempt}`,
    },
  ];
  if (best !== undefined) because.push({ text: scoreText(best), evidence: "scores" });
  for (const other of others.slice(0, 2)) because.push({ text: scoreText(other), evidence: "scores" });
  return { because, help: [] };
}

function scoreText({ node, total, parts }: SchedulingAttempt["best"][number]): string {
  const words = Object.entries(parts)
    .filter(([, score]) => score > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([plugin, score]) => `${plugin} ${score}`);
  return `${node}: ${total} = ${words.join(" + ") || "0"}`;
}

const HELP: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^Insufficient (.+)$/, ([, what]) => `ask for less ${what}, end other Pods, or add a node`],
  [/^Too many pods$/, () => "a node takes no more Pods: add a node"],
  [/untolerated taint/, () => "add a toleration for the taint, or take the taint away: `kubectl taint node NAME KEY-`"],
  [/node affinity\/selector/, () => "no node has these labels: label one, or change nodeSelector and node affinity"],
  [/unschedulable$/, () => "a node is cordoned: `kubectl uncordon NAME`"],
  [/free ports/, () => "another Pod has the host port: choose another one, or fewer replicas than nodes"],
  [/anti-affinity/, () => "other Pods keep it away: fewer replicas, more nodes, or preferred anti-affinity"],
  [/pod affinity/, () => "no Pod that it wants to be near is there"],
  [
    /topology spread constraints/,
    () => "raise maxSkew, add nodes to the smallest domain, or let whenUnsatisfiable be ScheduleAnyway",
  ],
  [/unbound immediate PersistentVolumeClaims/, () => "its claims are not bound: `kubectl describe pvc`"],
  [/persistentvolumeclaim "([^"]+)" not found/, ([, name]) => `create the claim ${name}`],
  [/volume node affinity/, () => "its volume is on another node"],
];

function helpFor(reason: string): string[] {
  for (const [pattern, text] of HELP) {
    const match = pattern.exec(reason);
    if (match !== null) return [text(match)];
  }
  return [];
}
