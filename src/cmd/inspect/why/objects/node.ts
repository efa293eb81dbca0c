/** Why a node takes no Pods, or is not ready. */
import type { coordination, core } from "#api";
import { ageOf, type Reason, type WhyAnswer } from "../answer.ts";

export interface NodeFacts {
  readonly node: core.Node;
  readonly lease: coordination.Lease | undefined;
  readonly events: readonly core.Event[];
  readonly now: number;
}

const PRESSURES = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

export function whyNode({ node, lease, events, now }: NodeFacts): WhyAnswer {
  const { metadata, spec, status } = node;
  const name = metadata.name ?? "";
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  const pressing = conditions.filter(({ type, status: is }) => PRESSURES.includes(type) && is === "True");
  const taints = (spec?.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`);
  const since =
    ready?.lastTransitionTime === undefined ? "" : ` for ${ageOf(Date.parse(ready.lastTransitionTime), now)}`;
  const because: Reason[] = [];
  const renewed = lease?.spec?.renewTime;
  if (ready?.status !== "True") {
    because.push({
      text: ready?.message ?? "it has reported no status",
      evidence: `condition Ready, ${ready?.reason}`,
    });
    if (renewed !== undefined)
      because.push({
        text: `its kubelet was last heard ${ageOf(Date.parse(renewed), now)} ago`,
        evidence: `lease/${name}`,
      });
    because.push(...taintReasons(taints));
    const isSilent = ready?.status === "Unknown";
    const heard = renewed === undefined ? "" : `, last heard ${ageOf(Date.parse(renewed), now)} ago`;
    return {
      what: `node/${name} has been NotReady${since}`,
      cause: isSilent ? `its kubelet is silent${heard}` : ready?.message,
      because,
      help: [
        isSilent
          ? `start it again: \`k8ts node start ${name}\`, or remove it: \`kubectl delete node ${name}\``
          : "look at its kubelet's log",
      ],
    };
  }
  for (const { type, message = "" } of pressing) because.push({ text: message, evidence: `condition ${type}` });
  because.push(...taintReasons(taints));
  const warning = events.findLast(({ type }) => type === "Warning");
  if (warning !== undefined) because.push({ text: warning.message ?? "", evidence: `event ${warning.reason}` });
  const what = `node/${name} has been Ready${since}`;
  const [first] = pressing;
  if (first !== undefined)
    return {
      what,
      cause: `it has ${first.type}: ${first.message}`,
      because,
      help: ["free the resource: Pods that use most of it are evicted"],
    };
  if (spec?.unschedulable === true)
    return {
      what,
      cause: "it is cordoned, and takes no new Pods",
      because: [{ text: "it is cordoned", evidence: "spec.unschedulable" }, ...because],
      help: [`\`kubectl uncordon ${name}\``],
    };
  const own = taints.filter((taint) => !taint.endsWith(":PreferNoSchedule"));
  if (own[0] !== undefined)
    return {
      what,
      cause: `it takes only Pods that tolerate its taint ${own[0]}`,
      because,
      help: [`\`kubectl taint node ${name} ${own[0].replace(/=[^:]*/, "")}-\``],
    };
  return { what, because: [{ text: "nothing is wrong with it", evidence: "status.conditions" }, ...because], help: [] };
}

function taintReasons(taints: readonly string[]): readonly Reason[] {
  return taints.map((taint) => ({ text: `it has the taint ${taint}`, evidence: "spec.taints" }));
}
