/**
 * MutatingAdmissionWebhook: calls webhooks one after the other. Each gets the object as the ones before it left it.
 *
 *     object ──► version of the webhook ──► call ──► patch ──► decode, default ──► the next webhook
 *                                                                              └──► version of the request
 *
 * If a webhook changes the object, all plugins run once more, and with them the webhooks with reinvocationPolicy
 * IfNeeded that have not seen the latest change.
 */
import {
  applyJsonPatch,
  goJson,
  internalError,
  type Json,
  type JsonObject,
  JsonPatchError,
  type KubeObject,
} from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { type AdmissionPlugin, type ClusterView, rule } from "../chain/plugin.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { Reinvocation } from "../chain/reinvocation.ts";
import type { Rounds } from "../chain/rounds.ts";
import {
  Current,
  convertible,
  decoded,
  isSame,
  selectsNamespace,
  selectsObject,
  type Versioned,
} from "../dynamic/index.ts";
import { call, countedAs, isIgnored } from "./call.ts";
import type { Review } from "./review.ts";
import { isExempt, type Webhooks, webhooks } from "./services.ts";
import { type Concerned, meetsConditions, type Webhook } from "./webhook.ts";

const MUTATION = "mutation.webhook.admission.k8s.io/";
const PATCH = "patch.webhook.admission.k8s.io/";
const FAILED_OPEN = `failed-open.${MUTATION}`;

export function mutatingAdmissionWebhook(
  services: PluginServices,
  configuration: JsonObject | undefined,
): AdmissionPlugin {
  const all = webhooks("mutatingwebhookconfigurations", services, configuration);
  return {
    name: "MutatingAdmissionWebhook",
    mutates: [
      rule(
        "CREATE UPDATE DELETE CONNECT",
        "*/*",
        (attributes, cluster, rounds) => {
          const concerned = all.about(attributes);
          if (concerned.length > 0 && !isExempt(attributes)) return mutate(all, concerned, attributes, cluster, rounds);
        },
        { looks: (attributes) => all.about(attributes).length > 0 },
      ),
    ],
    close: () => all.caller.clients.keep([]),
  };
}

async function mutate(
  all: Webhooks,
  concerned: readonly Concerned[],
  attributes: AdmissionAttributes,
  cluster: ClusterView,
  rounds: Rounds,
): Promise<void> {
  const reinvocation = rounds.memory(all, () => new Reinvocation());
  reinvocation.begin(rounds, attributes.object);
  const current = new Current(attributes);
  const deciding = all.deciding();
  for (const { webhook, target } of concerned) {
    if (!selectsObject(webhook.selectors, current.object, attributes.old)) continue;
    const seen = current.attributes;
    if (!(await selectsNamespace(webhook.selectors, seen, cluster))) continue;
    const versioned = await convertible(() => current.in(target));
    if (!(await meetsConditions(webhook, seen, versioned, deciding, "admit", all.caller.metrics))) continue;
    if (!reinvocation.mayInvoke(rounds, webhook.id)) continue;
    const before = versioned.object;
    await invoke(all, webhook, attributes, current, versioned, rounds.number);
    if (!isSame(before, current.object)) reinvocation.changed(rounds);
    if (webhook.spec.reinvocationPolicy === "IfNeeded") reinvocation.invoked(webhook.id);
  }
  await convertible(() => current.settle());
  reinvocation.end(attributes.object);
}

async function invoke(
  all: Webhooks,
  webhook: Webhook,
  attributes: AdmissionAttributes,
  current: Current,
  versioned: Versioned,
  round: number,
): Promise<void> {
  const { spec, configuration, index } = webhook;
  const place = `round_${round}_index_${index}`;
  const note = (mutated: boolean) =>
    attributes.annotate(MUTATION + place, goJson({ configuration, webhook: spec.name, mutated }));
  const called = await all.timed(attributes, () => call(all.caller, webhook, attributes, versioned, true));
  if (called.outcome === "denied") {
    note(false);
    throw called.error;
  }
  if (called.outcome === "failed") {
    note(false);
    if (!isIgnored(webhook)) throw internalError(called.why);
    all.warn("a webhook failed; its failurePolicy lets the request pass", { webhook: spec.name, why: called.why });
    attributes.annotate(FAILED_OPEN + place, spec.name);
    return;
  }
  const { patch } = called.review;
  if (patch.length === 0) {
    note(false);
    return;
  }
  let next: KubeObject;
  try {
    next = patched(webhook, versioned, called.review);
  } catch (error) {
    all.caller.metrics?.webhookRejected(countedAs(webhook, attributes, true), "apiserver_internal_error", 0);
    throw error;
  }
  note(!isSame(versioned.object, next));
  const details = { configuration, webhook: spec.name, patch: patch as unknown as Json, patchType: "JSONPatch" };
  attributes.annotate(PATCH + place, goJson(details), "Request");
  current.set(next);
}

function patched({ spec }: Webhook, { target, object }: Versioned, { patch }: Review): KubeObject {
  if (object === undefined) {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${JSON.stringify(spec.name)} ${why}`);
  }
  try {
    return decoded(target, applyJsonPatch(object as unknown as Json, patch, { replaceMissing: false }));
  } catch (error) {
    if (error instanceof JsonPatchError) throw internalError(error.message, error);
    throw error;
  }
}
