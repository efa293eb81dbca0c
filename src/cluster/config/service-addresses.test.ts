import { expect, it } from "vitest";
import { addressIn, kubernetesAddresses } from "./service-addresses.ts";

it.each([
  { given: undefined, want: ["10.96.0.1"] },
  { given: ["10.100.0.0/16"], want: ["10.100.0.1"] },
  { given: ["10.100.7.9/16"], want: ["10.100.0.1"] },
  { given: ["172.20.4.0/28", "fd00:10:100::/112"], want: ["172.20.4.1", "fd00:10:100::1"] },
])("the Service kubernetes of $given is at $want", ({ given, want }) =>
  expect(kubernetesAddresses(given)).toEqual(want),
);

it("the tenth address of a range", () => {
  expect([addressIn("10.96.0.0/12", 10), addressIn("fd00::/112", 10), addressIn("none", 10)]).toEqual([
    "10.96.0.10",
    "fd00::a",
    undefined,
  ]);
});
