/** Gives CIDRs to a node without any; if none are left, an Event says so. */
import { type core, type JsonObject, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan } from "../runtime/index.ts";

/** `cidrs`: the CIDRs for the node; undefined if none are left. */
export function planCidrs(node: core.Node, cidrs: readonly string[] | undefined): Plan {
  if (cidrs === undefined) return { events: [statusChange(node, "CIDRNotAvailable")] };
  const { uid = "" } = node.metadata;
  const spec: JsonObject = { podCIDR: cidrs[0] ?? "", podCIDRs: cidrs };
  return {
    steps: [[{ verb: "patch", resource: kinds.Node, object: node, patch: { metadata: { uid }, spec } }]],
    eventFor: (_, { ok }) => (ok ? undefined : statusChange(node, "CIDRAssignmentFailed")),
  };
}

function statusChange(about: core.Node, status: string): RecordedEvent {
  const note = `Node ${about.metadata.name} status is now: ${status}`;
  return { about, type: "Normal", reason: status, note };
}
