/** The whole public surface of audit. */
export {
  type Audit,
  type AuditOptions,
  type AuditSettings,
  audit,
  type LogSettings,
  type WebhookSettings,
  type WriteLines,
} from "./audit.ts";
export { compilePolicy, type Policy } from "./policy.ts";
export { AuditConfigError, type ParsedPolicy, parsePolicy } from "./policy-file.ts";
export { DEFAULT_TRUNCATION, MODES, type Mode, type Truncation } from "./sink.ts";
export { type BatchSettings, DEFAULT_BATCH } from "./webhook-sink.ts";
