/**
 * Metrics of admission, under Kubernetes' names.
 *
 * 1. Samples of the chain itself are looked up once for each plan; those of webhooks and policies, which cost far more
 *    than a lookup, each time.
 */
import type { Clock, Histogram, MetricsRegistry } from "#base";
import type { Operation } from "./plugin.ts";

export type StepType = "admit" | "validate";
/** The error of a rejection: the webhook could not be called, something failed here, or the webhook said no. */
export type RejectionError = "calling_webhook_error" | "apiserver_internal_error" | "no_error";
export type Action = "allow" | "deny" | "audit" | "warn";
export type ExpressionFailure = "compile_error" | "invalid_error" | "out_of_budget" | "no_error";

export interface Durations {
  readonly passed: Histogram;
  readonly rejected: Histogram;
}

export interface WebhookCall {
  readonly name: string;
  readonly type: "admit" | "validating";
  readonly operation: Operation;
}

/** Match conditions of a webhook or policy. */
export interface ConditionOwner {
  readonly name: string;
  readonly kind: "webhook" | "policy";
  readonly type: StepType;
  readonly operation: Operation;
}

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const WEBHOOK_BUCKETS = [...BUCKETS, 10, 25];
const POLICY_BUCKETS = [0.0000005, 0.001, 0.01, 0.1, 1];
const CEL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Whatever a webhook answers, there are not many codes. */
const MAX_CODE = 600;

export type AdmissionMetrics = ReturnType<typeof admissionMetrics>;

export function admissionMetrics(registry: MetricsRegistry, clock: Clock) {
  const chain = chainFamilies(registry);
  const webhooks = webhookFamilies(registry);
  const conditions = conditionFamilies(registry);
  const policies = policyFamilies(registry);
  const cel = celFamilies(registry);
  const certificates = certificateFamilies(registry);
  const since = (startMs: number) => (clock.monotonic() - startMs) / 1000;
  return {
    now: () => clock.monotonic(),
    step: (type: StepType, operation: Operation): Durations => ({
      passed: chain.steps.labels(type, operation, "false"),
      rejected: chain.steps.labels(type, operation, "true"),
    }),
    plugin: (name: string, type: StepType, operation: Operation): Durations => ({
      passed: chain.plugins.labels(name, type, operation, "false"),
      rejected: chain.plugins.labels(name, type, operation, "true"),
    }),
    webhookCalled({ name, type, operation }: WebhookCall, startMs: number, code: number, rejected: boolean): void {
      webhooks.requests.labels(name, type, operation, codeText(code), String(rejected)).inc();
      webhooks.durations.labels(name, type, operation, String(rejected)).observe(since(startMs));
    },
    webhookRejected({ name, type, operation }: WebhookCall, error: RejectionError, code: number): void {
      webhooks.rejections.labels(name, type, operation, error, codeText(code)).inc();
    },
    webhookFailedOpen: ({ name, type }: WebhookCall): void => webhooks.failedOpen.labels(name, type).inc(),
    conditionsEvaluated(
      { name, kind, type, operation }: ConditionOwner,
      startMs: number,
      outcome: "matched" | "excluded" | "failed",
    ): void {
      const labels = [name, kind, type, operation] as const;
      conditions.durations.labels(...labels).observe(since(startMs));
      cel.evaluations.observe(since(startMs));
      if (outcome === "failed") conditions.errors.labels(...labels).inc();
      if (outcome === "excluded") conditions.exclusions.labels(...labels).inc();
    },
    validated(policy: string, binding: string, tookMs: number, error: ExpressionFailure, action: Action): void {
      policies.validations.labels(policy, binding, error, action).inc();
      policies.validationDurations.labels(policy, binding, error, action).observe(tookMs / 1000);
    },
    mutated(policy: string, binding: string, startMs: number, error: ExpressionFailure): void {
      policies.mutations.labels(policy, binding, error).inc();
      policies.mutationDurations.labels(policy, binding, error).observe(since(startMs));
      cel.evaluations.observe(since(startMs));
    },
    connectionFailed: (cause: unknown): void => {
      if (lacksNames(cause)) certificates.missingSan.inc();
      if (isWeaklySigned(cause)) certificates.insecureSha1.inc();
    },
    compiled: (startMs: number): void => cel.compilations.observe(since(startMs)),
    evaluated: (tookMs: number): void => cel.evaluations.observe(tookMs / 1000),
  };
}

/** Compares how a message begins, as Kubernetes does. */
export function failureOf(message: string): ExpressionFailure {
  if (message.startsWith("compilation")) return "compile_error";
  return message.startsWith("validation failed due to running out of cost budget") ? "out_of_budget" : "invalid_error";
}

/** A condition that fails under the failure policy Ignore excludes the request. */
export function outcomeOf(matched: { readonly matches: boolean } | { readonly error: string }) {
  if ("error" in matched) return "failed";
  return matched.matches ? "matched" : "excluded";
}

function codeText(code: number): string {
  return String(Math.min(code, MAX_CODE));
}

