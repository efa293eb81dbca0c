import { describe, expect, it } from "vitest";
import type { EndpointSubset } from "../../types/core-v1.ts";
import { repackSubsets } from "./repack-subsets.ts";

const http = { name: "http", port: 80, protocol: "TCP" } as const;
const dns = { name: "dns", port: 53, protocol: "UDP" } as const;

describe("repacking endpoints", () => {
  it.each<{ name: string; given: readonly EndpointSubset[]; want: readonly EndpointSubset[] }>([
    {
      name: "joins addresses with the same ports",
      given: [
        { addresses: [{ ip: "10.0.0.2" }], ports: [http] },
        { addresses: [{ ip: "10.0.0.1" }], ports: [http] },
      ],
      want: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [http] }],
    },
    {
      name: "joins ports of the same addresses, in the order of Kubernetes",
      given: [
        { addresses: [{ ip: "10.0.0.1" }], ports: [dns] },
        { addresses: [{ ip: "10.0.0.1" }], ports: [http] },
      ],
      want: [{ addresses: [{ ip: "10.0.0.1" }], ports: [http, dns] }],
    },
    {
      name: "lets not ready win",
      given: [
        { addresses: [{ ip: "10.0.0.1" }], ports: [http] },
        { notReadyAddresses: [{ ip: "10.0.0.1" }], ports: [http] },
      ],
      want: [{ notReadyAddresses: [{ ip: "10.0.0.1" }], ports: [http] }],
    },
    {
      name: "keeps addresses without ports",
      given: [{ addresses: [{ ip: "10.0.0.1" }] }],
      want: [{ addresses: [{ ip: "10.0.0.1" }] }],
    },
    { name: "has nothing to do", given: [], want: [] },
  ])("$name", ({ given, want }) => {
    expect(repackSubsets(given)).toEqual(want);
    expect(repackSubsets(want)).toEqual(want);
  });
});
