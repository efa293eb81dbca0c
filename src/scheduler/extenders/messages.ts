/**
 * The messages of extenders. Field names are written like Kubernetes does (`NodeNames`), and read case-insensitively.
 */
import { type core, isObject, type Json, type JsonObject } from "#api";
import { ExtenderError } from "./post-json.ts";

export function nodesMessage(pod: core.Pod, nodes: readonly core.Node[]): Json {
  return { Pod: asJson(pod), Nodes: { metadata: {}, items: nodes.map(asJson) }, NodeNames: null };
}

export function namesMessage(pod: core.Pod, names: readonly string[]): Json {
  return { Pod: asJson(pod), Nodes: null, NodeNames: [...names] };
}

export interface FilterAnswer {
  /** Undefined if absent: then no node fits. */
  readonly names: readonly string[] | undefined;
  readonly nodes: readonly string[] | undefined;
  readonly failed: ReadonlyMap<string, string>;
  readonly unresolvable: ReadonlyMap<string, string>;
  readonly error: string;
}

export function readFilterAnswer(answer: Json): FilterAnswer {
  const object = objectOf(answer, "an object");
  const nodes = fieldOf(object, "Nodes");
  return {
    names: strings(fieldOf(object, "NodeNames"), "NodeNames"),
    nodes: isObject(nodes) ? namesOf(fieldOf(nodes, "items")) : undefined,
    failed: reasons(fieldOf(object, "FailedNodes"), "FailedNodes"),
    unresolvable: reasons(fieldOf(object, "FailedAndUnresolvableNodes"), "FailedAndUnresolvableNodes"),
    error: textOf(fieldOf(object, "Error")),
  };
}

/** Scores from 0 to 10 by node name. */
export function readPriorities(answer: Json): ReadonlyMap<string, number> {
  if (answer === null) return new Map();
  if (!Array.isArray(answer)) throw new ExtenderError("the extender's answer has to be a list of priorities");
  return new Map(
    answer.map((each) => {
      const entry = objectOf(each, "a priority with Host and Score");
      const score = fieldOf(entry, "Score") ?? 0;
      if (typeof score !== "number" || !Number.isInteger(score))
        throw new ExtenderError("the Score of a priority has to be a whole number");
      return [textOf(fieldOf(entry, "Host")), score];
    }),
  );
}

export function bindMessage(pod: core.Pod, node: string): Json {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  return { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
}

export function readError(answer: Json): string {
  return isObject(answer) ? textOf(fieldOf(answer, "Error")) : "";
}

export interface Victims {
  readonly pods: readonly core.Pod[];
  readonly pdbViolations: number;
}

export function victimsMessage(pod: core.Pod, victims: ReadonlyMap<string, Victims>, byUid: boolean): Json {
  const entries = [...victims].map(([node, { pods, pdbViolations }]): [string, Json] => [
    node,
    {
      Pods: pods.map((each) => (byUid ? { UID: each.metadata.uid ?? "" } : asJson(each))),
      NumPDBViolations: pdbViolations,
    },
  ]);
  return { Pod: asJson(pod), [byUid ? "NodeNameToMetaVictims" : "NodeNameToVictims"]: Object.fromEntries(entries) };
}

export interface MetaVictims {
  readonly uids: readonly string[];
  readonly pdbViolations: number;
}

export function readVictims(answer: Json): ReadonlyMap<string, MetaVictims> {
  const all = fieldOf(objectOf(answer, "an object"), "NodeNameToMetaVictims");
  if (!isObject(all)) return new Map();
  return new Map(
    Object.entries(all).map(([node, value]): [string, MetaVictims] => {
      const entry = objectOf(value, "victims with Pods");
      const pods = fieldOf(entry, "Pods");
      const count = fieldOf(entry, "NumPDBViolations");
      const uids = (Array.isArray(pods) ? pods : []).map((each) =>
        textOf(fieldOf(objectOf(each, "a Pod with a UID"), "UID")),
      );
      return [node, { uids, pdbViolations: typeof count === "number" ? count : 0 }];
    }),
  );
}

function asJson(object: core.Pod | core.Node): Json {
  return object as unknown as Json;
}

/** An exact match goes before one that differs in case. */
function fieldOf(object: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}

function objectOf(value: Json | undefined, what: string): JsonObject {
  if (isObject(value)) return value;
  throw new ExtenderError(`the extender's answer has to be ${what}, not ${JSON.stringify(value ?? null)}`);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function strings(value: Json | undefined, name: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value as readonly string[];
  throw new ExtenderError(`${name} in the extender's answer has to be a list of names`);
}

function namesOf(items: Json | undefined): readonly string[] {
  if (!Array.isArray(items)) return [];
  return items.map((item) => {
    const metadata = isObject(item) ? item.metadata : undefined;
    return isObject(metadata) ? textOf(metadata.name) : "";
  });
}

function reasons(value: Json | undefined, name: string): ReadonlyMap<string, string> {
  if (value === undefined || value === null) return new Map();
  if (!isObject(value)) throw new ExtenderError(`${name} in the extender's answer has to be a map of reasons`);
  return new Map(Object.entries(value).map(([node, why]) => [node, textOf(why)]));
}
