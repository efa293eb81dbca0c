/** Usage of services: their number, and the node ports and load balancers of their type. */
import { quantityOf } from "../../machinery/scalars/quantity.ts";
import type { Service } from "../../types/core-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";

const COUNT = countName("", "services");
const NAMES = [COUNT, "services", "services.loadbalancers", "services.nodeports"];

export const serviceQuota: QuotaEvaluator = {
  group: "",
  plural: "services",
  // A service may change its type.
  handles: () => true,
  matching: (names) => NAMES.filter((name) => names.includes(name)),
  matchesScope: () => false,
  usage: (object) => usage(object as Service),
};

function usage({ spec }: Service): Totals {
  const ports = spec?.ports ?? [];
  const isBalanced = spec?.type === "LoadBalancer";
  // Node ports are not allocated yet: the requested ones count.
  const asked =
    isBalanced && spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports;
  const nodePorts = isBalanced || spec?.type === "NodePort" ? asked.length : 0;
  return {
    [COUNT]: quantityOf(1),
    services: quantityOf(1),
    "services.loadbalancers": quantityOf(isBalanced ? 1 : 0),
    "services.nodeports": quantityOf(nodePorts),
  };
}
