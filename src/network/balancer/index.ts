/** The balancer of a node before the API servers. */
export { endOf } from "./balancer.ts";
export { readyzCheck } from "./check.ts";
export { type ApiBalancerOptions, rememberedMembers, runApiBalancer } from "./run-balancer.ts";
