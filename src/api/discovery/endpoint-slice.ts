import { ageColumn, firstThree } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { ipWarnings } from "../definition/ip-warnings.ts";
import { at } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import { addInt64 } from "../machinery/json/int64.ts";
import type { Json } from "../machinery/json/json.ts";
import type { Draft } from "../machinery/schema/object.ts";
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
  create: {
    prepare: (draft) => dropTopology(draft),
    validate: (slice, path) => validateEndpointSlice(slice, undefined, path),
  },
  update: {
    // A change of the topology counts, though it is dropped.
    prepare: (draft, old) => {
      if (equalJson(content(draft), content(old))) return;
      draft.metadata.generation = addInt64(old.metadata.generation ?? 0, 1);
      dropTopology(draft, old);
    },
    validate: validateEndpointSliceUpdate,
  },
  warnings: ({ addressType, endpoints }) =>
    addressType === "FQDN"
      ? ["spec.addressType: FQDN endpoints are deprecated"]
      : (endpoints ?? []).flatMap(({ addresses }, i) =>
          (addresses ?? []).flatMap((address, j) =>
            ipWarnings(address, at("endpoints").index(i).child("addresses").index(j)),
          ),
        ),
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

const hostname = "kubernetes.io/hostname";

/** v1 has no topology. The node that older versions stored there becomes the endpoint's node. */
function dropTopology({ endpoints }: Draft<EndpointSliceObject>, old?: EndpointSliceObject): void {
  const before = new Set((old?.endpoints ?? []).map(({ deprecatedTopology = {} }) => deprecatedTopology[hostname]));
  for (const endpoint of endpoints ?? []) {
    const node = endpoint.deprecatedTopology?.[hostname];
    if (endpoint.nodeName === undefined && node !== undefined && before.has(node)) endpoint.nodeName = node;
    delete endpoint.deprecatedTopology;
  }
}

function content({ metadata, addressType, endpoints, ports }: EndpointSliceObject): Json {
  return [metadata.labels ?? {}, addressType, endpoints ?? [], ports ?? []] as unknown as Json;
}
