/** Admission for a test server: the plugins that the options select, with an authorizer that allows everything. */
import { ALLOW } from "../../authz/verdict.ts";
import type { Resources } from "../../rest/resources.ts";
import type { Admission, ServerContext } from "../../rest/server-context.ts";
import { admissionChain } from "../chain/chain.ts";
import { clusterView } from "../chain/cluster-view.ts";
import type { AdmissionPlugin } from "../chain/plugin.ts";
import { type AdmissionOptions, selectPlugins } from "../select.ts";

export function admitting(options: AdmissionOptions = {}, more: readonly AdmissionPlugin[] = []) {
  return (resources: Resources, context: () => ServerContext): Admission => {
    const plugins = selectPlugins(options, { resources, context, authorize: () => ALLOW });
    return admissionChain([...plugins, ...more], clusterView(resources, context));
  };
}
