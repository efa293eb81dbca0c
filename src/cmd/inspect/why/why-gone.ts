/** Who deleted an object, and why: from the recorded requests. */
import { table } from "#base";
import { type FlowRecord, isRead, type ObjectName, type RequestRecord, sameObject } from "#flows";
import type { Reason, WhyAnswer } from "./answer.ts";
import { chainOf, whoOf } from "./chain.ts";

/** The request that started the deletion of the last object of this name; later requests only finish it. */
export function endingOf(requests: readonly RequestRecord[]): RequestRecord | undefined {
  const wants = ({ verb, subresource, status }: RequestRecord) =>
    status < 300 && (subresource === "eviction" || (verb.startsWith("delete") && subresource === ""));
  const last = requests.findLast(wants);
  const uid = last?.written?.uid;
  return requests.find((each) => wants(each) && (uid === undefined || each.written?.uid === uid)) ?? last;
}

export function deletionReasons(ending: RequestRecord, records: readonly FlowRecord[]): Reason[] {
  const verb = ending.subresource === "eviction" ? "evicted" : "deleted";
  const { written } = ending;
  return [
    {
      text: `${whoOf(ending)} ${verb} it`,
      evidence: written === undefined ? "flow record" : `revision ${written.revision}`,
    },
    ...chainOf(ending, records),
  ];
}

const REFUSERS: Readonly<Record<string, string>> = table({
  ResourceQuota: "`kubectl describe quota` shows what is used, and how much there may be",
  LimitRanger: "`kubectl describe limitrange` shows the bounds of one object",
});

/** That the last attempt to create it was refused, if that is how it ended. */
export function refusalOf(object: ObjectName, records: readonly FlowRecord[]): WhyAnswer | undefined {
  const isAbout = (each: RequestRecord) =>
    sameObject(each, object) ||
    // The path of a creation has no name, and what was refused has no other record of it.
    (each.resource === object.resource && each.namespace === object.namespace && each.name === "");
  const last = records.findLast(
    (each): each is RequestRecord =>
      each.type === "request" && each.subresource === "" && !isRead(each.verb) && isAbout(each),
  );
  if (last === undefined || last.verb !== "create" || last.status < 400 || last.reason === "AlreadyExists")
    return undefined;
  const title = `${object.resource.slice(object.resource.indexOf("/") + 1)}/${object.name}`;
  const by = last.refusedBy === undefined ? last.authorization : `the admission plugin ${last.refusedBy}`;
  const help = REFUSERS[last.refusedBy ?? ""];
  return {
    what: `${title} does not exist${last.name === "" ? ", and the last attempt to create one" : ": it"} was refused`,
    because: [
      {
        text: `${whoOf(last)} wanted to create ${last.name === "" ? "one whose name was not recorded" : "it"}, and ${by ?? "the API server"} refused it`,
        evidence: `flow record ${last.seq}, ${last.status} ${last.reason ?? ""}`.trimEnd(),
      },
    ],
    help: help === undefined ? [] : [help],
  };
}
