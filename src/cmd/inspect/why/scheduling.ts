/** Why a Pod has no node yet, or why it has this one. */
import { deeper, headline, type Explained as Part, type Reason } from "./answer.ts";
import type { PodFacts, SchedulingAttempt } from "./facts.ts";
import { causeOf } from "./placement.ts";

export function whyUnscheduled(facts: PodFacts): Part {
  const { pod, attempts, nodes } = facts;
  const gates = (pod?.spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0) {
    return {
      cause: `it waits for its scheduling gates ${gates.join(", ")}`,
      because: [{ text: `it waits for its scheduling gates: ${gates.join(", ")}`, evidence: "spec.schedulingGates" }],
      help: ["the controller that added these scheduling gates must remove them"],
    };
  }
  const last = attempts.at(-1);
  const condition = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (last === undefined && condition?.status !== "False")
    return pod?.spec?.resourceClaims === undefined && pod?.spec?.schedulingGroup === undefined
      ? nobodyLooked(facts)
      : whyHeldBack(facts);
  if (last?.outcome.kind === "scheduled") return whyUnbound(facts, last.outcome.node, last.attempt);
  const message = last?.outcome.message ?? condition?.message ?? "";
  const because: Reason[] = [{ text: message, evidence: "condition PodScheduled" }];
  for (const { plugin, reasons, nodes: count } of last?.rejections ?? [])
    because.push({
      text: `${count} of ${last?.nodeCount} nodes: ${reasons.join(", ")}`,
      evidence: plugin === "" ? "scheduler" : `scheduler plugin ${plugin}`,
    });
  const reasons = last?.rejections.flatMap((each) => each.reasons) ?? [];
  const texts = reasons.length === 0 ? reasonsIn(message) : reasons;
  const nominated = pod?.status?.nominatedNodeName;
  if (nominated !== undefined && nominated !== "")
    because.push({
      text: `lower-priority Pods are being preempted on ${nominated}`,
      evidence: "status.nominatedNodeName",
    });
  const causes = texts.map((text) => ({ text, cause: causeOf(facts, text) }));
  for (const { cause } of causes)
    if (cause !== undefined) because.push({ text: cause.text, evidence: "Nodes and Pods" });
  const claims = facts.claims ?? [];
  for (const claim of claims) because.push({ text: headline(claim), evidence: evidenceOf(claim) }, ...claim.because);
  if (nodes.length === 0) return { cause: "the cluster has no node", because, help: ["there is no node: add one"] };
  const help = [
    ...causes.flatMap(({ text, cause }) => cause?.help ?? helpFor(text)),
    ...claims.flatMap((each) => each.help),
  ];
  const named = claims[0] === undefined ? causes.map(({ text, cause }) => cause?.text ?? text) : [headline(claims[0])];
  return { cause: [...new Set(named)].slice(0, 3).join("; "), because, help: [...new Set(help)] };
}

function evidenceOf({ what }: { readonly what: string }): string {
  return what.startsWith("podgroup/") ? "its pod group" : "its claim";
}

/** The scheduler does not try a Pod before its ResourceClaims exist, nor one of a gang before the others do. */
function whyHeldBack(facts: PodFacts): Part {
  const [first, ...others] = facts.claims ?? [];
  if (first === undefined) return nobodyLooked(facts);
  return {
    cause: headline(first),
    because: [first, ...others].flatMap((claim) => deeper(claim, evidenceOf(claim))),
    help: [...new Set([first, ...others].flatMap(({ help }) => help))],
  };
}

/** A node is chosen, but the Pod is not bound yet. */
function whyUnbound({ pod }: PodFacts, node: string, attempt: number): Part {
  const claims = pod?.spec?.volumes?.some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
  const what = claims === true ? "its volumes" : "the API server or a Permit plugin";
  return {
    cause: `${node} was chosen for it, and it waits for ${what}`,
    because: [
      { text: `${node} was chosen for it`, evidence: `attempt ${attempt}` },
      { text: `it is being bound, and waits for ${what}`, evidence: "no spec.nodeName" },
    ],
    help: claims === true ? ["are its claims bound? `kubectl get pvc`"] : [],
  };
}

/** "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. preemption: …": the reasons one by one. */
function reasonsIn(message: string): readonly string[] {
  const [, counted] = /^0\/\d+ nodes are available: (.*?)\.(?: [^.]*preemption: |$)/.exec(message) ?? [];
  return counted === undefined ? [message] : counted.split(", ").map((each) => each.replace(/^\d+ /, ""));
}

