/** What is printed about a failure: the invariant, the case, how to see it again, and the flow of the object concerned. */
import { ascii, diagramOf, type FlowRecord, type ObjectName, trace } from "#flows";
import type { Shrunk } from "./shrink.ts";

const FLOW_LINES = 60;
const LAST_LINES = 25;

/** `command`: the words before the seed, such as `k8ts simulate all`. */
export function failureReport({ options, outcome, tries }: Shrunk, command: string): string {
  const { seed, violation, faults, history, records } = outcome;
  const { decisions } = options;
  const at = ((violation?.atMs ?? 0) / 1000).toFixed(3);
  const shown = faults.map(({ number, words }) => `  ${number}  ${words}`);
  return [
    `seed ${seed} breaks the invariant ${violation?.invariant} after ${at} s: ${violation?.says}`,
    "",
    tries === 0 ? "faults:" : `faults that it needs (found in ${tries} runs):`,
    ...(shown.length === 0 ? ["  none"] : shown),
    ...(decisions === undefined ? [] : [`decisions about order and delays that it needs: the first ${decisions}`]),
    "",
    ...flowOf(records, violation?.about),
    "the last that happened:",
    ...history.lines.slice(-LAST_LINES).map((line) => `  ${line}`),
    "",
    `again: ${replayCommand(options, command)}`,
    "",
  ].join("\n");
}

/** It runs the same case. */
export function replayCommand({ seed, onlyFaults, decisions, bug }: Shrunk["options"], command: string): string {
  return [
    `${command} --seed ${seed}`,
    ...(bug === undefined ? [] : [`--bug ${bug.name}`]),
    ...(onlyFaults === undefined ? [] : [`--only-faults ${onlyFaults.length === 0 ? "none" : onlyFaults.join(",")}`]),
    ...(decisions === undefined ? [] : [`--decisions ${decisions}`]),
  ].join(" ");
}

function flowOf(records: readonly FlowRecord[], about: string | undefined): readonly string[] {
  const object = about === undefined ? undefined : objectOf(records, about);
  const found = trace(records, { ...(object !== undefined && { object }), reads: false }).records;
  if (found.length === 0) return [];
  const lines = ascii(diagramOf(found, { fold: true })).split("\n");
  const shown = lines.length > FLOW_LINES ? [...lines.slice(0, 3), "…", ...lines.slice(-FLOW_LINES)] : lines;
  return [object === undefined ? "flow:" : `flow of ${about}:`, ...shown, ""];
}

/** `Pod default/web-1` as records name it. */
function objectOf(records: readonly FlowRecord[], about: string): ObjectName | undefined {
  const [, kind = "", key = ""] = /^(\S+) (\S+)$/.exec(about) ?? [];
  const [namespace = "", name = ""] = key.includes("/") ? key.split("/") : ["", key];
  const plural = `${kind.toLowerCase()}s`;
  const record = records.find(
    (each) =>
      each.type === "request" &&
      each.name === name &&
      each.namespace === namespace &&
      (each.resource === kind || each.resource.slice(each.resource.indexOf("/") + 1) === plural),
  );
  return record?.type === "request" ? { resource: record.resource, namespace, name } : undefined;
}
