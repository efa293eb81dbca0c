/** Why a Deployment is not up to date: its own conditions, then the first of its Pods that is not ready. */
import type { apps } from "#api";
import { deeper, headline, type Reason, type WhyAnswer } from "./answer.ts";
import type { PodFacts } from "./facts.ts";
import { whyPod } from "./why-pod.ts";

export interface DeploymentFacts {
  readonly name: string;
  readonly deployment: apps.Deployment | undefined;
  readonly replicaSets: readonly apps.ReplicaSet[];
  /** Pods of its newest ReplicaSet first. */
  readonly pods: readonly PodFacts[];
}

export function whyDeployment({ name, deployment, replicaSets, pods }: DeploymentFacts): WhyAnswer {
  if (deployment === undefined)
    return {
      what: `deployment/${name} does not exist`,
      because: [{ text: "there is no object of this name", evidence: "API" }],
      help: [],
    };
  const { spec, status, metadata } = deployment;
  const wanted = spec?.replicas ?? 1;
  const available = status?.availableReplicas ?? 0;
  const updated = status?.updatedReplicas ?? 0;
  const earlier = Math.max(0, (status?.replicas ?? 0) - updated);
  const still = earlier === 0 ? "" : `, ${earlier} of an earlier version`;
  const what = `deployment/${name} has ${available} of ${wanted} available, ${updated} of ${wanted} up to date${still}`;
  const because: Reason[] = [];
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    because.push({ text: "its controller has not seen the last change yet", evidence: "status.observedGeneration" });
  if (spec?.paused === true) {
    because.push({ text: "it is paused", evidence: "spec.paused" });
    return { what, cause: "it is paused", because, help: [`\`kubectl rollout resume deployment/${name}\``] };
  }
  // Pods of an earlier version stay until new ones are available: then they are all that is.
  if (available >= wanted && updated >= wanted && earlier === 0 && because.length === 0)
    return { what, because: [{ text: "it is up to date", evidence: "status" }], help: [] };
  for (const type of ["Progressing", "ReplicaFailure", "Available"]) {
    const found = status?.conditions?.find((each) => each.type === type);
    const isBad = type === "ReplicaFailure" ? found?.status === "True" : found?.status === "False";
    if (found !== undefined && isBad)
      because.push({ text: found.message ?? found.reason ?? "", evidence: `condition ${type}, ${found.reason}` });
  }
  const failing = replicaSets.flatMap(({ metadata: { name: set = "" }, status: state }) =>
    (state?.conditions ?? [])
      .filter(({ type, status: is }) => type === "ReplicaFailure" && is === "True")
      .map((each) => ({ set, each })),
  );
  for (const { set, each } of failing.slice(0, 1))
    because.push({ text: each.message ?? "", evidence: `replicaset/${set}, ${each.reason}` });
  const ill = pods.find(({ pod }) => pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status !== "True");
  const help = failing.length + because.length > 0 ? helpFor([...because].map(({ text }) => text)) : [];
  const refused = because.findLast(({ evidence }) => /Fail|Create|Forbidden/.test(evidence));
  if (ill === undefined) return { what, cause: refused?.text ?? because.at(0)?.text, because, help };
  const inner = whyPod(ill);
  return {
    what,
    cause: headline(inner),
    because: [...because, ...deeper(inner, `pod/${ill.name}`)],
    help: [...help, ...inner.help],
  };
}

const HELP: readonly (readonly [RegExp, string])[] = [
  [/exceeded quota/, "`kubectl get resourcequota` shows what is used: request less, or raise the quota"],
  [
    /ValidatingAdmissionPolicy|admission webhook .* denied|denied the request/,
    "an admission policy rejects its Pods: change the template or the policy",
  ],
  [
    /violates PodSecurity/,
    "the namespace's Pod Security level rejects such Pods: change the template or the namespace's label",
  ],
  [
    /failed calling webhook/,
    "an admission webhook does not respond: `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`",
  ],
];

function helpFor(words: readonly string[]): string[] {
  return HELP.flatMap(([pattern, help]) => (words.some((text) => pattern.test(text)) ? [help] : []));
}
