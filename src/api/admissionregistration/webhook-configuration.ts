import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Column } from "../machinery/kind.ts";
import type {
  MutatingWebhookConfiguration as MutatingObject,
  ValidatingWebhookConfiguration as ValidatingObject,
} from "../types/admissionregistration-v1.ts";
import { defaultWebhook } from "./defaults.ts";
import { validateWebhooks } from "./webhook-validation.ts";

const group = "admissionregistration.k8s.io/v1";

export const ValidatingWebhookConfiguration = defineKind<ValidatingObject>(group, "ValidatingWebhookConfiguration", {
  generation: "spec",
  update: { allowUnconditional: false },
  defaults: ({ webhooks }) => {
    for (const webhook of webhooks ?? []) defaultWebhook(webhook);
  },
  validate: ({ webhooks }, path) => validateWebhooks(webhooks ?? [], path.child("webhooks")),
  columns: webhookColumns(),
});

export const MutatingWebhookConfiguration = defineKind<MutatingObject>(group, "MutatingWebhookConfiguration", {
  generation: "spec",
  update: { allowUnconditional: false },
  defaults: ({ webhooks }) => {
    for (const webhook of webhooks ?? []) {
      defaultWebhook(webhook);
      webhook.reinvocationPolicy ??= "Never";
    }
  },
  validate: ({ webhooks }, path) => validateWebhooks(webhooks ?? [], path.child("webhooks")),
  columns: webhookColumns(),
});

function webhookColumns(): readonly Column<ValidatingObject | MutatingObject>[] {
  return [
    {
      name: "Webhooks",
      type: "integer",
      doc: "columns.mutatingWebhook.Webhooks",
      description: "How many webhooks it has.",
      cell: ({ webhooks }) => (webhooks ?? []).length,
    },
    ageColumn,
  ];
}
