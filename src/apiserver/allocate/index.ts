/** The whole public surface of allocate. */
export { type AllocatorOptions, type Allocators, allocators, DEFAULT_SERVICE_CIDR } from "./allocators.ts";
export type { PortRange } from "./node-ports.ts";
