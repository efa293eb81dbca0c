import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json } from "../../machinery/json/json.ts";
import type { RowCondition } from "../../machinery/kind.ts";
import { parseTime, toMs } from "../../machinery/scalars/time.ts";
import { recordings } from "../../testing/recordings.ts";
import type { Pod as PodObject } from "../../types/core-v1.ts";
import { Pod } from "./pod.ts";

const table = recordings("reference/tables/pods.json");
const columns = Pod.columns ?? [];

function cells(pod: PodObject, now = 0): readonly Json[] {
  return columns.map((column) => column.cell(pod, now));
}

describe.skipIf(!existsSync(table))("rows of a real server", () => {
  interface Row {
    readonly cells: readonly Json[];
    readonly conditions?: readonly RowCondition[];
    readonly object: PodObject;
  }
  const { rows, columnDefinitions } = existsSync(table)
    ? (JSON.parse(readFileSync(table, "utf8")) as {
        rows: Row[];
        columnDefinitions: { name: string; type: string; priority: number }[];
      })
    : { rows: [], columnDefinitions: [] };

  it("has the same columns", () => {
    const own = columns.map(({ name, type, priority = 0 }) => ({ name, type, priority }));
    expect(own).toEqual(columnDefinitions.slice(1).map(({ name, type, priority }) => ({ name, type, priority })));
  });

  it.each(rows.map((row) => [String(row.cells[0]), row] as const))(
    "%s",
    (_, { cells: want, conditions = [], object }) => {
      const now = toMs(parseTime(object.metadata.creationTimestamp ?? ""));
      expect(ageless(cells(object, now))).toEqual(ageless(want.slice(1)));
      expect(Pod.rowConditions?.(object)).toEqual(conditions);
    },
  );
});

/** Without what depends on when it was asked. */
function ageless(row: readonly Json[]): readonly Json[] {
  return row.map((cell, i) => (columns[i]?.name === "Age" ? "" : String(cell).replace(/\(.* ago\)/, "(ago)")));
}

describe("pod columns", () => {
  it("tells when a container last started again", () => {
    const terminated = { exitCode: 1, finishedAt: "2024-01-01T00:00:00Z" };
    const status = {
      name: "c",
      ready: true,
      restartCount: 2,
      image: "",
      imageID: "",
      state: { running: {} },
      lastState: { terminated },
    };
    const pod: PodObject = {
      metadata: {},
      spec: { containers: [{ name: "c" }] },
      status: { phase: "Running", containerStatuses: [status] },
    };
    expect(cells(pod, toMs(parseTime("2024-01-01T00:05:00Z"))).slice(0, 3)).toEqual(["1/1", "Running", "2 (5m ago)"]);
  });
});
