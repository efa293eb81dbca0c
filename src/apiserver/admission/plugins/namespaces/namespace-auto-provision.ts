/** NamespaceAutoProvision: creates a missing namespace on the first write to it. */
import { isStatusError } from "#api";
import { serverRequest } from "../../../loopback/server-request.ts";
import { createDraft } from "../../../rest/write/create.ts";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";
import type { PluginServices } from "../../chain/plugin-services.ts";

export function namespaceAutoProvision({ loopback, resources }: PluginServices): AdmissionPlugin {
  const make = async (name: string) => {
    const namespaces = resources.find("", "v1", "namespaces");
    if (namespaces === undefined) return;
    try {
      await createDraft(
        serverRequest(loopback.context, namespaces),
        { kind: "Namespace", apiVersion: "v1", metadata: { name } },
        false,
      );
    } catch (error) {
      if (!isStatusError(error, "AlreadyExists")) throw error;
    }
  };
  return {
    name: "NamespaceAutoProvision",
    mutates: [
      rule(
        "CREATE",
        "*/*",
        ({ namespace, dryRun }, cluster) => {
          if (dryRun || cluster.get("", "v1", "namespaces", "", namespace) !== undefined) return;
          return make(namespace);
        },
        { scope: "Namespaced", looks: () => false },
      ),
    ],
  };
}
