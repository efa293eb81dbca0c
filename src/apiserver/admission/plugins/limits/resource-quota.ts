/** ResourceQuota: refuses writes beyond the quotas of their namespace. */
import { evaluatorFor, isObject, type JsonObject, type LimitedResource, StatusError } from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { AdmissionConfigError } from "../../chain/configuration.ts";
import { type AdmissionPlugin, type ClusterView, type Looks, refused, rule } from "../../chain/plugin.ts";
import type { PluginServices } from "../../chain/plugin-services.ts";
import { QuotaBatches } from "./quota-batches.ts";

const NAME = "ResourceQuota";
const CHANGES = "services services/status persistentvolumeclaims persistentvolumeclaims/status pods/resize";

export function resourceQuota(services: PluginServices, configuration: JsonObject | undefined): AdmissionPlugin {
  const limited = limitedFrom(configuration);
  const batches = new QuotaBatches(services, limited);
  const charge = (attributes: AdmissionAttributes, cluster: ClusterView) => {
    const { namespace, resource, operation, subresource, object, old, dryRun } = attributes;
    const { group, names } = resource.kind;
    // Most namespaces have no quota.
    if (limited.length === 0 && !batches.hasQuotas(namespace)) return;
    const evaluator = evaluatorFor(group, names.plural);
    if (evaluator === undefined || object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
    const write = { operation, subresource, object, old } as const;
    if (!evaluator.handles(write)) return;
    return batches.charge(namespace, { write, evaluator, dryRun }, cluster.clock.now()).then((outcome) => {
      if (outcome.ok) return;
      if (outcome.error !== undefined) throw outcome.error;
      throw outcome.forbidden ? refused(attributes, outcome.why) : new StatusError("", outcome.why, { code: 500 });
    });
  };
  const looks: Looks = ({ namespace }) => limited.length > 0 || batches.hasQuotas(namespace);
  return {
    name: NAME,
    validates: [
      rule("CREATE", "*", charge, { scope: "Namespaced", looks }),
      rule("UPDATE", CHANGES, charge, { looks }),
    ],
  };
}

function limitedFrom(configuration: JsonObject | undefined): readonly LimitedResource[] {
  const limited = configuration?.limitedResources ?? [];
  if (!Array.isArray(limited) || !limited.every((each) => isObject(each) && typeof each.resource === "string"))
    throw new AdmissionConfigError(NAME, "each of `limitedResources` has to name a `resource`");
  return limited as unknown as readonly LimitedResource[];
}
