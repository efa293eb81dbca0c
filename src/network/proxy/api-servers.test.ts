import { expect, it } from "vitest";
import type { discovery } from "#api";
import { ApiServers } from "./api-servers.ts";

const slice: discovery.EndpointSlice = {
  metadata: { name: "kubernetes" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"] }],
  ports: [{ name: "https", port: 6443 }],
};
const addresses = (slices: readonly discovery.EndpointSlice[]) =>
  slices.flatMap(({ endpoints = [] }) => endpoints.flatMap((each) => each.addresses));

it.each([
  { name: "all before anything is known", usable: undefined, want: ["10.0.0.1", "10.0.0.2"] },
  { name: "those that answer", usable: ["10.0.0.2:6443"], want: ["10.0.0.2"] },
  { name: "all where none answers", usable: [], want: ["10.0.0.1", "10.0.0.2"] },
])("$name", ({ usable, want }) => {
  const servers = new ApiServers();
  let changes = 0;
  servers.onChange(() => changes++);
  if (usable !== undefined) servers.change((address) => usable.some((each) => each === address));
  expect(addresses(servers.living([slice]))).toEqual(want);
  expect(changes).toBe(usable === undefined ? 0 : 1);
});
