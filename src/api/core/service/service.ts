/**
 * Service. The server allocates addresses and node ports between `prepare` and `validate`:
 *
 *     prepare ──► initIPFamilies ──► allocate ──► validate
 *
 * `needs.ts` says what is allocated: needsClusterIP, allocatesNodePorts, needsHealthCheckNodePort.
 */
import { ageColumn, labelsText } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid } from "../../machinery/errors/field-error.ts";
import { checkDns1123Label, checkPrefix } from "../../machinery/names/names.ts";
import type { Service as ServiceObject, ServicePort } from "../../types/core-v1.ts";
import { keepAllocated, normalizeClusterIPs, releaseOnTypeChange } from "./carry-over.ts";
import { validateClusterIPChange } from "./cluster-ip-validation.ts";
import { defaultService } from "./defaults.ts";
import { validateServiceStatus } from "./status-validation.ts";
import { validateLoadBalancerClass, validateService } from "./validation.ts";
import { serviceWarnings } from "./warnings.ts";

const spec = "io.k8s.api.core.v1.ServiceSpec";
const checkNamePrefix = checkPrefix(checkDns1123Label);

export const Service = defineKind<ServiceObject>("v1", "Service", {
  validateName: (name, isPrefix) => (isPrefix ? checkNamePrefix : checkDns1123Label)(name),
  defaults: defaultService,
  create: {
    prepare: (draft) => normalizeClusterIPs(draft),
    validate: (service, at) => validateService(service, at),
  },
  update: {
    allowCreate: true,
    prepare: (draft, old) => {
      keepAllocated(draft, old);
      normalizeClusterIPs(draft, old);
      releaseOnTypeChange(draft, old);
    },
    validate: (next, old, path) => [
      ...validateClusterIPChange(next, old, path),
      ...loadBalancerClassChange(next, old, path),
      ...validateService(next, path, old),
    ],
  },
  warnings: serviceWarnings,
  subresources: { status: { validate: validateServiceStatus } },
  columns: [
    { name: "Type", type: "string", doc: `${spec}.type`, cell: (service) => service.spec?.type ?? "" },
    {
      name: "Cluster-IP",
      type: "string",
      doc: `${spec}.clusterIP`,
      cell: (service) => service.spec?.clusterIPs?.[0] ?? "<none>",
    },
    { name: "External-IP", type: "string", doc: `${spec}.externalIPs`, cell: externalAddress },
    {
      name: "Port(s)",
      type: "string",
      doc: `${spec}.ports`,
      cell: (service) => (service.spec?.ports ?? []).map(portText).join(",") || "<none>",
    },
    ageColumn,
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: `${spec}.selector`,
      cell: (service) => labelsText(service.spec?.selector),
    },
  ],
  selectableFields: {
    names: ["spec.clusterIP", "spec.type"],
    valueOf: (service, name) => (name === "spec.type" ? service.spec?.type : service.spec?.clusterIP) ?? "",
  },
});

/** Reports faults of the class once more: validation of the service reports them too. */
function loadBalancerClassChange(next: ServiceObject, old: ServiceObject, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const [before, after] = [old.spec?.loadBalancerClass, next.spec?.loadBalancerClass];
  const stays = next.spec?.type === "LoadBalancer" && old.spec?.type === "LoadBalancer";
  return [
    ...(stays && before !== after
      ? [invalid(where.child("loadBalancerClass"), after ?? null, "may not change once set")]
      : []),
    ...validateLoadBalancerClass(next.spec ?? {}, where),
  ];
}

function portText({ port, nodePort, protocol }: ServicePort): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}

function externalAddress({ spec, status }: ServiceObject): string {
  const own = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case "ClusterIP":
    case "NodePort":
      return own.join(",") || "<none>";
    case "LoadBalancer": {
      const points = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || []);
      return [...[...new Set(points)].sort(), ...own].join(",") || "<pending>";
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}