function nobodyLooked({ pod }: PodFacts): Part {
  const name = pod?.spec?.schedulerName ?? "default-scheduler";
  if (name === "default-scheduler") {
    return {
      cause: "no scheduler has tried it yet",
      because: [{ text: "no scheduler has tried it yet", evidence: "no condition PodScheduled" }],
      help: ["is the scheduler running? `k8ts status`"],
    };
  }
  return {
    cause: `it requests the scheduler ${name}, which does not run`,
    because: [
      {
        text: `it requests the scheduler ${name}, and no scheduler of that name has tried it`,
        evidence: "spec.schedulerName",
      },
    ],
    help: [`run a scheduler named ${name}, or remove schedulerName`],
  };
}

export function whyThere({ pod, attempts }: PodFacts): Part {
  const node = pod?.spec?.nodeName ?? "";
  const attempt = attempts.findLast(({ outcome }) => outcome.kind === "scheduled");
  if (attempt === undefined) return { because: [{ text: `it is on ${node}`, evidence: "spec.nodeName" }], help: [] };
  const [best, ...others] = attempt.best;
  const because: Reason[] = [
    {
      text: `${attempt.fitting} of ${attempt.nodeCount} nodes fit, ${node} scored highest`,
      evidence: `attempt ${attempt.attempt}`,
    },
  ];
  if (best !== undefined) because.push({ text: scoreText(best), evidence: "scores" });
  for (const other of others.slice(0, 2)) because.push({ text: scoreText(other), evidence: "scores" });
  return { because, help: [] };
}

function scoreText({ node, total, parts }: SchedulingAttempt["best"][number]): string {
  const terms = Object.entries(parts)
    .filter(([, score]) => score > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([plugin, score]) => `${plugin} ${score}`);
  return `${node}: ${total} = ${terms.join(" + ") || "0"}`;
}

const HELP: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^Insufficient (.+)$/, ([, what]) => `request less ${what}, delete other Pods, or add a node`],
  [/^Too many pods$/, () => "no node accepts more Pods: add a node"],
  [/untolerated taint/, () => "add a toleration for the taint, or remove the taint: `kubectl taint node NAME KEY-`"],
  [/node affinity\/selector/, () => "no node has these labels: label one, or change nodeSelector and node affinity"],
  [/plugin\(s\) \[.*NodeAffinity/, () => "its node affinity names nodes that do not exist or do not fit: change it"],
  [/affinity terms conflict/, () => "its node affinity contradicts itself: no node can fit"],
  [
    /scheduler-enforced node affinity/,
    () => "the scheduler's configuration adds a node affinity (NodeAffinity, addedAffinity): label a node for it",
  ],
  [/unschedulable$/, () => "a node is cordoned: `kubectl uncordon NAME`"],
  [/free ports/, () => "another Pod uses the host port: choose another port, or fewer replicas than nodes"],
  [
    /anti-affinity/,
    () => "Pod anti-affinity excludes the nodes: use fewer replicas, more nodes, or preferred anti-affinity",
  ],
  [/pod affinity/, () => "no Pod matches its Pod affinity"],
  [
    /topology spread constraints \(missing required label\)/,
    () => "nodes lack the topology label: `kubectl label node NAME KEY=VALUE`",
  ],
  [
    /topology spread constraints/,
    () => "raise maxSkew, add nodes to the smallest domain, or set whenUnsatisfiable to ScheduleAnyway",
  ],
  [/unbound immediate PersistentVolumeClaims/, () => "its claims are not bound: `kubectl describe pvc`"],
  [/persistentvolumeclaim "([^"]+)" not found/, ([, name]) => `create the claim ${name}`],
  [/PersistentVolume's node affinity|volume zone/, () => "its volume is on another node, or in another zone"],
  [
    /persistent volumes to bind/,
    () => "no PersistentVolume is available for its claims: create one, or a StorageClass with a provisioner",
  ],
  [/non-existent pv/, () => "its claim is bound to a volume that no longer exists: recreate the claim"],
  [/enough free storage/, () => "request less storage, or add some"],
  [/max volume count/, () => "no node accepts more volumes: add a node"],
  [/ReadWriteOncePod|no available disk/, () => "another Pod uses its volume: delete that Pod first"],
];

function helpFor(reason: string): string[] {
  for (const [pattern, text] of HELP) {
    const match = pattern.exec(reason);
    if (match !== null) return [text(match)];
  }
  return [];
}
