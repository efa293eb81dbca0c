/** A bound claim that grows or gets another VolumeAttributesClass: how far that is, and what holds it up. */
import { compareQuantities, type core, parseQuantity } from "#api";
import { table } from "#base";
import type { Reason } from "./answer.ts";
import { lastEvent } from "./claim-events.ts";
import type { ClaimFacts } from "./claim-facts.ts";

export interface Changing {
  /** `and grows from 1Gi to 2Gi`. */
  readonly state: string;
  readonly because: readonly Reason[];
  readonly help: readonly string[];
}

export function whyChanging(facts: ClaimFacts): Changing | undefined {
  return whyGrowing(facts) ?? whyModified(facts);
}

const STAGES: Readonly<Record<string, readonly [text: string, help: string]>> = table({
  ControllerResizeInProgress: ["its volume is being expanded", "its driver's resizer does this: look at its log"],
  ControllerResizeInfeasible: [
    "its volume cannot be expanded to this size",
    "ask for a size that the driver can give: a request may be lowered down to what it has",
  ],
  NodeResizePending: [
    "its volume has grown, and its file system will on the node",
    "this happens when a Pod uses it: start one, or restart the one that does",
  ],
  NodeResizeInProgress: [
    "its file system is being expanded on the node",
    "the kubelet of its node does this: look at its events",
  ],
  NodeResizeInfeasible: ["its file system cannot be expanded", "look at the driver's node plugin on its node"],
});

function whyGrowing({ claim, storageClass, events, driver, csiNodes = [], volume }: ClaimFacts): Changing | undefined {
  const wanted = claim.spec?.resources?.requests?.storage;
  const has = claim.status?.capacity?.storage;
  if (wanted === undefined || has === undefined || compareQuantities(parseQuantity(wanted), parseQuantity(has)) <= 0)
    return undefined;
  const because: Reason[] = [];
  const help: string[] = [];
  const stage = claim.status?.allocatedResourceStatuses?.storage;
  const [text, advice] = (stage !== undefined && STAGES[stage]) || [];
  if (text !== undefined && advice !== undefined) {
    because.push({ text, evidence: `status.allocatedResourceStatuses: ${stage}` });
    help.push(advice);
  }
  because.push(
    ...conditionsOf(claim, "FileSystemResizePending", "Resizing", "ControllerResizeError", "NodeResizeError"),
  );
  because.push(...lastEvent(events, "VolumeResizeFailed", "FileSystemResizeFailed"));
  const name = volume?.spec?.csi?.driver;
  if (storageClass !== undefined && storageClass.allowVolumeExpansion !== true) {
    because.push({ text: "its class does not allow expansion", evidence: "allowVolumeExpansion" });
    help.push("`kubectl patch storageclass … -p '{\"allowVolumeExpansion\":true}'`, if its driver can");
  } else if (
    name !== undefined &&
    driver === undefined &&
    !csiNodes.some(({ spec }) => spec.drivers.some((each) => each.name === name))
  ) {
    because.push({ text: `its driver ${name} is gone`, evidence: "CSIDrivers and CSINodes" });
    help.push("install the driver again");
  }
  if (because.length === 0) {
    because.push(...lastEvent(events, "ExternalExpanding", "Resizing"));
    because.push({ text: "nobody has begun to expand it", evidence: "status.conditions" });
    help.push("the resizer of its driver must run");
  }
  return { state: `and grows from ${has} to ${wanted}`, because, help };
}

function whyModified({ claim, events }: ClaimFacts): Changing | undefined {
  const { modifyVolumeStatus, currentVolumeAttributesClassName: now = "none" } = claim.status ?? {};
  if (modifyVolumeStatus === undefined) return undefined;
  const { status, targetVolumeAttributesClassName: target } = modifyVolumeStatus;
  const because = [
    { text: `the change is ${status}`, evidence: "status.modifyVolumeStatus" },
    ...conditionsOf(claim, "ModifyingVolume", "ModifyVolumeError"),
    ...lastEvent(events, "VolumeModifyFailed"),
  ];
  const help = status === "Infeasible" ? ["name a class that the driver can give, or the one before"] : [];
  return { state: `and changes its VolumeAttributesClass from ${now} to ${target}`, because, help };
}

function conditionsOf({ status }: core.PersistentVolumeClaim, ...types: readonly string[]): Reason[] {
  return (status?.conditions ?? [])
    .filter(({ type, status: is, message }) => types.includes(type) && is === "True" && message)
    .map(({ type, message = "" }) => ({ text: message, evidence: `condition ${type}` }));
}
