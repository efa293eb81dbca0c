/** How much of what was is kept: states of the store, and records of what happened. */
import { Option } from "commander";
import type { FlowRecording } from "#cluster";
import { milliseconds } from "./values.ts";

export interface RecordingOptions {
  readonly historyWindow: number;
  readonly flowRecords: FlowRecording;
}

export function historyWindowOption(): Option {
  return new Option("--history-window <duration>", "how long earlier states can be asked for, with `k8ts at`")
    .argParser(milliseconds)
    .default(10 * 60_000, "10m");
}

export function flowRecordsOption(): Option {
  return new Option(
    "--flow-records <where>",
    "what is recorded for `k8ts flow` and `k8ts why`: off, memory, or file, for the next start, too",
  )
    .choices(["off", "memory", "file"])
    .default("memory");
}
