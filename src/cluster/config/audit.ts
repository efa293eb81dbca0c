/** Audit options from flags and the files that they name. */
import {
  AuditConfigError,
  type AuditMode,
  type AuditSettings,
  DEFAULT_AUDIT_TRUNCATION,
  parseAuditPolicy,
} from "#apiserver";
import type { Logger } from "#base";
import { PkiError, readKubeconfig } from "#pki";
import { ClusterError } from "./errors.ts";
import { readFlag } from "./flag-files.ts";

export interface AuditFlags {
  /** `--audit-policy-file`. */
  readonly policyFile?: string;
  readonly log?: AuditLogFlags;
  readonly webhook?: AuditWebhookFlags;
}

/** Options of both kinds of sinks. */
interface SinkFlags {
  readonly mode?: AuditMode;
  readonly bufferSize?: number;
  readonly truncate?: boolean;
  readonly maxEventBytes?: number;
  readonly maxBatchBytes?: number;
}

/** `--audit-log-…` */
export interface AuditLogFlags extends SinkFlags {
  readonly path?: string;
  readonly maxAgeDays?: number;
  readonly maxBackups?: number;
  readonly maxMegabytes?: number;
  readonly compress?: boolean;
}

/** `--audit-webhook-…` */
export interface AuditWebhookFlags extends SinkFlags {
  readonly configFile?: string;
  readonly maxSize?: number;
  readonly maxWaitMs?: number;
  readonly throttle?: boolean;
  readonly qps?: number;
  readonly burst?: number;
  readonly initialBackoffMs?: number;
}

const MEGABYTE = 1024 * 1024;
const THROTTLE = { qps: 10, burst: 15 };

export async function readAudit(
  { policyFile, log = {}, webhook = {} }: AuditFlags,
  to: Logger,
): Promise<AuditSettings> {
  if (policyFile === undefined) {
    const names = [
      log.path !== undefined && "--audit-log-path",
      webhook.configFile !== undefined && "--audit-webhook-config-file",
    ];
    for (const name of names) if (name) to.warn(`${name} without --audit-policy-file: nothing is audited`);
    return {};
  }
  const { policy, warnings } = parse(await readFlag("--audit-policy-file", policyFile), policyFile);
  for (const warning of warnings) to.warn("the audit policy has an unknown field", { file: policyFile, warning });
  return {
    policy,
    ...(log.path !== undefined && { log: logSettings(log, log.path) }),
    ...(webhook.configFile !== undefined && { webhook: await webhookSettings(webhook, webhook.configFile) }),
  };
}

function parse(text: string, file: string) {
  try {
    return parseAuditPolicy(text, file);
  } catch (error) {
    if (!(error instanceof AuditConfigError)) throw error;
    throw new ClusterError(`--audit-policy-file: ${error.message}`, { cause: error });
  }
}

function logSettings(flags: AuditLogFlags, path: string): NonNullable<AuditSettings["log"]> {
  const { mode, bufferSize, maxMegabytes, maxBackups, maxAgeDays, compress } = flags;
  return {
    path,
    ...(mode !== undefined && { mode }),
    ...(bufferSize !== undefined && { bufferSize }),
    rotation: {
      ...(maxMegabytes !== undefined && { maxBytes: maxMegabytes * MEGABYTE }),
      ...(maxBackups !== undefined && { maxBackups }),
      ...(maxAgeDays !== undefined && { maxAgeDays }),
      ...(compress !== undefined && { compress }),
    },
    ...truncationOf(flags),
  };
}

async function webhookSettings(flags: AuditWebhookFlags, file: string): Promise<NonNullable<AuditSettings["webhook"]>> {
  const { mode, bufferSize, maxSize, maxWaitMs, throttle, qps, burst, initialBackoffMs } = flags;
  const limits = { qps: qps ?? THROTTLE.qps, burst: burst ?? THROTTLE.burst };
  const connection = await readKubeconfig(file).catch((error: unknown) => {
    if (!(error instanceof PkiError)) throw error;
    throw new ClusterError(`--audit-webhook-config-file: ${error.message}`, { cause: error });
  });
  return {
    connection,
    ...(mode !== undefined && { mode }),
    batch: {
      ...(bufferSize !== undefined && { bufferSize }),
      ...(maxSize !== undefined && { maxSize }),
      ...(maxWaitMs !== undefined && { maxWaitMs }),
      throttle: throttle === false ? undefined : limits,
    },
    ...(initialBackoffMs !== undefined && { initialBackoffMs }),
    ...truncationOf(flags),
  };
}

function truncationOf({ truncate, maxEventBytes, maxBatchBytes }: SinkFlags) {
  if (truncate !== true) return {};
  return {
    truncation: {
      ...DEFAULT_AUDIT_TRUNCATION,
      ...(maxEventBytes !== undefined && { maxEventBytes }),
      ...(maxBatchBytes !== undefined && { maxBatchBytes }),
    },
  };
}
