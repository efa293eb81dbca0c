/** kube-apiserver's flags for what this API server does not have. Off is accepted, on is refused with the reason. */
import { Option } from "commander";
import { ClusterError } from "#cluster";
import { boolean, wholeNumber } from "../values.ts";

export interface DiagnosticsFlagOptions {
  readonly profiling?: boolean;
  readonly contentionProfiling?: boolean;
  readonly enableLogsHandler?: boolean;
  readonly maxConnectionBytesPerSec?: number;
}

const SENTENCES = {
  profiling: "--profiling=true is not supported by this API server: Node has no profiles in the format of pprof.",
  contentionProfiling:
    "--contention-profiling=true is not supported by this API server: one thread serves requests, and locks nothing.",
  enableLogsHandler:
    "--enable-logs-handler=true is not supported by this API server: it logs to its standard error, and serves no /logs.",
} as const;

export function diagnosticsOptions(): readonly Option[] {
  const off = (flag: string, text: string) => new Option(`${flag} [bool]`, text).preset("true").argParser(boolean);
  return [
    off("--profiling", "only false: Node has no profiles in the format of pprof"),
    off("--contention-profiling", "only false: one thread serves requests, and locks nothing"),
    off("--enable-logs-handler", "only false: logs go to the standard error, and there is no /logs"),
    new Option("--max-connection-bytes-per-sec <n>", "only 0: connections are not throttled").argParser(
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    ),
  ];
}

/** Throws ClusterError. */
export function checkDiagnostics(options: DiagnosticsFlagOptions): void {
  for (const [flag, sentence] of Object.entries(SENTENCES))
    if (options[flag as keyof typeof SENTENCES] === true) throw new ClusterError(sentence);
  if ((options.maxConnectionBytesPerSec ?? 0) > 0)
    throw new ClusterError(
      "--max-connection-bytes-per-sec is not supported by this API server: connections are not throttled. 0 is accepted.",
    );
}
