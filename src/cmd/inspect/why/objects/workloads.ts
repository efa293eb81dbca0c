/** Why a StatefulSet, DaemonSet or ReplicaSet has not what it wants: its own words, then the first Pod that is ill. */
import type { apps, core } from "#api";
import { deeper, headline, type Reason, type WhyAnswer } from "../answer.ts";
import type { PodFacts } from "../facts.ts";
import { whyPod } from "../why-pod.ts";

export interface WorkloadFacts<T> {
  readonly object: T;
  readonly pods: readonly PodFacts[];
  /** About the object itself, the newest last. */
  readonly events: readonly core.Event[];
}

export function whyStatefulSet({ object, pods, events }: WorkloadFacts<apps.StatefulSet>): WhyAnswer {
  const { metadata, spec, status } = object;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const what = `statefulset/${metadata.name} has ${ready} of ${wanted} ready`;
  const ill = pods.find(isIll);
  const ordered = (spec?.podManagementPolicy ?? "OrderedReady") === "OrderedReady";
  const made = status?.replicas ?? 0;
  const waits: Reason[] =
    ill !== undefined && ordered && made < wanted
      ? [
          {
            text: `Pods still to be made when pod/${ill.name} is ready: ${wanted - made}`,
            evidence: "podManagementPolicy: OrderedReady",
          },
        ]
      : [];
  return explained(what, ready >= wanted, ill, events, waits);
}

export function whyDaemonSet({ object, pods, events }: WorkloadFacts<apps.DaemonSet>): WhyAnswer {
  const { metadata, status, spec } = object;
  const { desiredNumberScheduled: wanted = 0, numberReady: ready = 0, numberMisscheduled = 0 } = status ?? {};
  const what = `daemonset/${metadata.name} has ${ready} of ${wanted} ready`;
  const { nodeSelector, tolerations = [] } = spec?.template.spec ?? {};
  const selects = Object.entries(nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (wanted === 0) {
    const cause =
      selects.length > 0
        ? `no node has the label ${selects.join(", ")}, which it selects`
        : `no node takes it: all have taints that its ${tolerations.length} tolerations leave out, or there is none`;
    const help =
      selects.length > 0
        ? `label a node: \`kubectl label node NAME ${selects.join(" ")}\`, or change nodeSelector`
        : "add a toleration for the taints: `kubectl describe nodes`";
    return { what, cause, because: [{ text: cause, evidence: "status.desiredNumberScheduled" }], help: [help] };
  }
  const wrong: Reason[] =
    numberMisscheduled === 0
      ? []
      : [{ text: `${numberMisscheduled} run on nodes where they should not`, evidence: "status.numberMisscheduled" }];
  return explained(what, ready >= wanted, pods.find(isIll), events, wrong);
}

export function whyReplicaSet({ object, pods, events }: WorkloadFacts<apps.ReplicaSet>): WhyAnswer {
  const { metadata, spec, status } = object;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const what = `replicaset/${metadata.name} has ${ready} of ${wanted} ready`;
  const failed = status?.conditions?.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True");
  const reasons =
    failed === undefined
      ? []
      : [{ text: failed.message ?? "", evidence: `condition ReplicaFailure, ${failed.reason}` }];
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const owned: Reason[] =
    wanted === 0 && owner !== undefined
      ? [
          {
            text: `${owner.kind.toLowerCase()}/${owner.name} wants none of it: it has a newer one`,
            evidence: "metadata.ownerReferences",
          },
        ]
      : [];
  return explained(what, ready >= wanted, pods.find(isIll), events, [...reasons, ...owned]);
}

function explained(
  what: string,
  isWell: boolean,
  ill: PodFacts | undefined,
  events: readonly core.Event[],
  own: readonly Reason[],
): WhyAnswer {
  if (isWell) return { what, because: [...own, { text: "it has what it wants", evidence: "status" }], help: [] };
  if (ill !== undefined) {
    const inner = whyPod(ill);
    return { what, cause: headline(inner), because: [...own, ...deeper(inner, `pod/${ill.name}`)], help: inner.help };
  }
  const warning = events.findLast(({ type }) => type === "Warning");
  const because: Reason[] = [
    ...own,
    ...(warning === undefined ? [] : [{ text: warning.message ?? "", evidence: `event ${warning.reason}` }]),
  ];
  return { what, cause: because[0]?.text ?? "its Pods have not been made yet", because, help: refusalHelp(because) };
}

function refusalHelp(reasons: readonly Reason[]): readonly string[] {
  const words = reasons.map(({ text }) => text).join(" ");
  if (words.includes("exceeded quota"))
    return ["`kubectl get resourcequota` shows what is used: request less, or raise the quota"];
  const [, account] = /serviceaccount "([^"]+)" not found/.exec(words) ?? [];
  if (account !== undefined) return [`create the ServiceAccount: \`kubectl create serviceaccount ${account}\``];
  return words === "" ? [] : ["change the Pod template, or what refuses it"];
}

function isIll({ pod }: PodFacts): boolean {
  if (pod?.status?.phase === "Succeeded") return false;
  return pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status !== "True";
}
