/** Admission for a test server: the plugins that the options select, with an authorizer that allows everything. */
import { ALLOW } from "../../authz/verdict.ts";
import type { Admission } from "../../rest/server-context.ts";
import { admissionChain } from "../chain/chain.ts";
import { clusterView } from "../chain/cluster-view.ts";
import type { AdmissionPlugin } from "../chain/plugin.ts";
import type { PluginServices } from "../chain/plugin-services.ts";
import { type AdmissionOptions, selectPlugins } from "../select.ts";

export function admitting(options: AdmissionOptions = {}, more: readonly AdmissionPlugin[] = []) {
  return async (services: Pick<PluginServices, "resources" | "storage" | "loopback">): Promise<Admission> => {
    const plugins = await selectPlugins(options, { ...services, authorize: () => ALLOW });
    return admissionChain([...plugins, ...more], clusterView(services.resources, services.storage));
  };
}
