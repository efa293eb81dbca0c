/**
 * `GET /k8ts/flows`: records as lines of JSON, for `k8ts flow`, `k8ts why` and the dashboard. The README describes its
 * parameters.
 *
 *     recorder ──► sight: what the reader may see ──► trace: what the query selects ──► lines
 *
 * A stream begins with the existing records, then a line `live`, then each new record: none is missed or repeated.
 */
import { badRequest } from "#api";
import { type FlowRecord, LiveTrace, type Question, type Recorder, trace } from "#flows";
import type { Authorizer } from "../authz/authorizer.ts";
import type { ApiRequest, ApiResponse, Sink } from "../http/exchange.ts";
import { isTrue } from "../http/request-info.ts";
import { ANONYMOUS } from "../identity/user.ts";
import type { BeginningOf } from "./beginning.ts";
import { type Sight, sightOf } from "./sight.ts";
import { takeWorks, type WorksOptions } from "./works.ts";

const NDJSON = { "content-type": "application/x-ndjson", "cache-control": "no-store" };
/** Slow readers are dropped, not awaited. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export interface FlowsRoute extends WorksOptions {
  /** Decides which objects a reader may get. */
  readonly authorize: Authorizer;
  readonly beginningOf: BeginningOf;
  /** Ends streams. */
  readonly stopping: AbortSignal;
}

export async function answerFlows(route: FlowsRoute, request: ApiRequest): Promise<ApiResponse> {
  const { query, user = ANONYMOUS, method } = request;
  if (method === "POST") return takeWorks(request, route);
  const { recorder } = route;
  const question = questionOf(query);
  const sight = await sightOf({ ...route, user });
  if (isTrue(query.get("follow"))) return followed(route, question, sight, firstOf(query, recorder));
  const all: FlowRecord[] = [];
  for (const record of recorder.records()) all.push(...(sight === undefined ? [record] : await sight(record)));
  const { records, missing } = trace(all, question);
  const end = { type: "end", records: records.length, missing, dropped: recorder.dropped, recorder: recorder.id };
  return { status: 200, headers: NDJSON, body: [Buffer.from([...records, end].map(lineOf).join(""))] };
}

function followed(
  { recorder, stopping }: FlowsRoute,
  question: Question,
  sight: Sight | undefined,
  first: number,
): ApiResponse {
  return {
    status: 200,
    headers: NDJSON,
    stream: async (sink) => {
      const live = new LiveTrace(question);
      const waiting: FlowRecord[] = recorder.records().filter(({ seq }) => seq > first);
      const { seq, dropped, id } = recorder;
      let wake = Promise.withResolvers<void>();
      const leave = recorder.follow((record) => {
        waiting.push(record);
        wake.resolve();
      });
      const stop = () => wake.resolve();
      const ends = [sink.signal, stopping];
      for (const signal of ends) signal.addEventListener("abort", stop, { once: true });
      try {
        await tell(waiting.splice(0), sink, live, sight);
        send(sink, [{ type: "live", seq, dropped, recorder: id }]);
        while (!ends.some(({ aborted }) => aborted)) {
          if (waiting.length === 0) await wake.promise;
          wake = Promise.withResolvers<void>();
          await tell(waiting.splice(0), sink, live, sight);
        }
      } finally {
        leave();
        for (const signal of ends) signal.removeEventListener("abort", stop);
      }
    },
  };
}

async function tell(records: readonly FlowRecord[], sink: Sink, live: LiveTrace, sight?: Sight): Promise<void> {
  if (sight === undefined)
    return send(
      sink,
      records.flatMap((record) => live.take(record)),
    );
  for (const record of records)
    send(
      sink,
      (await sight(record)).flatMap((each) => live.take(each)),
    );
}

function send(sink: Sink, lines: readonly object[]): void {
  if (lines.length === 0 || sink.signal.aborted) return;
  if (sink.write(Buffer.from(lines.map(lineOf).join(""))) > MAX_WAITING_BYTES) sink.drop();
}

function lineOf(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

/** The number of the record after which the stream begins. */
function firstOf(query: URLSearchParams, { id, seq }: Recorder): number {
  if (query.has("past") && !isTrue(query.get("past"))) return seq;
  const after = query.get("after");
  if (after === null) return 0;
  const match = /^([0-9a-f]+)-(\d+)$/.exec(after);
  if (match === null) throw badRequest(`after: ${JSON.stringify(after)} is not such as 1a2b3c4d-17`);
  // The numbers of another recorder mean nothing here: all records are new.
  return match[1] === id ? Number(match[2]) : 0;
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
    reads: isTrue(query.get("reads")),
  };
}
