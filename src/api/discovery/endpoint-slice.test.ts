import { describe, expect, it } from "vitest";
import { changeFaults, create, faults } from "../testing/pure-server.ts";
import { EndpointSlice } from "./endpoint-slice.ts";

const endpoints = [{ addresses: ["10.0.0.1"] }];

describe("EndpointSlice", () => {
  it.each<[object, readonly string[]]>([
    [{ addressType: "IPv4", endpoints }, []],
    [{ endpoints }, ["addressType: Required value"]],
    [
      { addressType: "IPv4", endpoints: [{ addresses: [] }] },
      ["endpoints[0].addresses: Required value: must contain at least 1 endpoint"],
    ],
    [
      { addressType: "IPv6", endpoints },
      ['endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be a valid IPv6 address'],
    ],
    [
      { addressType: "FQDN", endpoints: [{ addresses: ["host"] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "host": should be a domain with at least two segments separated by dots',
      ],
    ],
    [{ addressType: "IPv4", ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
  ])("%j", (body, want) => expect(faults(EndpointSlice, body as never)).toEqual(want));

  it("keeps the type of its addresses", () => {
    expect(changeFaults(EndpointSlice, { addressType: "IPv4" }, { addressType: "IPv6" })).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
  });

  it("counts labels as content, annotations not", () => {
    const { object } = create(EndpointSlice, { metadata: { name: "one" }, addressType: "IPv4", endpoints });
    const { generation } = EndpointSlice;
    if (typeof generation !== "object") throw new Error("an EndpointSlice says itself what a change is");
    const changed = (metadata: object) =>
      generation.changed({ ...object, metadata: { ...object.metadata, ...metadata } } as never, object as never);
    expect([changed({ labels: { a: "b" } }), changed({ annotations: { a: "b" } })]).toEqual([true, false]);
  });
});
