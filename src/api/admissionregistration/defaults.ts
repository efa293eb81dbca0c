/** Defaults of webhooks and policies. */
import type { Draft } from "../machinery/schema/object.ts";
import type { MatchResources, MutatingWebhook, Rule, ValidatingWebhook } from "../types/admissionregistration-v1.ts";

export function defaultWebhook(webhook: Draft<ValidatingWebhook> | Draft<MutatingWebhook>): void {
  webhook.failurePolicy ??= "Fail";
  webhook.matchPolicy ??= "Equivalent";
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  for (const rule of webhook.rules ?? []) defaultRule(rule);
  if (webhook.clientConfig.service !== undefined) webhook.clientConfig.service.port ??= 443;
}

export function defaultMatch(match: Draft<MatchResources> | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) defaultRule(rule);
}

function defaultRule(rule: Draft<Rule>): void {
  rule.scope ??= "*";
}
