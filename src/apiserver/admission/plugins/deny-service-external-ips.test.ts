import { expect, it } from "vitest";
import { admit } from "../testing/index.ts";
import { denyServiceExternalIPs as plugin } from "./deny-service-external-ips.ts";

const service = (...externalIPs: string[]) => ({ metadata: { name: "s" }, spec: { externalIPs } });
const WHY = "Use of external IPs is denied by admission control.";

it.each([
  { name: "none", object: service(), why: "" },
  { name: "a new one", object: service("1.2.3.4"), why: WHY },
  { name: "one that it has", object: service("1.2.3.4"), old: service("1.2.3.4", "1.2.3.5"), why: "" },
  { name: "one more", object: service("1.2.3.4", "1.2.3.5"), old: service("1.2.3.4"), why: WHY },
])("a Service with $name", async ({ object, old, why }) => {
  expect(await admit(plugin, { resource: "services", object, ...(old && { old }) })).toMatchObject({ why });
});
