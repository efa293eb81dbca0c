/** Why a namespace stays: which objects it still has, and what keeps each of them. */
import type { core } from "#api";
import type { FlowRecord, RequestRecord } from "#flows";
import { forAge, type Reason, type WhyAnswer } from "../answer.ts";
import { deletionReasons, endingOf } from "../why-gone.ts";

/** An object that a namespace still has. */
export interface LeftObject {
  /** `pod`, `widgets.example.com`. */
  readonly type: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}

export interface NamespaceFacts {
  readonly namespace: core.Namespace;
  readonly requests: readonly RequestRecord[];
  readonly records: readonly FlowRecord[];
  readonly left?: readonly LeftObject[] | undefined;
  readonly now: number;
}

const MAX_NAMED = 5;

export function whyNamespace({ namespace, requests, records, left = [], now }: NamespaceFacts): WhyAnswer {
  const { metadata, status } = namespace;
  const name = `namespace/${metadata.name}`;
  if (metadata.deletionTimestamp === undefined)
    return {
      what: `${name} has been ${status?.phase ?? "there"}${forAge(metadata.creationTimestamp, now)}`,
      because: [],
      help: [],
    };
  const ending = endingOf(requests);
  const because: Reason[] = ending === undefined ? [] : [...deletionReasons(ending, records)];
  const held = (status?.conditions ?? []).filter(({ status: is }) => is === "True");
  for (const { type, message, reason } of held)
    because.push({ text: message ?? "", evidence: `condition ${type}, ${reason}` });
  const kept = left.filter(({ finalizers }) => finalizers.length > 0);
  for (const { type, name: object, finalizers } of kept.slice(0, MAX_NAMED))
    because.push({ text: `${type}/${object} is kept by ${finalizers.join(", ")}`, evidence: "metadata.finalizers" });
  const what = `${name} has been Terminating${forAge(metadata.deletionTimestamp, now)}`;
  const [first] = kept;
  if (first !== undefined) {
    const others = kept.length === 1 ? "" : ` and ${kept.length - 1} more`;
    const patch = `\`kubectl patch ${first.type} ${first.name} -n ${metadata.name} --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'\``;
    return {
      what,
      cause: `${first.type}/${first.name}${others} is held by the finalizer ${first.finalizers.join(", ")}`,
      because,
      help: [`the controller that added these finalizers must remove them; if it no longer exists: ${patch}`],
    };
  }
  const unanswered = held.find(({ type }) => type === "NamespaceDeletionDiscoveryFailure");
  if (unanswered !== undefined)
    return {
      what,
      cause: unanswered.message,
      because,
      help: ["an extension server does not answer: `kubectl get apiservices`"],
    };
  const [rest] = left;
  const cause =
    rest === undefined
      ? held[0]?.message
      : `${left.length} objects are still ending, among them ${rest.type}/${rest.name}`;
  return { what, cause, because, help: [] };
}
