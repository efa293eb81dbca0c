/**
 * A webhook decides: it gets a SubjectAccessReview and allows, denies, or has no opinion.
 *
 *     attributes ──► match conditions ──► cache ──► POST, retried on transient errors ──► cache ──► verdict
 *
 * 1. Answers are cached, allowed and not allowed ones for times of their own. Very large requests are not cached.
 * 2. If the webhook cannot be reached, the failure policy decides: no opinion, or deny. The error is reported in both
 *    cases.
 * 3. Equal concurrent requests are sent once.
 */
import type { authorization as review } from "#api";
import { backoffDelay, type Clock, type Logger, type Random, TtlMap } from "#base";
import type { Attributes } from "../attributes.ts";
import { type Mode, NO_RULES } from "../mode.ts";
import { NO_OPINION, type Verdict } from "../verdict.ts";
import type { WebhookMetrics, WebhookResult } from "./metrics.ts";
import { PostError, type Poster } from "./post.ts";
import { type ReviewVersion, reviewObject, reviewSpec } from "./review.ts";

const KEPT_ANSWERS = 8192;
const MAX_KEPT_CHARACTERS = 10_000;
const MAX_TRIES = 5;
const RETRY = { initialMs: 500, maxMs: 5_000, factor: 1.5, jitter: 0.2 };

/** Whether the webhook is called at all. Throws if it cannot be evaluated. */
export type MatchCondition = (spec: review.SubjectAccessReviewSpec) => boolean;

export interface WebhookOptions {
  readonly name: string;
  readonly version: ReviewVersion;
  /** 0: not cached. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly onFailure: "noOpinion" | "deny";
  /** All must hold. */
  readonly matchConditions?: readonly MatchCondition[];
  readonly poster: Poster;
  /** Aborts when the server stops: nothing is retried. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent: nothing is measured. */
  readonly metrics?: WebhookMetrics | undefined;
}

type Status = Partial<review.SubjectAccessReviewStatus>;

export function webhookAuthorizer(options: WebhookOptions): Mode {
  const kept = new TtlMap<string, Status>(KEPT_ANSWERS, options.clock);
  const underWay = new Map<string, Promise<Status>>();
  const failed = (error: unknown): Verdict => ({ decision: options.onFailure, reason: "", error: messageOf(error) });

  const askOnce = (key: string, spec: review.SubjectAccessReviewSpec): Promise<Status> => {
    let asking = underWay.get(key);
    if (asking === undefined) {
      asking = ask(spec, options).finally(() => underWay.delete(key));
      underWay.set(key, asking);
    }
    return asking;
  };

  return {
    type: "Webhook",
    name: options.name,
    authorize: (attributes) => {
      const spec = reviewSpec(attributes);
      try {
        if (!isMatched(spec, options)) return NO_OPINION;
      } catch (error) {
        return failed(error);
      }
      const key = JSON.stringify(spec);
      const known = kept.get(key);
      if (known !== undefined) return verdictOf(known);
      return askOnce(key, spec).then(
        (status) => {
          const { authorizedTtlMs, unauthorizedTtlMs } = options;
          if (isKept(attributes)) kept.set(key, status, status.allowed === true ? authorizedTtlMs : unauthorizedTtlMs);
          return verdictOf(status);
        },
        (error: unknown) => {
          options.log.warn("the authorization webhook failed", { webhook: options.name, error });
          const result = resultOf(error, options.signal);
          const isOpen = options.onFailure === "noOpinion" && result !== "canceled";
          if (isOpen) options.metrics?.failedOpen(options.name, result);
          return failed(error);
        },
      );
    },
    rulesFor: () => ({
      ...NO_RULES,
      incomplete: true,
      evaluationError: "webhook authorizer does not support user rule resolution",
    }),
  };
}

function isMatched(
  spec: review.SubjectAccessReviewSpec,
  { matchConditions = [], metrics, name, clock }: WebhookOptions,
): boolean {
  if (matchConditions.length === 0) return true;
  const startMs = clock.monotonic();
  try {
    const matches = matchesAll(matchConditions, spec);
    metrics?.conditionsEvaluated(name, matches ? "matched" : "excluded", startMs);
    return matches;
  } catch (error) {
    metrics?.conditionsEvaluated(name, "failed", startMs);
    throw error;
  }
}

function resultOf(error: unknown, signal: AbortSignal): WebhookResult {
  if (signal.aborted) return "canceled";
  return error instanceof PostError && error.isTimeout ? "timeout" : "error";
}

/** If one condition is false the webhook is not called, even if another fails. */
function matchesAll(conditions: readonly MatchCondition[], spec: review.SubjectAccessReviewSpec): boolean {
  let fault: { readonly error: unknown } | undefined;
  for (const matches of conditions) {
    try {
      if (!matches(spec)) return false;
    } catch (error) {
      fault ??= { error };
    }
  }
  if (fault !== undefined) throw fault.error;
  return true;
}

async function ask(spec: review.SubjectAccessReviewSpec, options: WebhookOptions): Promise<Status> {
  const { poster, version, clock, random, signal, metrics, name } = options;
  const body = reviewObject(spec, version);
  for (let tries = 1; ; tries++) {
    const startMs = clock.monotonic();
    try {
      const { status } = await poster.post(body);
      metrics?.called(name, "success", startMs);
      return (status ?? {}) as Status;
    } catch (error) {
      metrics?.called(name, resultOf(error, signal), startMs);
      if (!(error instanceof PostError) || !error.passing || tries === MAX_TRIES) throw error;
      await clock.sleep(backoffDelay(RETRY, tries - 1, random), signal);
    }
  }
}

function verdictOf({ allowed, denied, reason = "" }: Status): Verdict {
  if (denied === true && allowed === true) {
    const error = "webhook subject access review returned both allow and deny response";
    return { decision: "deny", reason, error };
  }
  if (denied === true) return { decision: "deny", reason };
  return { decision: allowed === true ? "allow" : "noOpinion", reason };
}

function isKept({ namespace, verb, apiGroup, apiVersion, resource, subresource, name, path }: Attributes): boolean {
  const asked = [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path];
  return asked.reduce((sum, { length }) => sum + length, 0) < MAX_KEPT_CHARACTERS;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
