/** How much history is kept: past states of the store, and flow records. */
import { Option } from "commander";
import type { FlowRecording } from "#cluster";
import { milliseconds } from "./values.ts";

export interface RecordingOptions {
  readonly historyWindow: number;
  readonly flowRecords: FlowRecording;
}

export function historyWindowOption(): Option {
  return new Option("--history-window <duration>", "how far back `k8ts at` and `k8ts diff` can go")
    .argParser(milliseconds)
    .default(10 * 60_000, "10m");
}

export function flowRecordsOption(): Option {
  return new Option(
    "--flow-records <where>",
    "where records for `k8ts flow` and `k8ts why` are kept; file: across restarts",
  )
    .choices(["off", "memory", "file"])
    .default("memory");
}
