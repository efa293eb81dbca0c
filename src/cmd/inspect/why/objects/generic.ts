/** Why an object of any kind is in its state: its conditions, the events about it, its finalizers, its owner. */
import type { core, KubeObject } from "#api";
import type { FlowRecord, RequestRecord } from "#flows";
import { forAge, type Reason, type WhyAnswer } from "../answer.ts";
import { deletionReasons, endingOf } from "../why-gone.ts";

export interface GenericFacts {
  /** `widgets.example.com/one`. */
  readonly title: string;
  readonly object: KubeObject;
  readonly events: readonly core.Event[];
  readonly requests: readonly RequestRecord[];
  readonly records: readonly FlowRecord[];
  readonly now: number;
}

interface Condition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
}

/** Conditions whose name says that True is bad. */
const BAD_WHEN_TRUE = /(Fail|Failed|Failure|Error|Stalled|Degraded|Pressure|Unavailable|Conflict|Dangling|Terminating)/;

export function whyGeneric({ title, object, events, requests, records, now }: GenericFacts): WhyAnswer {
  const { metadata } = object;
  const conditions = conditionsOf(object);
  const bad = conditions.filter(isBad);
  const because: Reason[] = bad.map((each) => ({
    text: wordsOf(each),
    evidence: `condition ${each.type}, ${each.reason ?? each.status}`,
  }));
  const warning = events.findLast(({ type }) => type === "Warning");
  if (warning !== undefined) because.push({ text: warning.message ?? "", evidence: `event ${warning.reason}` });
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const owned: Reason[] =
    owner === undefined
      ? []
      : [{ text: `${owner.kind.toLowerCase()}/${owner.name} owns it`, evidence: "metadata.ownerReferences" }];
  const finalizers = metadata.finalizers ?? [];
  if (metadata.deletionTimestamp !== undefined) {
    const ending = endingOf(requests);
    return {
      what: `${title} has been Terminating${forAge(metadata.deletionTimestamp, now)}`,
      cause: `the finalizers ${finalizers.join(", ")} keep it`,
      because: [
        ...(ending === undefined ? [] : deletionReasons(ending, records)),
        { text: `it is kept by finalizers: ${finalizers.join(", ")}`, evidence: "metadata.finalizers" },
        ...because,
      ],
      help: ["the controller that added these finalizers must remove them"],
    };
  }
  const age = forAge(metadata.creationTimestamp, now);
  if (because.length === 0) {
    const good = conditions.map(({ type, status }) => `${type}=${status}`).join(", ");
    const state: Reason =
      good === ""
        ? { text: "it has no conditions, and there are no warnings about it", evidence: "status, events" }
        : { text: good, evidence: "status.conditions" };
    return { what: `${title} has been there${age}`, because: [state, ...owned], help: [] };
  }
  const [first] = because;
  const shown = bad[0] === undefined ? "been there" : `been ${bad[0].type}=${bad[0].status}`;
  return {
    what: `${title} has ${shown}${age}`,
    cause: first?.text,
    because: [...because, ...owned],
    help: [`its controller reports this: \`k8ts flow ${title}\` shows what it did`],
  };
}

function conditionsOf(object: object): readonly Condition[] {
  const { status } = object as { readonly status?: { readonly conditions?: unknown } };
  return Array.isArray(status?.conditions) ? (status.conditions as Condition[]) : [];
}

function isBad({ type, status }: Condition): boolean {
  return status === (BAD_WHEN_TRUE.test(String(type)) ? "True" : "False") || status === "Unknown";
}

function wordsOf({ message, reason, type, status }: Condition): string {
  if (typeof message === "string" && message !== "") return message;
  return typeof reason === "string" && reason !== "" ? `${type} is ${status}: ${reason}` : `${type} is ${status}`;
}
