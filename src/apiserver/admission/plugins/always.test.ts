import { expect, it } from "vitest";
import { admit, podObject } from "../testing/index.ts";
import { alwaysAdmit, alwaysDeny } from "./always.ts";

const rows = [
  { plugin: alwaysAdmit, operation: "CREATE", why: "" },
  ...(["CREATE", "UPDATE", "DELETE", "CONNECT"] as const).map((operation) => ({
    plugin: alwaysDeny,
    operation,
    why: "admission control is denying all modifications",
  })),
] as const;

it.each(rows)("$plugin.name: $operation", async ({ plugin, operation, why }) => {
  expect(await admit(plugin, { operation, object: podObject() })).toMatchObject({ why });
});
