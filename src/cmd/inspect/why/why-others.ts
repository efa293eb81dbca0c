/** Explains Services, Jobs, namespaces and budgets. */
import type { batch, core, discovery, policy } from "#api";
import type { FlowRecord, RequestRecord } from "#flows";
import { ageOf, type Reason, type WhyAnswer } from "./answer.ts";
import type { PodFacts } from "./facts.ts";
import { deletionReasons, endingOf } from "./why-gone.ts";
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
      because: [selector, { text: "no Pod has these labels", evidence: `Pods of ${metadata.namespace}` }],
      help: [
        `compare with \`kubectl get pods -n ${metadata.namespace} --show-labels\`, and fix the selector or the labels`,
      ],
    };
  if (ready > 0)
    return { what, because: [selector, { text: `${pods.length} Pods have them`, evidence: "Pods" }], help: [] };
  const ill = pods.find(({ pod }) => isUnready(pod)) ?? pods[0];
  const inner = ill && whyPod(ill);
  return {
    what,
    because: [
      selector,
      { text: `none of ${pods.length} Pods is ready`, evidence: "EndpointSlices" },
      ...(inner === undefined ? [] : [{ text: inner.what, evidence: `pod/${ill?.name}` }, ...inner.because]),
    ],
    help: inner?.help ?? [],
  };
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
  const deeper = inner === undefined ? [] : [{ text: inner.what, evidence: `pod/${ill?.name}` }, ...inner.because];
  if (done?.type === "Failed") {
    const limit =
      done.reason === "BackoffLimitExceeded"
        ? [{ text: `it may fail ${spec?.backoffLimit ?? 6} times: ${counts}`, evidence: "spec.backoffLimit" }]
        : [{ text: counts, evidence: "status" }];
    const because = [
      { text: done.message ?? done.reason ?? "", evidence: `condition Failed, ${done.reason}` },
      ...limit,
      ...deeper,
    ];
    return {
      what: `${name} has failed`,
      because,
      help: [...(inner?.help ?? []), "a failed Job is not retried: delete and recreate it"],
    };
  }
  if (spec?.suspend === true)
    return {
      what: `${name} is suspended`,
      because: [{ text: "it is suspended", evidence: "spec.suspend" }],
      help: [`\`kubectl patch ${name} -p '{"spec":{"suspend":false}}'\``],
    };
  return { what: `${name} runs: ${counts}`, because: deeper, help: inner?.help ?? [] };
}

export interface NamespaceFacts {
  readonly namespace: core.Namespace;
  readonly requests: readonly RequestRecord[];
  readonly records: readonly FlowRecord[];
  readonly now: number;
}

export function whyNamespace({ namespace, requests, records, now }: NamespaceFacts): WhyAnswer {
  const { metadata, status } = namespace;
  const name = `namespace/${metadata.name}`;
  if (metadata.deletionTimestamp === undefined)
    return { what: `${name} is ${status?.phase ?? "there"}`, because: [], help: [] };
  const ending = endingOf(requests);
  const because: Reason[] = ending === undefined ? [] : deletionReasons(ending, records);
  const left = (status?.conditions ?? []).filter(
    ({ type, status: is }) => type !== "NamespaceDeletionDiscoveryFailure" && is === "True",
  );
  for (const { type, message, reason } of left)
    because.push({ text: message ?? "", evidence: `condition ${type}, ${reason}` });
  const failed = status?.conditions?.find(
    ({ type, status: is }) => type === "NamespaceDeletionDiscoveryFailure" && is === "True",
  );
  if (failed !== undefined) because.push({ text: failed.message ?? "", evidence: `condition ${failed.type}` });
  const finalizers = left.some(({ type }) => type === "NamespaceFinalizersRemaining");
  return {
    what: `${name} is being deleted since ${ageOf(Date.parse(metadata.deletionTimestamp), now)}`,
    because,
    help: finalizers
      ? [
          'the controller that added these finalizers must remove them; if it no longer exists: `kubectl patch … --type=json -p \'[{"op":"remove","path":"/metadata/finalizers"}]\'`',
        ]
      : [],
  };
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
  return { what, because, help };
}
