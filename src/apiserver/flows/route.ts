/**
 * `GET /k8ts/flows`: records as lines of JSON, for `k8ts flow`, `k8ts why` and the dashboard.
 *
 *     resource, namespace, name, depth, since, reads      what is asked for: see `Question`
 *     follow=true                                          goes on with what happens from now
 *
 * Only those get here whom authorization lets through to this path. The last line of an answer that does not go on says what is missing.
 */
import { badRequest } from "#api";
import { type FlowRecord, type Question, type Recorder, trace } from "#flows";
import type { ApiResponse } from "../http/exchange.ts";

export const FLOWS_PATH = "/k8ts/flows";
const NDJSON = { "content-type": "application/x-ndjson" };
/** A caller that does not read is dropped, not waited for. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export function answerFlows(recorder: Recorder, query: URLSearchParams): ApiResponse {
  const question = questionOf(query);
  if (query.get("follow") === "true") return followed(recorder);
  const all = recorder.records();
  const { records, missing } = trace(all, question);
  const end = { type: "end", records: records.length, missing, dropped: recorder.dropped };
  return { status: 200, headers: NDJSON, body: [Buffer.from([...records, end].map(lineOf).join(""))] };
}

function followed(recorder: Recorder): ApiResponse {
  return {
    status: 200,
    headers: NDJSON,
    stream: (sink) =>
      new Promise<void>((resolve) => {
        const leave = recorder.follow((record) => {
          if (sink.write(Buffer.from(lineOf(record))) > MAX_WAITING_BYTES) sink.drop();
        });
        const end = () => {
          leave();
          resolve();
        };
        if (sink.signal.aborted) end();
        else sink.signal.addEventListener("abort", end, { once: true });
      }),
  };
}

function lineOf(record: FlowRecord | object): string {
  return `${JSON.stringify(record)}\n`;
}

function questionOf(query: URLSearchParams): Question {
  const name = query.get("name");
  const resource = query.get("resource");
  const number = (key: string) => {
    const text = query.get(key);
    if (text === null) return {};
    const value = Number(text);
    if (!Number.isFinite(value)) throw badRequest(`${key}: ${JSON.stringify(text)} is not a number`);
    return { [key]: value };
  };
  if ((name === null) !== (resource === null)) throw badRequest("resource and name go together");
  return {
    ...(name !== null && resource !== null && { object: { resource, namespace: query.get("namespace") ?? "", name } }),
    ...number("depth"),
    ...number("since"),
    reads: query.get("reads") === "true",
  };
}
