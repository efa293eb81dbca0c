/** What keeps the containers of a Pod from running or being ready, with the last words of those that crash. Pure. */
import type { core } from "#api";
import { table } from "#base";
import type { OngoingPull } from "#kubelet";
import type { Explained, Reason } from "./answer.ts";
import type { PodFacts } from "./facts.ts";

const PULL_HELP =
  "check the image name and whether the node can reach the registry; `k8ts image import` works without one";

const WAITING_HELP: Readonly<Record<string, string>> = table({
  ErrImagePull: PULL_HELP,
  ImagePullBackOff: PULL_HELP,
  InvalidImageName: "fix the image name",
  ErrImageNeverPull: "the image is not on the node, and its pull policy is Never: `k8ts image import`",
  CreateContainerConfigError: "a ConfigMap, Secret or other object that the container refers to is missing",
  CreateContainerError: "the container's command, mounts or user do not fit its image",
  RunContainerError: "the container's command cannot be started",
});

/** Events about a start that failed before there were containers. */
const START_FAILURES = [
  ...["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedPrepareDynamicResources"],
];

export function statusesOf({ status }: core.Pod): readonly core.ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

export function containerTrouble(facts: PodFacts, pod: core.Pod): Explained | undefined {
  for (const each of statusesOf(pod)) {
    const { waiting } = each.state ?? {};
    if (waiting === undefined || waiting.reason === "ContainerCreating" || waiting.reason === "PodInitializing")
      continue;
    const last = each.lastState?.terminated;
    return last === undefined ? notStarted(pod, each, waiting) : crashed(facts, each, waiting, last);
  }
  return undefined;
}

function notStarted(pod: core.Pod, { name }: core.ContainerStatus, waiting: core.ContainerStateWaiting): Explained {
  const { reason = "", message = "" } = waiting;
  const because: Reason[] = [
    { text: `container ${name}: ${reason}`, evidence: "containerStatuses.state.waiting" },
    ...(message === "" ? [] : [{ text: message, evidence: "waiting.message" }]),
  ];
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const image = [...initContainers, ...containers].find((each) => each.name === name)?.image ?? "";
  const words = shortOf(message);
  const isPull = reason === "ErrImagePull" || reason === "ImagePullBackOff";
  const cause = isPull ? `the image ${image} cannot be pulled: ${words}` : `container ${name}: ${words || reason}`;
  const missing = /^(configmap|secret) "([^"]+)" not found/.exec(message);
  const key = /^couldn't find key (\S+) in (ConfigMap|Secret) [^/]+\/(\S+)/.exec(message);
  const help =
    missing !== null
      ? `create the ${missing[1] === "secret" ? "Secret" : "ConfigMap"} ${missing[2]}`
      : key !== null
        ? `add the key ${key[1]} to the ${key[2]} ${key[3]}`
        : WAITING_HELP[reason];
  return { cause, because, help: help === undefined ? [] : [help] };
}

/** Without the layers of words around the cause: what the registry said comes first. */
function shortOf(message: string): string {
  return message
    .replace(
      /^Back-off pulling image "[^"]*": (?:(?:ErrImagePull|RegistryUnavailable|SignatureValidationFailed): )?/,
      "",
    )
    .replace(/^rpc error: code = \w+ desc = /, "")
    .replace(/^(?:failed to pull and unpack image|failed to resolve reference) "[^"]*": /, "")
    .replace(/^failed to resolve reference "[^"]*": /, "");
}

const MB = 1_000_000;

function pullText({ image, tookMs, receivedBytes, totalBytes, layers, completeLayers, others }: OngoingPull): string {
  const size = (bytes: number) => (bytes / MB).toFixed(1);
  const far =
    layers === 0
      ? "no layer has begun"
      : `${size(receivedBytes)} of ${size(totalBytes)} MB in ${layers} ${layers === 1 ? "layer" : "layers"} so far, ${completeLayers} complete`;
  const [first = ""] = image.split("/");
  const from = /[.:]|^localhost$/.test(first) && image.includes("/") ? first : "docker.io";
  const beside = others === 0 ? "" : `; ${others} ${others === 1 ? "other is" : "others are"} pulled at the same time`;
  return `the image ${image} has been pulled from ${from} for ${Math.round(tookMs / 1000)} s: ${far}${beside}`;
}

