import { expect, it } from "vitest";
import { endpoint } from "./join.ts";

it.each([
  { given: "192.0.2.1", want: "192.0.2.1:6443" },
  { given: "192.0.2.1:443", want: "192.0.2.1:443" },
  { given: "https://cp.example:7443/", want: "cp.example:7443" },
  { given: "2001:db8::1", want: "[2001:db8::1]:6443" },
  { given: "[2001:db8::1]:7443", want: "[2001:db8::1]:7443" },
])("k8ts join $given", ({ given, want }) => expect(endpoint(given)).toBe(want));

it.each(["", "a b", "192.0.2.1/path", "me@192.0.2.1", "192.0.2.1:99999"])("k8ts join %j is refused", (given) =>
  expect(() => endpoint(given)).toThrow("It must be an address"),
);
