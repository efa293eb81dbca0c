import { describe, expect, it } from "vitest";
import { changeFaults, create, faults, update } from "../testing/pure-server.ts";
import { EndpointSlice } from "./endpoint-slice.ts";

const endpoints = [{ addresses: ["10.0.0.1"] }];

describe("EndpointSlice", () => {
  it.each<[object, readonly string[]]>([
    [{ addressType: "IPv4", endpoints }, []],
    [{ endpoints }, ["addressType: Required value"]],
    [
      { addressType: "IPv4", endpoints: [{ addresses: [] }] },
      ["endpoints[0].addresses: Required value: must contain at least 1 address"],
    ],
    [
      { addressType: "IPv6", endpoints },
      ['endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address'],
    ],
    [
      { addressType: "FQDN", endpoints: [{ addresses: ["host"] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "host": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      { addressType: "IPv4", endpoints: [{ addresses: ["x", "127.0.0.1"] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'endpoints[0].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      {
        addressType: "IPv4",
        endpoints: [
          { ...endpoints[0], hints: { forZones: [{ name: "z" }, { name: "z" }], forNodes: [{ name: "n" }] } },
        ],
      },
      ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
    ],
    [{ addressType: "IPv4", ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
  ])("%j", (body, want) => expect(faults(EndpointSlice, body as never)).toEqual(want));

  it("keeps the type of its addresses", () => {
    expect(changeFaults(EndpointSlice, { addressType: "IPv4" }, { addressType: "IPv6" })).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ]);
  });

  it("keeps addresses that were accepted before", () => {
    const before = { addressType: "IPv4", endpoints };
    const slice = (address: string) => ({ ...before, endpoints: [{ addresses: ["10.0.0.1", address] }] });
    expect(changeFaults(EndpointSlice, slice("010.0.0.2"), slice("010.0.0.2"))).toEqual([]);
    expect(changeFaults(EndpointSlice, before, slice("010.0.0.2"))).toEqual([
      'endpoints[0].addresses[1]: Invalid value: "010.0.0.2": must not have leading 0s',
    ]);
  });

  it("has no topology", () => {
    const deprecatedTopology = { "kubernetes.io/hostname": "n", zone: "z" };
    const body = {
      metadata: { name: "one" },
      addressType: "IPv4",
      endpoints: [{ ...endpoints[0], deprecatedTopology }],
    };
    const { object } = create(EndpointSlice, body);
    expect(object).toMatchObject({ endpoints });
    expect(JSON.stringify(object)).not.toContain("deprecatedTopology");
    const old = { ...object, endpoints: body.endpoints };
    const changed = { ...body, endpoints: [...body.endpoints, ...endpoints] };
    const next = update(EndpointSlice, changed, old).object;
    expect(next).toMatchObject({ endpoints: [{ nodeName: "n" }, {}] });
  });

  it.each<[object, readonly string[]]>([
    [{ addressType: "FQDN" }, ["spec.addressType: FQDN endpoints are deprecated"]],
    [
      { addressType: "IPv6", endpoints: [{ addresses: ["fd00:0::1"] }] },
      ['endpoints[0].addresses[0]: IPv6 address "fd00:0::1" should be in RFC 5952 canonical format ("fd00::1")'],
    ],
  ])("%j is warned of", (slice, want) => expect(EndpointSlice.warnings?.(slice as never, undefined)).toEqual(want));

  it("counts labels as content, annotations not", () => {
    const { object } = create(EndpointSlice, { metadata: { name: "one" }, addressType: "IPv4", endpoints });
    const { generation } = EndpointSlice;
    if (typeof generation !== "object") throw new Error("an EndpointSlice says itself what a change is");
    const changed = (metadata: object) =>
      generation.changed({ ...object, metadata: { ...object.metadata, ...metadata } } as never, object as never);
    expect([changed({ labels: { a: "b" } }), changed({ annotations: { a: "b" } })]).toEqual([true, false]);
  });
});
