/**
 * What can be done with an object besides editing it: which requests it takes, and which permissions. Pure: `plan`
 * gives the requests, which are first sent as a dry run.
 *
 * 1. Each request names the object that was looked at: an object of the same name made later is not deleted.
 */
import type { core } from "#api";
import { objectPath } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import type { ObjectPlace } from "../route.ts";

export interface Step {
  readonly words: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly contentType?: string;
  readonly body: object;
}

/** As in a SelfSubjectAccessReview. */
export interface Permission {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Field {
  readonly label: string;
  readonly type: "number" | "text";
  readonly value: string;
}

/** What plans need beyond the object: read when the action is chosen. */
export interface Related {
  readonly pods: readonly core.Pod[];
  readonly now: string;
}

export interface Action {
  readonly name: string;
  readonly title: string;
  /** Of the button that does it. */
  readonly verb: string;
  readonly explanation: string;
  readonly isDangerous?: boolean;
  readonly needs: readonly Permission[];
  readonly field?: Field;
  readonly plan: (input: string, related: Related) => readonly Step[];
}

export interface Actionable extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly unschedulable?: boolean;
    readonly containers?: readonly { readonly name?: string }[];
  };
}

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const SCALED = new Set(["deployments", "statefulsets", "replicasets"]);
const RESTARTED = new Set(["deployments", "statefulsets", "daemonsets"]);

export function actionsOf(place: ObjectPlace, object: Actionable): Action[] {
  const isApps = place.group === "apps";
  const isCore = place.group === "";
  return [
    ...(isApps && SCALED.has(place.plural) ? [scale(place, object)] : []),
    ...(isApps && RESTARTED.has(place.plural) ? [restart(place)] : []),
    ...(isCore && place.plural === "nodes" ? [cordon(place, object), drain(place)] : []),
    ...(isCore && place.plural === "pods" ? [debug(place, object)] : []),
    remove(place, object),
  ];
}

export function permission(place: ObjectPlace, verb: string, subresource = ""): Permission {
  const { group, plural, namespace, name } = place;
  return { verb, group, resource: plural, ...(subresource !== "" && { subresource }), namespace, name };
}

function scale(place: ObjectPlace, { spec }: Actionable): Action {
  return {
    name: "scale",
    title: "Scale",
    verb: "Scale",
    explanation: `It has ${spec?.replicas ?? 1} replicas now.`,
    needs: [permission(place, "patch", "scale")],
    field: { label: "Replicas", type: "number", value: String(spec?.replicas ?? 1) },
    plan: (input) => {
      if (!/^\d+$/.test(input.trim())) return [];
      return [
        {
          words: `Set the replicas to ${input.trim()}`,
          method: "PATCH",
          path: `${objectPath(place)}/scale`,
          contentType: MERGE,
          body: { spec: { replicas: Number(input) } },
        },
      ];
    },
  };
}

function restart(place: ObjectPlace): Action {
  return {
    name: "restart",
    title: "Restart",
    verb: "Restart",
    explanation: "New Pods replace the present ones, as its update strategy says.",
    needs: [permission(place, "patch")],
    plan: (_, { now }) => [
      {
        words: "Change the Pod template's annotation kubectl.kubernetes.io/restartedAt",
        method: "PATCH",
        path: objectPath(place),
        contentType: STRATEGIC,
        body: { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": now } } } } },
      },
    ],
  };
}

function cordon(place: ObjectPlace, { spec }: Actionable): Action {
  const isCordoned = spec?.unschedulable === true;
  return {
    name: "cordon",
    title: isCordoned ? "Uncordon" : "Cordon",
    verb: isCordoned ? "Uncordon" : "Cordon",
    explanation: isCordoned ? "New Pods may be placed here again." : "No new Pods are placed here. Present ones stay.",
    needs: [permission(place, "patch")],
    plan: () => [unschedulable(place, !isCordoned)],
  };
}

function unschedulable(place: ObjectPlace, value: boolean): Step {
  return {
    words: value ? "Mark the node as unschedulable" : "Mark the node as schedulable",
    method: "PATCH",
    path: objectPath(place),
    contentType: STRATEGIC,
    body: { spec: { unschedulable: value } },
  };
}

function drain(place: ObjectPlace): Action {
  const evictions = { verb: "create", group: "", resource: "pods", subresource: "eviction", namespace: "", name: "" };
  return {
    name: "drain",
    title: "Drain",
    verb: "Drain",
    explanation: "Cordons the node and evicts its Pods, but for those of DaemonSets. Disruption budgets are respected.",
    isDangerous: true,
    needs: [permission(place, "patch"), evictions, { ...evictions, verb: "list", subresource: "" }],
    plan: (_, { pods }) => [
      unschedulable(place, true),
      ...pods.filter((pod) => pod.spec?.nodeName === place.name && isEvicted(pod)).map(evict),
    ],
  };
}

/** As `kubectl drain`: Pods of DaemonSets would come back at once, and mirror Pods are not the server's. */
function isEvicted({ metadata }: core.Pod): boolean {
  const isDaemon = metadata.ownerReferences?.some(
    ({ kind, controller }) => kind === "DaemonSet" && controller === true,
  );
  return isDaemon !== true && metadata.annotations?.["kubernetes.io/config.mirror"] === undefined;
}

function evict(pod: core.Pod): Step {
  const { name = "", namespace = "", uid } = pod.metadata;
  const losses = [
    ...(pod.metadata.ownerReferences?.some(({ controller }) => controller === true) ? [] : ["nothing makes it again"]),
    ...(pod.spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ? ["its emptyDir is lost"] : []),
  ];
  const place = { group: "", version: "v1", plural: "pods", namespace, name };
  return {
    words: `Evict ${namespace}/${name}${losses.length === 0 ? "" : ` (${losses.join(", ")})`}`,
    method: "POST",
    path: `${objectPath(place)}/eviction`,
    body: {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    },
  };
}

function debug(place: ObjectPlace, { spec }: Actionable): Action {
  const target = spec?.containers?.[0]?.name;
  return {
    name: "debug",
    title: "Debug",
    verb: "Add the container",
    explanation: `Adds an ephemeral container beside ${target}, with its processes in sight. It stays until the Pod ends.`,
    needs: [permission(place, "patch", "ephemeralcontainers")],
    field: { label: "Image", type: "text", value: "busybox" },
    plan: (input, { now }) => {
      const name = `debugger-${Date.parse(now).toString(36).slice(-5)}`;
      const container = { name, image: input.trim(), targetContainerName: target, stdin: true, tty: true };
      return [
        {
          words: `Add the ephemeral container ${name}`,
          method: "PATCH",
          path: `${objectPath(place)}/ephemeralcontainers`,
          contentType: STRATEGIC,
          body: { spec: { ephemeralContainers: [container] } },
        },
      ];
    },
  };
}

function remove(place: ObjectPlace, { metadata }: Actionable): Action {
  return {
    name: "delete",
    title: "Delete",
    verb: "Delete",
    explanation: "What it owns is deleted after it, in the background.",
    isDangerous: true,
    needs: [permission(place, "delete")],
    plan: () => [
      {
        words: `Delete ${metadata.name}`,
        method: "DELETE",
        path: objectPath(place),
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Background",
          preconditions: { uid: metadata.uid },
        },
      },
    ],
  };
}

/** The step as a dry run: deletions say it in their options, which replace the query. */
export function dryRunOf(step: Step): Step {
  if (step.method === "DELETE") return { ...step, body: { ...step.body, dryRun: ["All"] } };
  return { ...step, path: `${step.path}?dryRun=All&fieldManager=k8ts-dashboard` };
}
