/**
 * ValidatingAdmissionWebhook: calls all webhooks that match a request at the same time. The error is that of the first
 * in order that denies.
 */
import { internalError, type JsonObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { type AdmissionPlugin, type ClusterView, rule } from "../chain/plugin.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { convertible, selectsNamespace, selectsObject, targetOf, type Versioned, Versions } from "../dynamic/index.ts";
import { call, isIgnored } from "./call.ts";
import { isExempt, type Webhooks, webhooks } from "./services.ts";
import { type Concerned, meetsConditions, type Webhook } from "./webhook.ts";

const FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/";

export function validatingAdmissionWebhook(
  services: PluginServices,
  configuration: JsonObject | undefined,
): AdmissionPlugin {
  const all = webhooks("validatingwebhookconfigurations", services, configuration);
  return {
    name: "ValidatingAdmissionWebhook",
    validates: [
      rule(
        "CREATE UPDATE DELETE CONNECT",
        "*/*",
        (attributes, cluster) => {
          const concerned = all.about(attributes);
          if (concerned.length > 0 && !isExempt(attributes)) return validate(all, concerned, attributes, cluster);
        },
        { looks: (attributes) => all.about(attributes).length > 0 },
      ),
    ],
    close: () => all.caller.clients.keep([]),
  };
}

interface Invocation {
  readonly webhook: Webhook;
  readonly versioned: Versioned;
}

async function validate(
  all: Webhooks,
  concerned: readonly Concerned[],
  attributes: AdmissionAttributes,
  cluster: ClusterView,
): Promise<void> {
  const invocations = await invocationsOf(all, concerned, attributes, cluster);
  const calls = () =>
    invocations.map(async ({ webhook, versioned }, i) => {
      const result = await call(all.caller, webhook, attributes, versioned, false);
      if (result.outcome === "allowed") return undefined;
      if (result.outcome === "denied") return result.error;
      const { name } = webhook.spec;
      if (!isIgnored(webhook)) return internalError(result.why);
      all.warn("a webhook failed, and the request passes without it", { webhook: name, why: result.why });
      attributes.annotate(`${FAILED_OPEN}round_0_index_${i}`, name);
      return undefined;
    });
  const called = await all.timed(attributes, () => Promise.all(calls()));
  const refusal = called.find((error) => error !== undefined);
  if (refusal !== undefined) throw refusal;
}

async function invocationsOf(
  all: Webhooks,
  concerned: readonly Concerned[],
  attributes: AdmissionAttributes,
  cluster: ClusterView,
): Promise<readonly Invocation[]> {
  const { object, old } = attributes;
  const versions = new Versions(targetOf(attributes), object, old);
  const deciding = all.deciding();
  const found: Invocation[] = [];
  for (const { webhook, target } of concerned) {
    if (!selectsObject(webhook.selectors, object, old)) continue;
    if (!(await selectsNamespace(webhook.selectors, attributes, cluster))) continue;
    const versioned = await convertible(() => versions.in(target));
    const isMet = await meetsConditions(webhook, attributes, versioned, deciding, "validate", all.caller.metrics);
    if (isMet) found.push({ webhook, versioned });
  }
  return found;
}