function crashed(
  { lastWords, name: pod }: PodFacts,
  { name, restartCount }: core.ContainerStatus,
  { reason }: core.ContainerStateWaiting,
  last: core.ContainerStateTerminated,
): Explained {
  const exit = `exited with ${last.exitCode} (${last.reason})`;
  const ranMs = Date.parse(last.finishedAt ?? "") - Date.parse(last.startedAt ?? "");
  const after = Number.isNaN(ranMs) ? "" : ` after ${Math.round(ranMs / 1000)} s`;
  const words = lastWords?.get(name) ?? [];
  const said = words.at(-1) ?? (last.message === undefined || last.message === "" ? undefined : last.message);
  const because: Reason[] = [
    { text: `container ${name}: ${reason}`, evidence: "containerStatuses.state.waiting" },
    { text: `it ${exit}, ${restartCount} restarts so far`, evidence: "lastState.terminated" },
    ...words.map((text) => ({ text, evidence: `log of ${name}, before it ended` })),
  ];
  const isMemory = last.reason === "OOMKilled";
  return {
    cause: `container ${name} ${exit}${after}${said === undefined ? "" : `, and its last line is ${JSON.stringify(said)}`}`,
    because,
    help: [
      ...(isMemory ? ["it exceeded its memory limit: raise the limit"] : []),
      `\`kubectl logs ${pod} -c ${name} --previous\` shows its last output`,
    ],
  };
}

export function whyUnready(facts: PodFacts, pod: core.Pod): Explained | undefined {
  const conditions = pod.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  const because: Reason[] = [
    { text: ready?.message ?? "no status yet", evidence: `condition Ready, ${ready?.reason}` },
  ];
  const starting = statusesOf(pod).find(({ state }) => state?.waiting !== undefined);
  const init = (pod.status?.initContainerStatuses ?? []).find(({ state }) => state?.running !== undefined);
  if (starting !== undefined) return whyStarting(facts, starting, init, because);
  const unready = (pod.status?.containerStatuses ?? []).filter((each) => !each.ready);
  const [first] = unready;
  if (first === undefined) return gates(pod, because);
  for (const { name } of unready)
    because.push({
      text: `container ${name} is running and its readiness probe has not succeeded`,
      evidence: "containerStatuses.ready",
    });
  const probe = lastEvent(facts, "Unhealthy");
  if (probe !== undefined) because.push({ text: probe.message ?? "", evidence: "event Unhealthy" });
  const kind = first.started === false ? "startup" : "readiness";
  return {
    cause: probe?.message?.trim() ?? `container ${first.name} runs, and its ${kind} probe has not succeeded`,
    because,
    help: [`mend what the ${kind} probe of container ${first.name} asks for, or the probe: \`kubectl describe pod\``],
  };
}

function whyStarting(
  facts: PodFacts,
  starting: core.ContainerStatus,
  init: core.ContainerStatus | undefined,
  because: Reason[],
): Explained {
  because.push({
    text: `container ${starting.name}: ${starting.state?.waiting?.reason}`,
    evidence: "containerStatuses.state.waiting",
  });
  const [pull] = facts.pulls ?? [];
  if (pull !== undefined) {
    const text = pullText(pull);
    return { cause: text, because: [...because, { text, evidence: "the kubelet of its node" }], help: [] };
  }
  const failed = lastEvent(facts, ...START_FAILURES) ?? facts.events.findLast(({ type }) => type === "Warning");
  if (failed !== undefined) {
    because.push({ text: failed.message ?? "", evidence: `event ${failed.reason}` });
    return { cause: failed.message, because, help: [] };
  }
  if (init !== undefined)
    return {
      cause: `its init container ${init.name} has not ended`,
      because: [...because, { text: `init container ${init.name} runs`, evidence: "initContainerStatuses" }],
      help: [`the others start when it ends: \`kubectl logs -c ${init.name}\``],
    };
  const claims = facts.claims ?? [];
  const [claim] = claims;
  if (claim === undefined) return { because, help: [] };
  return {
    cause: claim.cause === undefined ? claim.what : `${claim.what}: ${claim.cause}`,
    because: [...because, ...claim.because],
    help: claim.help,
  };
}

/** All containers are ready: something else says that the Pod is not. */
function gates({ spec, status }: core.Pod, because: Reason[]): Explained {
  const isTrue = (type: string) => status?.conditions?.find((each) => each.type === type)?.status === "True";
  const open = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType).filter((type) => !isTrue(type));
  if (open.length === 0) return { because, help: [] };
  return {
    cause: `its readiness gate ${open.join(", ")} is not True`,
    because: [...because, { text: `readiness gates: ${open.join(", ")}`, evidence: "spec.readinessGates" }],
    help: ["the controller of this readiness gate must set the condition"],
  };
}

function lastEvent({ events }: PodFacts, ...reasons: readonly string[]): core.Event | undefined {
  return events.findLast(({ reason = "" }) => reasons.includes(reason));
}
