import { ageColumn, firstThree } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import type { EndpointSlice as EndpointSliceObject } from "../types/discovery-v1.ts";
import { validateEndpointSlice, validateEndpointSliceUpdate } from "./endpoint-slice-validation.ts";

const type = "io.k8s.api.discovery.v1.EndpointSlice";

export const EndpointSlice = defineKind<EndpointSliceObject>("discovery.k8s.io/v1", "EndpointSlice", {
  // The labels name the service, so a change of them raises the generation.
  generation: {
    changed: (next, old) => !equalJson(content(next), content(old)),
  },
  defaults: ({ ports }) => {
    for (const port of ports ?? []) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },
  validate: validateEndpointSlice,
  update: { validate: validateEndpointSliceUpdate },
  columns: [
    { name: "AddressType", type: "string", doc: `${type}.addressType`, cell: ({ addressType }) => addressType },
    {
      name: "Ports",
      type: "string",
      doc: `${type}.ports`,
      cell: ({ ports }) => firstThree((ports ?? []).map(({ port, name }) => `${port ?? (name || "*")}`)) || "<unset>",
    },
    {
      name: "Endpoints",
      type: "string",
      doc: `${type}.endpoints`,
      cell: ({ endpoints }) => firstThree((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) || "<unset>",
    },
    ageColumn,
  ],
});

function content({ metadata, addressType, endpoints, ports }: EndpointSliceObject): Json {
  return [metadata.labels ?? {}, addressType, endpoints ?? [], ports ?? []] as unknown as Json;
}
