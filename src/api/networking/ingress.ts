import { ageColumn, firstThree } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Ingress as IngressObject } from "../types/networking-v1.ts";
import { validateIngress, validateIngressClassName, validateIngressStatus } from "./ingress-validation.ts";

/** The annotation that named the class before the field existed. */
const classAnnotation = "kubernetes.io/ingress.class";

export const Ingress = defineKind<IngressObject>("networking.k8s.io/v1", "Ingress", {
  generation: "spec",
  validate: validateIngress,
  create: { validate: validateIngressClassName },
  warnings: ({ metadata }, old) =>
    old === undefined && metadata.annotations?.[classAnnotation] !== undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  subresources: { status: { validate: validateIngressStatus } },
  columns: [
    {
      name: "Class",
      type: "string",
      doc: "columns.ingress.Class",
      description: "The IngressClass it belongs to.",
      cell: ({ spec }) => spec?.ingressClassName ?? "<none>",
    },
    {
      name: "Hosts",
      type: "string",
      doc: "columns.ingress.Hosts",
      description: "The hosts that its rules are about.",
      cell: hostsOf,
    },
    {
      name: "Address",
      type: "string",
      doc: "columns.ingress.Address",
      description: "Where it can be reached.",
      cell: addressesOf,
    },
    {
      name: "Ports",
      type: "string",
      doc: "columns.ingress.Ports",
      description: "The ports that it listens on.",
      cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? "80, 443" : "80"),
    },
    ageColumn,
  ],
});

function hostsOf({ spec }: IngressObject): string {
  const rules = spec?.rules ?? [];
  const hosts = rules.flatMap(({ host }) => (host ? [host] : []));
  return hosts.length === 0 ? "*" : firstThree(hosts, rules.length);
}

function addressesOf({ status }: IngressObject): string {
  const points = status?.loadBalancer?.ingress ?? [];
  return [...new Set(points.flatMap(({ ip, hostname }) => ip || hostname || []))].sort().join(",");
}
