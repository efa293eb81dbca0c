/** Audit, composed from its settings. */

import { type Clock, type Logger, type MetricsRegistry, type Random, uuidSource } from "#base";
import type { KubeconfigConnection } from "#pki";
import type { Egress } from "../egress/index.ts";
import type { Resources } from "../rest/resources.ts";
import { BatchLog } from "./batch-log.ts";
import { failureCounter } from "./failures.ts";
import { LogSink, standardOutput } from "./log-sink.ts";
import { compilePolicy, type Policy } from "./policy.ts";
import { AuditConfigError } from "./policy-file.ts";
import { postBytes } from "./post-bytes.ts";
import { RotatingFile, type RotationLimits } from "./rotating-file.ts";
import { givenLine, type Mode, type Sink, type Truncation } from "./sink.ts";
import { type AuditSteps, auditIds, auditSteps } from "./step.ts";
import { type BatchSettings, DEFAULT_BATCH, WebhookSink } from "./webhook-sink.ts";

export interface AuditSettings {
  /** Absent: nothing is audited. */
  readonly policy?: Policy;
  readonly log?: LogSettings;
  readonly webhook?: WebhookSettings;
}

export interface LogSettings {
  /** `-` for the standard output. */
  readonly path: string;
  readonly mode?: Mode;
  readonly bufferSize?: number;
  readonly rotation?: Partial<RotationLimits>;
  readonly truncation?: Truncation;
}

export interface WebhookSettings {
  readonly connection: KubeconfigConnection;
  readonly mode?: Mode;
  readonly batch?: Partial<BatchSettings>;
  readonly initialBackoffMs?: number;
  readonly truncation?: Truncation;
}

export interface AuditOptions {
  readonly settings: AuditSettings;
  readonly resources: Resources;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** How the webhook is reached. Absent: directly. */
  readonly egress?: Egress | undefined;
  /** Takes the lines of the log, where another thread writes it. Absent: this one does. */
  readonly logElsewhere?: WriteLines | undefined;
}

/** Each line without its end. Rejects if they could not be written. */
export type WriteLines = (lines: readonly Buffer[]) => Promise<void>;

export interface Audit extends AuditSteps {
  /** Writes lines of another thread to the log of this one. Absent: there is no log. */
  readonly writeLines?: WriteLines | undefined;
  /** Delivers pending events. */
  close(): Promise<void>;
}

const MEGABYTE = 1024 * 1024;
const DEFAULT_ROTATION: RotationLimits = {
  maxBytes: 100 * MEGABYTE,
  maxBackups: 100,
  maxAgeDays: 366,
  compress: false,
};
const INITIAL_BACKOFF_MS = 10_000;
/** Events that may wait to be written: what a busy server produces in a second or two. */
const LOG_BUFFER = 50_000;

/** Throws AuditConfigError if the log cannot be written. */
export async function audit(options: AuditOptions): Promise<Audit> {
  const { settings, resources, clock, metrics } = options;
  const newId = uuidSource();
  const { policy, log, webhook } = settings;
  if (policy === undefined || (log === undefined && webhook === undefined))
    return { ...auditIds(newId), close: async () => {} };
  const failed = failureCounter(metrics, options.log);
  const sinks: Sink[] = [];
  const { logElsewhere } = options;
  const file = log && (await logSink(log, failed, clock, logElsewhere));
  if (file !== undefined) sinks.push(file);
  if (webhook !== undefined) {
    const { connection, mode = "batch", batch, initialBackoffMs = INITIAL_BACKOFF_MS, truncation } = webhook;
    sinks.push(
      new WebhookSink({
        mode,
        post: postBytes(connection, clock, options.egress?.controlplane),
        batch: { ...DEFAULT_BATCH, ...batch },
        initialBackoffMs,
        truncation,
        failed,
        clock,
        random: options.random,
      }),
    );
  }
  const kindOf = ({ apiGroup, apiVersion, resource }: Parameters<Parameters<typeof auditSteps>[0]["kindOf"]>[0]) =>
    resources.find(apiGroup, apiVersion, resource)?.kind;
  return {
    ...auditSteps({ decide: compilePolicy(policy), sinks, kindOf, newId, clock, metrics }),
    writeLines: file && linesInto(file),
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

function linesInto(sink: Sink): WriteLines {
  return async (lines) => {
    for (const line of lines) sink.push(givenLine(line));
    if (sink.mode !== "batch" && !(await sink.written())) throw new Error("the audit log could not be written");
  };
}

async function logSink(
  settings: LogSettings,
  failed: ReturnType<typeof failureCounter>,
  clock: Clock,
  elsewhere: WriteLines | undefined,
): Promise<Sink> {
  const { path, mode = "blocking", bufferSize = LOG_BUFFER, rotation, truncation } = settings;
  if (elsewhere !== undefined) {
    const target = {
      write: (lines: readonly Buffer[]) => elsewhere(lines.map((line) => line.subarray(0, -1))),
      close: async () => {},
    };
    return new LogSink({ mode, target, bufferSize, truncation, failed, clock });
  }
  if (path === "-") return new LogSink({ mode, target: standardOutput(), bufferSize, truncation, failed, clock });
  const limits = { ...DEFAULT_ROTATION, ...rotation };
  const target = new RotatingFile(path, limits, clock);
  try {
    await target.open();
  } catch (error) {
    throw new AuditConfigError(`The audit log cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  if (mode !== "batch") return new LogSink({ mode, target, bufferSize, truncation, failed, clock });
  await target.close();
  return new BatchLog({ path, limits, bufferSize, truncation, failed, clock });
}
