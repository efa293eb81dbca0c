/** Flags about audit, named as kube-apiserver names them. */
import { Option } from "commander";
import { AUDIT_MODES, type AuditMode } from "#apiserver";
import type { ClusterConfig } from "#cluster";
import { boolean, milliseconds, wholeNumber } from "./values.ts";

type Sink = "Log" | "Webhook";
type SinkOptions<S extends Sink> = {
  readonly [K in keyof CommonValues as `audit${S}${K}`]?: CommonValues[K];
};

interface CommonValues {
  readonly Mode: AuditMode;
  readonly BatchBufferSize: number;
  readonly BatchMaxSize: number;
  readonly BatchMaxWait: number;
  readonly BatchThrottleEnable: boolean;
  readonly BatchThrottleQps: number;
  readonly BatchThrottleBurst: number;
  readonly TruncateEnabled: boolean;
  readonly TruncateMaxEventSize: number;
  readonly TruncateMaxBatchSize: number;
}

export interface AuditFlagOptions extends SinkOptions<"Log">, SinkOptions<"Webhook"> {
  readonly auditPolicyFile?: string;
  readonly auditLogPath?: string;
  readonly auditLogMaxage?: number;
  readonly auditLogMaxbackup?: number;
  readonly auditLogMaxsize?: number;
  readonly auditLogCompress?: boolean;
  readonly auditLogFormat?: string;
  readonly auditLogVersion?: string;
  readonly auditWebhookConfigFile?: string;
  readonly auditWebhookInitialBackoff?: number;
  readonly auditWebhookVersion?: string;
}

const MANY = 1_000_000_000;

export function auditOptions(): readonly Option[] {
  return [
    new Option("--audit-policy-file <file>", "which requests are audited, and how much of them"),
    new Option("--audit-log-path <file>", "where events are written, a line of JSON each; - for the standard output"),
    number("--audit-log-maxage", "days that old log files are kept; 0: any age (default: 366)"),
    number("--audit-log-maxbackup", "old log files that are kept; 0: any number (default: 100)"),
    number("--audit-log-maxsize", "megabytes after which a new log file begins; 0: never (default: 100)"),
    flag("--audit-log-compress", "compress old log files"),
    new Option("--audit-log-format <format>", "how events are written").choices(["json"]),
    new Option("--audit-log-version <version>", "version of events in the log").choices(["audit.k8s.io/v1"]),
    ...sinkOptions("log"),
    new Option("--audit-webhook-config-file <file>", "kubeconfig of a server that events are sent to"),
    duration("--audit-webhook-initial-backoff", "before a failed request is tried again (default: 10s)"),
    new Option("--audit-webhook-version <version>", "version of events that are sent").choices(["audit.k8s.io/v1"]),
    ...sinkOptions("webhook"),
  ];
}

function sinkOptions(sink: "log" | "webhook"): readonly Option[] {
  const name = `--audit-${sink}`;
  return [
    new Option(`${name}-mode <mode>`, "whether requests wait for their events").choices(AUDIT_MODES),
    number(`${name}-batch-buffer-size`, `events that may wait (default: ${sink === "log" ? 50_000 : 10_000})`),
    number(`${name}-batch-max-size`, "events in a batch"),
    duration(`${name}-batch-max-wait`, "after which a batch goes that is not full"),
    flag(`${name}-batch-throttle-enable`, "limit batches in a second"),
    number(`${name}-batch-throttle-qps`, "batches in a second, on average"),
    number(`${name}-batch-throttle-burst`, "batches at once"),
    flag(`${name}-truncate-enabled`, "cut events that are too large"),
    number(`${name}-truncate-max-event-size`, "bytes of an event (default: 102400)"),
    number(`${name}-truncate-max-batch-size`, "bytes of a batch (default: 10485760)"),
  ];
}

function number(name: string, description: string): Option {
  return new Option(`${name} <n>`, description).argParser(wholeNumber(0, MANY));
}

function duration(name: string, description: string): Option {
  return new Option(`${name} <duration>`, description).argParser(milliseconds);
}

function flag(name: string, description: string): Option {
  return new Option(`${name} [boolean]`, description).preset("true").argParser(boolean);
}

export function auditFrom(options: AuditFlagOptions): NonNullable<ClusterConfig["audit"]> {
  return {
    ...given({ policyFile: options.auditPolicyFile }),
    log: given({
      path: options.auditLogPath,
      maxAgeDays: options.auditLogMaxage,
      maxBackups: options.auditLogMaxbackup,
      maxMegabytes: options.auditLogMaxsize,
      compress: options.auditLogCompress,
      mode: options.auditLogMode,
      bufferSize: options.auditLogBatchBufferSize,
      truncate: options.auditLogTruncateEnabled,
      maxEventBytes: options.auditLogTruncateMaxEventSize,
      maxBatchBytes: options.auditLogTruncateMaxBatchSize,
    }),
    webhook: given({
      configFile: options.auditWebhookConfigFile,
      initialBackoffMs: options.auditWebhookInitialBackoff,
      mode: options.auditWebhookMode,
      bufferSize: options.auditWebhookBatchBufferSize,
      maxSize: options.auditWebhookBatchMaxSize,
      maxWaitMs: options.auditWebhookBatchMaxWait,
      throttle: options.auditWebhookBatchThrottleEnable,
      qps: options.auditWebhookBatchThrottleQps,
      burst: options.auditWebhookBatchThrottleBurst,
      truncate: options.auditWebhookTruncateEnabled,
      maxEventBytes: options.auditWebhookTruncateMaxEventSize,
      maxBatchBytes: options.auditWebhookTruncateMaxBatchSize,
    }),
  };
}

type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** What was said; the rest has its defaults elsewhere. */
function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}
