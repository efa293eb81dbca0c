/** Why an object is in its state, and how it got there: for the message of a test that fails. */
import type { KubeObject } from "#api";
import type { Clock } from "#base";
import type { Client, ResourceName } from "#client";
import { ascii, diagramOf, type FlowRecord, trace } from "#flows";
import { renderAnswer } from "../../cmd/inspect/why/answer.ts";
import type { SchedulingAttempt } from "../../cmd/inspect/why/facts.ts";
import { answerWhy } from "../../cmd/inspect/why/gather.ts";

const FLOW_LINES = 60;
const STATUS_CHARACTERS = 2_000;

export interface Explained {
  readonly client: Client;
  readonly records: readonly FlowRecord[];
  readonly attemptsOf: (uid: string) => readonly SchedulingAttempt[];
  readonly clock: Clock;
}

/** Its status, the answer of `k8ts why` if that knows the kind, and the last lines of `k8ts flow`. */
export async function explanationOf(
  { client, records, attemptsOf, clock }: Explained,
  { apiVersion, plural }: ResourceName,
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
  last: KubeObject | undefined,
): Promise<string> {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const attempts = async (uid: string) => attemptsOf(uid);
  // Simulated containers have no logs.
  const source = { client, records, attempts, lastWords: async () => [], clock };
  const typed = group === "" ? `${plural}/${name}` : `${plural}.${group}/${name}`;
  const why = await answerWhy(source, typed, namespace ?? "default").then(renderAnswer, () => "");
  const resource = group === "" ? plural : `${group}/${plural}`;
  const found = trace(records, { object: { resource, namespace: namespace ?? "", name }, reads: false });
  const flow = found.records.length === 0 ? [] : ascii(diagramOf(found.records, { fold: true })).split("\n");
  const shown = flow.length > FLOW_LINES ? [...flow.slice(0, 3), "…", ...flow.slice(-FLOW_LINES)] : flow;
  return [
    last === undefined ? "it does not exist" : `its status: ${statusText(last)}`,
    ...(why === "" ? [] : ["", "why:", why.trimEnd()]),
    ...(shown.length === 0 ? [] : ["", "flow:", ...shown]),
  ].join("\n");
}

function statusText(object: KubeObject): string {
  const text = JSON.stringify((object as { readonly status?: unknown }).status) ?? "none";
  return text.length > STATUS_CHARACTERS ? `${text.slice(0, STATUS_CHARACTERS)}…` : text;
}
