/** Explains Services, Jobs and budgets. */
import type { batch, core, discovery, policy } from "#api";
import type { RequestRecord } from "#flows";
import { deeper, headline, type Reason, type WhyAnswer } from "./answer.ts";
import type { PodFacts } from "./facts.ts";
import { whyPod } from "./why-pod.ts";

export interface ServiceFacts {
  readonly service: core.Service;
  readonly slices: readonly discovery.EndpointSlice[];
  /** The Pods that it selects. */
  readonly pods: readonly PodFacts[];
}

export function whyService({ service, slices, pods }: ServiceFacts): WhyAnswer {
  const { metadata, spec } = service;
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false).length;
  const what = `service/${metadata.name} has ${ready === 0 ? "no" : ready} ready endpoint${ready === 1 ? "" : "s"}`;
  if (spec?.type === "ExternalName")
    return {
      what,
      because: [{ text: `it is an alias for ${spec.externalName}`, evidence: "spec.externalName" }],
      help: [],
    };
  const labels = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (labels.length === 0)
    return {
      what,
      because: [{ text: "it has no selector: its EndpointSlices must be created by hand", evidence: "spec.selector" }],
      help: [],
    };
  const selector: Reason = { text: `it selects Pods with ${labels.join(",")}`, evidence: "spec.selector" };
  if (pods.length === 0)
    return {
      what,
      cause: `no Pod has the labels ${labels.join(",")}`,
      because: [selector, { text: "no Pod has these labels", evidence: `Pods of ${metadata.namespace}` }],
      help: [
        `compare with \`kubectl get pods -n ${metadata.namespace} --show-labels\`, and fix the selector or the labels`,
      ],
    };
  const port = portProblem(service, pods);
  if (port !== undefined) return { what, cause: port.text, because: [selector, port], help: [port.help] };
  if (ready > 0)
    return { what, because: [selector, { text: `${pods.length} Pods have them`, evidence: "Pods" }], help: [] };
  const ill = pods.find(({ pod }) => isUnready(pod)) ?? pods[0];
  const inner = ill && whyPod(ill);
  return {
    what,
    cause: inner && headline(inner),
    because: [
      selector,
      { text: `none of ${pods.length} Pods is ready`, evidence: "EndpointSlices" },
      ...(inner === undefined ? [] : deeper(inner, `pod/${ill?.name}`)),
    ],
    help: inner?.help ?? [],
  };
}

/**
 * A target port that no container of its Pods has. A number may be served without being listed: it counts only where
 * containers list others.
 */
function portProblem(
  { spec }: core.Service,
  pods: readonly PodFacts[],
): (Reason & { readonly help: string }) | undefined {
  const listed = pods.flatMap(({ pod }) => (pod?.spec?.containers ?? []).flatMap(({ ports = [] }) => ports));
  for (const { port, targetPort = port, protocol = "TCP" } of spec?.ports ?? []) {
    const isNamed = typeof targetPort === "string";
    if (!isNamed && listed.length === 0) continue;
    if (listed.some((each) => each.name === targetPort || each.containerPort === targetPort)) continue;
    const has = [
      ...new Set(
        listed.map(({ name, containerPort }) =>
          name === undefined ? `${containerPort}` : `${containerPort} (${name})`,
        ),
      ),
    ];
    const [first] = listed;
    const target = isNamed ? (first?.name ?? first?.containerPort) : first?.containerPort;
    return {
      text: `its port ${port}/${protocol} leads to targetPort ${targetPort}, which no container of its Pods has: they have ${has.join(", ") || "none"}`,
      evidence: "spec.ports, containers.ports",
      help:
        target === undefined
          ? `name port ${targetPort} in a container of its Pods`
          : `set targetPort to ${target}, or add port ${targetPort} to a container`,
    };
  }
  return undefined;
}

function isUnready(pod: core.Pod | undefined): boolean {
  return pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status !== "True";
}

export interface JobFacts {
  readonly job: batch.Job;
  readonly pods: readonly PodFacts[];
}

export function whyJob({ job, pods }: JobFacts): WhyAnswer {
  const { metadata, spec, status } = job;
  const name = `job/${metadata.name}`;
  const done = status?.conditions?.find(
    ({ type, status: is }) => is === "True" && ["Complete", "Failed"].includes(type),
  );
  const counts = `${status?.succeeded ?? 0} of ${spec?.completions ?? 1} succeeded, ${status?.failed ?? 0} failed`;
  if (done?.type === "Complete")
    return { what: `${name} is complete`, because: [{ text: counts, evidence: "status" }], help: [] };
  const ill = pods.findLast(({ pod }) => pod?.status?.phase === "Failed") ?? pods.find(({ pod }) => isUnready(pod));
  const inner = ill && whyPod(ill);
  const below = inner === undefined ? [] : deeper(inner, `pod/${ill?.name}`);
  if (done?.type === "Failed") {
    const limit =
      done.reason === "BackoffLimitExceeded"
        ? [{ text: `it may fail ${spec?.backoffLimit ?? 6} times: ${counts}`, evidence: "spec.backoffLimit" }]
        : [{ text: counts, evidence: "status" }];
    const because = [
      { text: done.message ?? done.reason ?? "", evidence: `condition Failed, ${done.reason}` },
      ...limit,
      ...below,
    ];
    return {
      what: `${name} has failed (${counts})`,
      cause: inner === undefined ? because[0]?.text : headline(inner),
      because,
      help: [...(inner?.help ?? []), "a failed Job is not retried: delete and recreate it"],
    };
  }
  if (spec?.suspend === true)
    return {
      what: `${name} has no Pods`,
      cause: "it is suspended",
      because: [{ text: "it is suspended", evidence: "spec.suspend" }],
      help: [`\`kubectl patch ${name} -p '{"spec":{"suspend":false}}'\``],
    };
  return { what: `${name} runs (${counts})`, cause: inner && headline(inner), because: below, help: inner?.help ?? [] };
}

export interface BudgetFacts {
  readonly budget: policy.PodDisruptionBudget;
  /** Recently refused evictions. */
  readonly refused: readonly RequestRecord[];
}

export function whyBudget({ budget: { metadata, spec, status }, refused }: BudgetFacts): WhyAnswer {
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, disruptionsAllowed = 0 } = status ?? {};
  const what = `poddisruptionbudget/${metadata.name} allows ${disruptionsAllowed === 0 ? "no" : disruptionsAllowed} disruptions`;
  const rule =
    spec?.minAvailable === undefined ? `maxUnavailable ${spec?.maxUnavailable}` : `minAvailable ${spec.minAvailable}`;
  const because: Reason[] = [
    {
      text: `${currentHealthy} of ${expectedPods} Pods are healthy, ${desiredHealthy} are required`,
      evidence: "status",
    },
    { text: rule, evidence: "spec" },
  ];
  const last = refused.at(-1);
  if (last !== undefined)
    because.push({
      text: `the eviction of pod/${last.name} by ${last.user} was refused`,
      evidence: `flow record ${last.seq}, ${last.status}`,
    });
  const help = disruptionsAllowed > 0 ? [] : ["add replicas, or relax the budget: `kubectl edit pdb`"];
  const cause =
    disruptionsAllowed > 0
      ? undefined
      : `${currentHealthy} of ${expectedPods} Pods are healthy, ${desiredHealthy} must be (${rule})`;
  return { what, cause, because, help };
}
