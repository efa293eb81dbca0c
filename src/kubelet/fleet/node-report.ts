/** What a node of a fleet reports of itself: a healthy machine that does not exist. */
import { createHash } from "node:crypto";
import { type NodeReport, nodeAddresses, nodeConditions, nodeLabels } from "../node/index.ts";
import { PREFIX } from "./script.ts";
import type { NodeSettings } from "./settings.ts";

/** Annotation of a Node: "true" simulates a failure of the node. */
export const STOPPED = `${PREFIX}stopped`;

export interface FleetFacts {
  /** For example v1.36.4. */
  readonly version: string;
  readonly architecture: string;
}

export function labelsOf({ name, labels }: NodeSettings, { architecture }: FleetFacts): Record<string, string> {
  return nodeLabels(name, architecture, labels);
}

/** Without images: those depend on the node's Pods. */
export function reportOf(settings: NodeSettings, { version, architecture }: FleetFacts): NodeReport {
  const { name, address, capacity, externalCloud = false } = settings;
  const digest = (text: string) => createHash("sha256").update(`${text} of ${name}`).digest("hex").slice(0, 32);
  const uuid = (text: string) => digest(text).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return {
    machine: {
      machineId: digest("machine"),
      systemUuid: uuid("system"),
      bootId: uuid("boot"),
      kernelVersion: "6.12.0-simulated",
      osImage: "k8ts simulated node",
      architecture,
    },
    capacity,
    allocatable: capacity,
    addresses: externalCloud ? undefined : nodeAddresses(name, [address]),
    conditions: nodeConditions({ runtime: { conditions: [] }, runtimeProblem: undefined, pressures: new Set() }),
    images: [],
    runtimeVersion: `simulated://${version.replace(/^v/, "")}`,
    kubeletVersion: version,
    runtimeHandlers: [],
    features: { supplementalGroupsPolicy: true },
  };
}
