/** Audit flags, with kube-apiserver's names. */
import { Option } from "commander";
import { AUDIT_MODES, type AuditMode } from "#apiserver";
import type { ClusterConfig } from "#cluster";
import { boolean, milliseconds, wholeNumber } from "../values.ts";

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
    new Option("--audit-policy-file <file>", "audit policy"),
    new Option("--audit-log-path <file>", "audit log file, one JSON event per line; - for standard output"),
    number("--audit-log-maxage", "days to keep old audit logs; 0: no limit (default: 366)"),
    number("--audit-log-maxbackup", "number of old audit logs to keep; 0: no limit (default: 100)"),
    number("--audit-log-maxsize", "size in megabytes at which the audit log is rotated; 0: never (default: 100)"),
    flag("--audit-log-compress", "compress rotated audit logs with gzip"),
    new Option("--audit-log-format <format>", "format of audit events").choices(["json"]),
    new Option("--audit-log-version <version>", "API version of audit events").choices(["audit.k8s.io/v1"]),
    ...sinkOptions("log"),
    new Option("--audit-webhook-config-file <file>", "kubeconfig of the audit webhook"),
    duration("--audit-webhook-initial-backoff", "time to wait before the first retry (default: 10s)"),
    new Option("--audit-webhook-version <version>", "API version of audit events").choices(["audit.k8s.io/v1"]),
    ...sinkOptions("webhook"),
  ];
}

function sinkOptions(sink: "log" | "webhook"): readonly Option[] {
  const name = `--audit-${sink}`;
  return [
    new Option(`${name}-mode <mode>`, "whether requests wait until their audit events are written").choices(
      AUDIT_MODES,
    ),
    number(
      `${name}-batch-buffer-size`,
      `maximum number of buffered events (default: ${sink === "log" ? 50_000 : 10_000})`,
    ),
    number(`${name}-batch-max-size`, "maximum number of events in a batch"),
    duration(`${name}-batch-max-wait`, "maximum time to wait for a full batch"),
    flag(`${name}-batch-throttle-enable`, "limit the rate of batches"),
    number(`${name}-batch-throttle-qps`, "maximum average number of batches per second"),
    number(`${name}-batch-throttle-burst`, "maximum number of batches in a burst"),
    flag(`${name}-truncate-enabled`, "truncate events that are too large"),
    number(`${name}-truncate-max-event-size`, "maximum size of an event in bytes (default: 102400)"),
    number(`${name}-truncate-max-batch-size`, "maximum size of a batch in bytes (default: 10485760)"),
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

/** Only the given flags; defaults are set elsewhere. */
function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}
