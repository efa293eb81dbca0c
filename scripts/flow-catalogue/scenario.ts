/**
 * A flow of the catalogue: what is done, what is shown of it, and the steps without which it would not be this flow.
 *
 * 1. `act` does what a user would do, on a running cluster; `flow` picks from all records those that the page shows.
 * 2. A flow matches its documentation if its essential steps are in its diagram, in order, possibly with others in
 *    between.
 */
import type { Client } from "#client";
import { type Arrow, type Diagram, type FlowRecord, type Line, type ObjectName, type Question, trace } from "#flows";

export interface Stage {
  /** Runs kubectl as the administrator, with objects on its input for `-f -`; throws if it fails. */
  kubectl(words: readonly string[], ...objects: readonly object[]): Promise<string>;
  /** The same for what is to be refused. */
  refused(words: readonly string[], ...objects: readonly object[]): Promise<void>;
  /** Of a program of this name. */
  client(program: string): Promise<Client>;
}

export interface Step {
  /** For readers. */
  readonly says: string;
  readonly from: string | RegExp;
  readonly arrow: Arrow;
  readonly to: string | RegExp;
  readonly text?: RegExp;
}

export interface Scenario {
  /** Of its page. */
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** What it needs besides an API server, controllers and a scheduler. */
  readonly nodes: "simulated" | "real";
  act(stage: Stage): Promise<void>;
  flow(all: readonly FlowRecord[]): readonly FlowRecord[];
  readonly steps: readonly Step[];
}

export function of(resource: string, namespace: string, name: string, more: Question = {}) {
  const object: ObjectName = { resource, namespace, name };
  return (all: readonly FlowRecord[]) => trace(all, { object, ...more }).records;
}

/**
 * The same from the user's first request with this verb on: earlier requests, such as creating the object, are not part
 * of it.
 */
export function ofFrom(verb: string, resource: string, namespace: string, name: string) {
  return (all: readonly FlowRecord[]) => {
    const begin = all.findIndex(
      (each) =>
        each.type === "request" &&
        each.actor === "kubectl" &&
        each.verb === verb &&
        each.resource === resource &&
        each.namespace === namespace &&
        each.name === name,
    );
    return begin === -1 ? [] : of(resource, namespace, name)(all.slice(begin));
  };
}

/** A step in one line: `kubectl ──► apiserver`, what it says in the diagram, what it means. */
export function step(arrow: string, text: RegExp | undefined, says: string): Step {
  const match = /^(\S+) (──►|◄──|══►|--►|···) (\S+)$/.exec(arrow);
  if (match === null) throw new Error(`${arrow} is no arrow`);
  const [, left = "", sign = "", right = ""] = match;
  const [from, to] = sign === "◄──" ? [right, left] : [left, right];
  const base = { says, from: pattern(from), to: pattern(to), arrow: ARROWS[sign] ?? "call" };
  return text === undefined ? base : { ...base, text };
}

const ARROWS: Readonly<Record<string, Arrow>> = {
  "──►": "call",
  "◄──": "answer",
  "══►": "persisted",
  "--►": "watch",
  "···": "note",
};

/** `kubelet/*` is any of them. */
function pattern(name: string): string | RegExp {
  return name.endsWith("*") ? new RegExp(`^${name.slice(0, -1)}`) : name;
}

export interface Found {
  /** The line of each step, as far as they were found. */
  readonly lines: readonly Line[];
  /** The first that is missing. */
  readonly missing: Step | undefined;
}

export function findSteps({ lines }: Diagram, steps: readonly Step[]): Found {
  const found: Line[] = [];
  let at = 0;
  for (const wanted of steps) {
    const index = lines.findIndex((line, position) => position >= at && isLike(line, wanted));
    const line = lines[index];
    if (line === undefined) return { lines: found, missing: wanted };
    found.push(line);
    at = index + 1;
  }
  return { lines: found, missing: undefined };
}

function isLike(line: Line, { from, to, arrow, text }: Step): boolean {
  const is = (name: string, wanted: string | RegExp) =>
    typeof wanted === "string" ? name === wanted : wanted.test(name);
  return line.arrow === arrow && is(line.from, from) && is(line.to, to) && (text?.test(line.text) ?? true);
}
