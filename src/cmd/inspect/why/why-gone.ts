/** Who deleted an object, and why: from the recorded requests. */
import type { FlowRecord, RequestRecord } from "#flows";
import type { Reason } from "./answer.ts";
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