function chainFamilies(registry: MetricsRegistry) {
  return {
    steps: registry.histogram({
      name: "apiserver_admission_step_admission_duration_seconds",
      help: "How long all plugins took together, by step (admit or validate) and operation.",
      labels: ["type", "operation", "rejected"],
      buckets: BUCKETS,
      stability: "STABLE",
    }),
    plugins: registry.histogram({
      name: "apiserver_admission_controller_admission_duration_seconds",
      help: "How long one plugin took, by its name, step and operation.",
      labels: ["name", "type", "operation", "rejected"],
      buckets: BUCKETS,
      stability: "STABLE",
    }),
  };
}

function webhookFamilies(registry: MetricsRegistry) {
  return {
    durations: registry.histogram({
      name: "apiserver_admission_webhook_admission_duration_seconds",
      help: "How long a call to a webhook took, by the webhook's name.",
      labels: ["name", "type", "operation", "rejected"],
      buckets: WEBHOOK_BUCKETS,
      stability: "STABLE",
    }),
    requests: registry.counter({
      name: "apiserver_admission_webhook_request_total",
      help: "Calls to webhooks, by the code of their answer; codes over 600 count as 600.",
      labels: ["name", "type", "operation", "code", "rejected"],
      stability: "ALPHA",
    }),
    rejections: registry.counter({
      name: "apiserver_admission_webhook_rejection_count",
      help: "Requests that a webhook rejected, or that were rejected because it could not be called.",
      labels: ["name", "type", "operation", "error_type", "rejection_code"],
      stability: "ALPHA",
    }),
    failedOpen: registry.counter({
      name: "apiserver_admission_webhook_fail_open_count",
      help: "Requests that passed although a webhook failed, because its failurePolicy is Ignore.",
      labels: ["name", "type"],
      stability: "ALPHA",
    }),
  };
}

function conditionFamilies(registry: MetricsRegistry) {
  const labels = ["name", "kind", "type", "operation"] as const;
  const start = "apiserver_admission_match_condition";
  return {
    durations: registry.histogram({
      name: `${start}_evaluation_seconds`,
      help: "How long the match conditions of a webhook or policy took.",
      labels,
      buckets: BUCKETS,
      stability: "ALPHA",
    }),
    errors: registry.counter({
      name: `${start}_evaluation_errors_total`,
      help: "Requests for which a match condition could not be evaluated.",
      labels,
      stability: "ALPHA",
    }),
    exclusions: registry.counter({
      name: `${start}_exclusions_total`,
      help: "Requests that match conditions have excluded.",
      labels,
      stability: "ALPHA",
    }),
  };
}

function policyFamilies(registry: MetricsRegistry) {
  const validating = ["policy", "policy_binding", "error_type", "enforcement_action"] as const;
  const mutating = ["policy", "policy_binding", "error_type"] as const;
  return {
    validations: registry.counter({
      name: "apiserver_validating_admission_policy_check_total",
      help: "Validations of policies that failed, by binding and the action that followed.",
      labels: validating,
      stability: "BETA",
    }),
    validationDurations: registry.histogram({
      name: "apiserver_validating_admission_policy_check_duration_seconds",
      help: "How long single validations of policies took.",
      labels: validating,
      buckets: POLICY_BUCKETS,
      stability: "BETA",
    }),
    mutations: registry.counter({
      name: "apiserver_mutating_admission_policy_check_total",
      help: "Mutations of policies, by binding.",
      labels: mutating,
      stability: "ALPHA",
    }),
    mutationDurations: registry.histogram({
      name: "apiserver_mutating_admission_policy_check_duration_seconds",
      help: "How long single mutations of policies took.",
      labels: mutating,
      buckets: POLICY_BUCKETS,
      stability: "ALPHA",
    }),
  };
}

function celFamilies(registry: MetricsRegistry) {
  const histogram = (name: string, help: string) =>
    registry.histogram({ name, help, buckets: CEL_BUCKETS, stability: "BETA" }).labels();
  return {
    compilations: histogram(
      "apiserver_cel_compilation_duration_seconds",
      "How long the expressions of a policy or webhook took to compile.",
    ),
    evaluations: histogram("apiserver_cel_evaluation_duration_seconds", "How long CEL expressions took to evaluate."),
  };
}

function certificateFamilies(registry: MetricsRegistry) {
  const counter = (name: string, help: string) => registry.counter({ name, help, stability: "ALPHA" }).labels();
  return {
    missingSan: counter(
      "apiserver_webhooks_x509_missing_san_total",
      "Calls to webhooks that failed because the certificate names its server in the common name only.",
    ),
    insecureSha1: counter(
      "apiserver_webhooks_x509_insecure_sha1_total",
      "Calls to webhooks that failed because a certificate is signed with SHA-1.",
    ),
  };
}

/** The error of Node's TLS for a certificate of another name has the certificate. */
function lacksNames(cause: unknown): boolean {
  const { code, cert } = cause as { readonly code?: unknown; readonly cert?: { readonly subjectaltname?: string } };
  return code === "ERR_TLS_CERT_ALTNAME_INVALID" && cert !== undefined && cert.subjectaltname === undefined;
}

function isWeaklySigned(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown };
  return code === "CA_MD_TOO_WEAK" || code === "EE_MD_TOO_WEAK";
}
