import { ageColumn, firstThree } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import type { Endpoints as EndpointsObject } from "../../types/core-v1.ts";
import { validateEndpoints } from "./validation.ts";

export const Endpoints = defineKind<EndpointsObject>("v1", "Endpoints", {
  defaults: ({ subsets }) => {
    for (const { ports = [] } of subsets ?? []) for (const port of ports) port.protocol ||= "TCP";
  },
  update: { allowCreate: true },
  validate: validateEndpoints,
  deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  columns: [
    { name: "Endpoints", type: "string", doc: "io.k8s.api.core.v1.Endpoints.subsets", cell: endpointsText },
    ageColumn,
  ],
});

function endpointsText({ subsets = [] }: EndpointsObject): string {
  if (subsets.length === 0) return "<none>";
  const found = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip }) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
  return firstThree(found);
}
