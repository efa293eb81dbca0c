import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { hasSentEmpty } from "../machinery/json/sent-empty.ts";
import { matcherOfSelector } from "../machinery/names/labels.ts";
import type { NetworkPolicy as NetworkPolicyObject } from "../types/networking-v1.ts";
import { validateNetworkPolicy } from "./network-policy-validation.ts";

export const NetworkPolicy = defineKind<NetworkPolicyObject>("networking.k8s.io/v1", "NetworkPolicy", {
  // Kubernetes tells an empty list from none here.
  generation: {
    changed: ({ spec }, old) => !equalJson(spec as Json | undefined, old.spec as Json) || hasSentEmpty(spec as Json),
  },
  defaults: (draft) => {
    draft.spec ??= {};
    for (const { ports = [] } of [...(draft.spec.ingress ?? []), ...(draft.spec.egress ?? [])]) {
      for (const port of ports) port.protocol ??= "TCP";
    }
    if ((draft.spec.policyTypes ?? []).length === 0) {
      draft.spec.policyTypes = (draft.spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    }
  },
  validate: validateNetworkPolicy,
  columns: [
    {
      name: "Pod-Selector",
      type: "string",
      doc: "io.k8s.api.networking.v1.NetworkPolicySpec.podSelector",
      cell: ({ spec }) => matcherOfSelector(spec?.podSelector ?? {}).toString() || "<none>",
    },
    ageColumn,
  ],
});
