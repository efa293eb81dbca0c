/** The state of API priority and fairness, as text: /debug/api_priority_and_fairness/… */
import type { Configuration } from "./configuration.ts";
import type { Ticket } from "./ticket.ts";

const PREFIX = "/debug/api_priority_and_fairness/";

/** Undefined: there is no such dump. `wallMs`: wall-clock time minus monotonic time. */
export function dump(
  configuration: Configuration,
  path: string,
  query: URLSearchParams,
  wallMs: number,
): string | undefined {
  if (!path.startsWith(PREFIX)) return undefined;
  switch (path.slice(PREFIX.length)) {
    case "dump_priority_levels":
      return table(levelRows(configuration));
    case "dump_queues":
      return table(queueRows(configuration));
    case "dump_requests":
      return table(requestRows(configuration, (query.get("includeRequestDetails") ?? "") !== "", wallMs));
    default:
      return undefined;
  }
}

type Row = readonly (string | number | boolean)[];

function* levelRows({ levels }: Configuration): Iterable<Row> {
  yield [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
  ];
  for (const { name, quiescing, queue } of levels) {
    const { waiting, executing, dispatched, rejected, timedOut, cancelled } = queue.totals;
    const active = queue.queues.filter((one) => one.waiting.size > 0).length;
    yield [name, active, queue.isIdle, quiescing, waiting, executing, dispatched, rejected, timedOut, cancelled];
  }
}

function* queueRows({ levels }: Configuration): Iterable<Row> {
  yield [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
  ];
  for (const { name, queuing, queue } of levels) {
    if (queuing.type !== "queue") continue;
    const used = new Map(queue.queues.map((one) => [one.index, one]));
    for (let index = 0; index < queuing.queues; index++) {
      const one = used.get(index);
      const initial = [...(one?.waiting ?? [])].reduce((sum, { work }) => sum + work.seats, 0);
      yield [
        name,
        index,
        one?.waiting.size ?? 0,
        one?.executing.size ?? 0,
        one?.seatsInUse ?? 0,
        seatSeconds(one?.nextDispatchR ?? 0),
        initial,
        one?.waitingSeats ?? 0,
        seatSeconds(one?.waitingWork ?? 0),
      ];
    }
  }
}

function* requestRows({ levels }: Configuration, details: boolean, wallMs: number): Iterable<Row> {
  const more = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];
  yield [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
    ...(details ? more : []),
  ];
  const row = (level: string, queue: number, place: number, ticket: Ticket): Row => {
    const { schema, distinguisher, arrivedMs, startedMs, work } = ticket;
    const started = startedMs < 0 ? "0001-01-01T00:00:00Z" : time(startedMs + wallMs);
    const arrived = time(arrivedMs + wallMs);
    const { seats, finalSeats, finalMs } = work;
    const about = [
      level,
      schema.name,
      queue,
      place,
      distinguisher,
      arrived,
      seats,
      finalSeats,
      `${finalMs}ms`,
      started,
    ];
    return details ? [...about, ...detailsOf(ticket)] : about;
  };
  for (const { name, queue } of levels) {
    for (const { index, waiting, executing } of queue.queues) {
      for (const [place, ticket] of [...waiting].entries()) yield row(name, index, place, ticket);
      for (const ticket of executing) yield row(name, index, -1, ticket);
    }
    for (const ticket of queue.unqueued) yield row(name, -1, -1, ticket);
  }
}

function detailsOf({ exchange: { info, user } }: Ticket): Row {
  const { verb, path, namespace, name, apiGroup, apiVersion, resource, subresource } = info;
  const version = apiGroup === "" ? apiVersion : `${apiGroup}/${apiVersion}`;
  return [user.name, verb, path, namespace, name, version, resource, subresource];
}

/** Cells end with a comma, and are aligned. */
function table(rows: Iterable<Row>): string {
  const cells = [...rows].map((row) => row.map((cell, i) => `${cell}${i < row.length - 1 ? "," : ""}`));
  const widths = (cells[0] ?? []).map((_, i) => Math.max(7, ...cells.map((row) => row[i]?.length ?? 0)) + 1);
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell)).join("");
  return `${cells.map(line).join("\n")}\n`;
}

function seatSeconds(work: number): string {
  return `${(work / 1000).toFixed(8)}ss`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
